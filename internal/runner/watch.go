package runner

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/dirwatch"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

const (
	// pollInterval is how often the inbox is read if the folder cannot be watched.
	pollInterval = 250 * time.Millisecond
	// slowPollInterval is how often it is read in addition to a watch, see dirwatch.
	slowPollInterval = 5 * time.Second
)

// watch starts the goroutines that receive messages and cancellations.
func (r *Runner) watch(ctx context.Context) *sync.WaitGroup {
	var wg sync.WaitGroup
	wg.Go(func() { r.watchInbox(ctx) })
	wg.Go(func() {
		for {
			select {
			case cause := <-r.Cancellations:
				r.sendEvent(ctx, loop.Event{Payload: loop.Cancelled{Cause: cause}})
			case <-ctx.Done():
				return
			}
		}
	})
	return &wg
}

// watchInbox reads messages when they arrive, and polls other tools' files once a second.
func (r *Runner) watchInbox(ctx context.Context) {
	inbox := dirwatch.New(r.Loop.Inbox())
	defer func() { _ = inbox.Close() }()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	if inbox != nil {
		poll.Reset(slowPollInterval)
	}
	files := make(<-chan time.Time) // never ready
	if !r.inSession && statefile.Follows(r.Spec) {
		tick := time.NewTicker(receiveInterval)
		defer tick.Stop()
		files = tick.C
	}
	for readFiles := !r.inSession; ; {
		done := make(chan struct{})
		r.enqueue(ctx, func(ctx context.Context) error {
			defer close(done)
			if readFiles {
				if err := r.receiveFileChanges(ctx); err != nil {
					return err
				}
			}
			if err := r.checkLoopFolder(); err != nil {
				return err
			}
			return r.receiveMessages(ctx)
		})
		select {
		case <-done: // one call at a time, even if Run is busy
		case <-ctx.Done():
			return
		}
		readFiles = false
		select {
		case <-inbox.Changed():
		case <-poll.C:
		case <-files:
			readFiles = true
		case <-ctx.Done():
			return
		}
	}
}

// checkLoopFolder returns an error if the loop's folder was moved or deleted: messages no
// longer arrive, and nobody would find what the loop writes.
func (r *Runner) checkLoopFolder() error {
	if err := r.Owner.CheckPath(); errors.Is(err, journal.ErrGone) {
		return failure.New(failure.Error, "if it was moved, continue it there: PAWL_HOME=DIR pawl resume "+r.Loop.ID,
			"the folder of loop %s is gone, so it cannot continue: %w", r.Loop.ID, err)
	}
	return nil
}

// receiveMessages applies the messages in the inbox. Each is acknowledged once it is in the
// journal. Its id makes a second delivery after a crash harmless.
func (r *Runner) receiveMessages(ctx context.Context) error {
	return r.receiveMatching(ctx, func(record.Message) bool { return true })
}

// receiveNotes applies the notes that a user sent while no owner drove the loop, so that the
// first turn gets them.
func (r *Runner) receiveNotes(ctx context.Context) error {
	if p := r.mem.State.Phase; p == "" || p == loop.New || p == loop.Ended {
		return nil // it takes none
	}
	return r.receiveMatching(ctx, func(m record.Message) bool { return m.Kind == record.MessageNote })
}

// receiveMatching applies those messages in the inbox that are wanted.
func (r *Runner) receiveMatching(ctx context.Context, wanted func(record.Message) bool) error {
	msgs, err := r.Loop.Drain()
	if err != nil {
		r.note(loop.Anomaly, "the inbox could not be read: "+err.Error())
	}
	for _, m := range msgs {
		var body record.Message
		if err := json.Unmarshal(m.Body, &body); err != nil {
			body = record.Message{}
		}
		if !wanted(body) {
			continue
		}
		if err := r.applyMessage(ctx, m.ID, body); err != nil {
			return err
		}
		if err := r.Loop.Ack(m); err != nil {
			r.note(loop.Anomaly, "a message could not be acknowledged: "+err.Error())
		}
	}
	return nil
}

// applyMessage applies one message.
func (r *Runner) applyMessage(ctx context.Context, id string, m record.Message) error {
	if c, ok := m.ToolClaim(); ok {
		return r.recordToolClaim(c)
	}
	e, ok := m.Event()
	if !ok {
		r.note(loop.Anomaly, "moved an unreadable message away: "+id)
		return nil
	}
	e.ID = id
	if p, ok := e.Payload.(loop.PlanEditRequested); ok {
		for i := range p.Edits {
			p.Edits[i].ID = id
		}
	}
	return r.step(ctx, e)
}

// recordToolClaim journals a claim by a tool until its turn ends. A claim of another turn
// does not count, since work has continued after it.
func (r *Runner) recordToolClaim(c memory.ToolClaim) error {
	if !r.mem.IsInTurn(c.Turn) {
		r.note(loop.Info, "a claim by a tool came after its turn and does not count")
		return nil
	}
	if err := r.appendRecord(memory.TypeToolClaim, c); err != nil {
		return err
	}
	r.mem.ToolClaim = r.mem.ToolClaim.Merge(c)
	r.hasToolClaim.Store(r.mem.ToolClaim.Claim != nil)
	return nil
}
