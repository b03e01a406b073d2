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
	TS      string `json:"ts"` // its id, and its time in seconds
}

// slackPollInterval is the pause between two requests: Slack allows fifty per minute.
const slackPollInterval = 5 * time.Second

// pollSlack reads the replies to each open question.
func (l *Listener) pollSlack(ctx context.Context, c *chat, u *url.URL) error {
	for _, q := range c.questions() {
		if !l.IsOpen(q) {
			continue
		}
		if err := sleep(ctx, l.pollInterval()); err != nil {
			return err
		}
		answer, err := l.Sender.call(ctx, notice.Slack, u, method{
			name:   "conversations.replies",
			fields: map[string]any{"channel": q.Chat, "ts": q.Message, "oldest": max(q.LastReply, q.Message), "limit": 100},
		})
		if err != nil {
			return err
		}
		for _, m := range answer.Messages {
			if m.TS <= max(q.LastReply, q.Message) || m.Bot != "" || m.Subtype != "" {
				continue
			}
			l.handleReply(c, u, reply{id: m.TS, to: q.MessageRef, from: m.User, text: html.UnescapeString(m.Text)})
			if known, ok := c.find(q.MessageRef); ok { // its answer may have been stored since
				q = known
			}
			if q.LastReply = m.TS; c.remember(q) != nil {
				break // the reply is read again, and counts once
			}
		}
	}
	return sleep(ctx, l.pollInterval())
}
