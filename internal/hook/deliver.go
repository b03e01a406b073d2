package hook

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// answerCallEnd notes a tool call that ran, and gives the agent the messages that the
// user wants it to have now.
func (h *handler) answerCallEnd(ctx context.Context, b session.Binding) (reply, error) {
	err := h.recordCall(b)
	path := record.DeliverPath(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if h.event.Agent != "" || !h.replayed && !fileExists(path) { // a subagent could not act on them
		return reply{}, err
	}
	var r reply
	err = errors.Join(err, h.withLease(ctx, b, func(s *lease) error {
		text, ids, more := h.messagesFor(s)
		if len(ids) > 0 {
			if err := s.step(loop.Event{ID: h.ID, Payload: loop.Delivered{MessageIDs: ids}}); err != nil {
				return err
			}
			if err := s.flush(); err != nil {
				return err
			}
		}
		r.Context = text
		if more {
			return nil
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}))
	return r, err
}

// messagesFor returns the messages that the running turn has not received, as many as fit
// into the context. A daemon that died may have journalled messages that it did not deliver.
func (h *handler) messagesFor(s *lease) (text string, ids []string, more bool) {
	st := s.mem.State
	if st.Phase != loop.Turning {
		return "", nil, false
	}
	waiting := st.Undelivered()
	if h.alreadyReceived(s) {
		waiting = st.Messages
	}
	for _, m := range waiting {
		next := text + m.DeliveryText() + "\n"
		if text != "" && !codec.FitsContext(next) {
			return text, ids, true
		}
		text, ids = next, append(ids, m.ID)
	}
	return text, ids, false
}
