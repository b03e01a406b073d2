package notify

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/notice"
)

type telegramMessage struct {
	ID   int64 `json:"message_id"`
	Chat struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	From struct {
		ID int64 `json:"id"`
	} `json:"from"`
	Text    string           `json:"text"`
	ReplyTo *telegramMessage `json:"reply_to_message"`
}

func (m telegramMessage) messageRef() MessageRef {
	return MessageRef{strconv.FormatInt(m.Chat.ID, 10), strconv.FormatInt(m.ID, 10)}
}

type telegramUpdate struct {
	ID      int64            `json:"update_id"`
	Message *telegramMessage `json:"message"`
	Pressed *struct {
		ID      string             `json:"id"`
		From    struct{ ID int64 } `json:"from"`
		Data    string             `json:"data"`
		Message *telegramMessage   `json:"message"`
	} `json:"callback_query"`
}

// reply returns a reply to one of Pawl's messages. Its text is empty if the update is not a reply.
func (u telegramUpdate) reply() reply {
	id := strconv.FormatInt(u.ID, 10)
	if p := u.Pressed; p != nil && p.Message != nil {
		return reply{id: id, to: p.Message.messageRef(), from: strconv.FormatInt(p.From.ID, 10), text: p.Data, button: p.ID}
	}
	m := u.Message
	if m == nil {
		return reply{}
	}
	said := reply{id: id, from: strconv.FormatInt(m.From.ID, 10), text: m.Text}
	if m.ReplyTo != nil {
		m.ReplyTo.Chat = m.Chat // only a reply in the same chat counts
		said.to = m.ReplyTo.messageRef()
	}
	return said
}

const (
	pollTimeout = 25 * time.Second // how long Telegram holds a request
	maxUpdates  = 20               // updates per response
)

// pollTelegram waits for updates and takes the replies among them. Handled updates are confirmed by
// the next poll, and their number is stored in a file until then.
func (l *Listener) pollTelegram(ctx context.Context, c *chat, u *url.URL) error {
	var offset int64 // the number of the first update that was not handled
	stored := filepath.Join(c.dir, "offset")
	_ = atomicfile.ReadJSON(stored, &offset) // a missing or damaged file counts as 0
	hold := pollTimeout
	if l.shortPauses {
		hold = time.Second
	}
	reply, err := l.Sender.call(ctx, notice.Telegram, u, method{
		name: "getUpdates", timeout: hold + attemptTimeout,
		fields: map[string]any{
			"offset": offset, "timeout": int(hold.Seconds()), "limit": maxUpdates,
			"allowed_updates": []string{"message", "callback_query"},
		},
	})
	if err != nil {
		return err
	}
	var updates []json.RawMessage
	if err := json.Unmarshal(reply.Result, &updates); err != nil {
		return &unreadableError{u.Host}
	}
	for _, raw := range updates {
		if ctx.Err() != nil { // the next listener handles the rest
			return ctx.Err()
		}
		var head struct {
			ID int64 `json:"update_id"`
		}
		if json.Unmarshal(raw, &head) != nil || head.ID < offset {
			continue // without an id it can neither be deduplicated nor confirmed
		}
		var update telegramUpdate
		if json.Unmarshal(raw, &update) == nil {
			l.handleReply(c, u, update.reply())
		}
		offset = head.ID + 1
		if err := atomicfile.WriteJSON(stored, offset); err != nil {
			return err
		}
	}
	return nil
}
