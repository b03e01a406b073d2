package notify

import (
	"context"
	"html"
	"net/url"
	"time"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

type slackMessage struct {
	User    string `json:"user"`
	Bot     string `json:"bot_id"`
	Subtype string `json:"subtype"`
	Text    string `json:"text"`
	TS      string `json:"ts"` // its id, and the time, in seconds
}

// slackPause is the pause between two requests: Slack allows fifty a minute.
const slackPause = 5 * time.Second

// pollSlack reads what was replied to each question that is open.
func (l *Listener) pollSlack(ctx context.Context, c *chat, u *url.URL) error {
	for _, q := range c.asked() {
		if !l.Open(q) {
			continue
		}
		if err := l.sleep(ctx, l.between()); err != nil {
			return err
		}
		reply, err := l.Sender.call(ctx, notice.Slack, u, method{
			name:   "conversations.replies",
			fields: map[string]any{"channel": q.Chat, "ts": q.Message, "oldest": max(q.Seen, q.Message), "limit": 100},
		})
		if err != nil {
			return err
		}
		for _, m := range reply.Messages {
			if m.TS <= max(q.Seen, q.Message) || m.Bot != "" || m.Subtype != "" {
				continue
			}
			l.take(c, u, replyOf(q, m))
			if known, ok := c.find(q.Place); ok { // with its answer
				q = known
			}
			if q.Seen = m.TS; c.remember(q) != nil {
				break // it is read again, and counts once
			}
		}
	}
	return l.sleep(ctx, l.between())
}

func replyOf(q Asked, m slackMessage) reply {
	return reply{id: m.TS, to: q.Place, from: m.User, text: html.UnescapeString(m.Text)}
}
