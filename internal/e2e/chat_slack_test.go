//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
)

// slackBot is a local double of Slack: it keeps what is written, and a thread for each message.
type slackBot struct {
	bot

	threads map[string][]string // replies by the message's time stamp
}

// slackUser is how Slack names the user that Telegram knows by a number.
func slackUser(n int) string { return fmt.Sprintf("U%d", n) }

func (b *slackBot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer xoxb-TOKEN" {
		fmt.Fprint(w, `{"ok":false,"error":"invalid_auth"}`)
		return
	}
	if path.Base(r.URL.Path) == "conversations.replies" {
		ts := r.FormValue("ts")
		fmt.Fprintf(w, `{"ok":true,"messages":[%s]}`, strings.Join(append([]string{fmt.Sprintf(`{"bot_id":"B1","ts":%q}`, ts)}, b.threads[ts]...), ","))
		return
	}
	b.written = append(b.written, r.FormValue("text"))
	fmt.Fprintf(w, `{"ok":true,"channel":"C1","ts":%q}`, stampOf(len(b.written)))
}

// stampOf is the time stamp of the n-th message, which names it.
func stampOf(n int) string { return fmt.Sprintf("1700000%03d.000000", n) }

// reply sends a reply in the thread of the message that contains a text.
func (b *slackBot) reply(t *testing.T, from int, to, text string) {
	t.Helper()
	b.waitForMessage(t, to)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, written := range b.written {
		if ts := stampOf(i + 1); strings.Contains(written, to) {
			reply, err := json.Marshal(map[string]string{"user": slackUser(from), "text": text, "ts": fmt.Sprintf("1800000000.%06d", len(b.threads[ts]))})
			if err != nil {
				t.Fatal(err)
			}
			b.threads[ts] = append(b.threads[ts], string(reply))
			return
		}
	}
}
