//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// bot is a local double of Telegram: it keeps what is written and hands out updates.
type bot struct {
	mu      sync.Mutex
	written []string // texts; message N stands at N-1
	updates []string
}

func (b *bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Text   string `json:"text"`
		Offset int    `json:"offset"`
	}
	_ = json.NewDecoder(r.Body).Decode(&asked)
	b.mu.Lock()
	defer b.mu.Unlock()
	if path.Base(r.URL.Path) != "getUpdates" {
		b.written = append(b.written, asked.Text)
		fmt.Fprintf(w, `{"ok":true,"result":{"message_id":%d,"chat":{"id":42}}}`, len(b.written))
		return
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Fprintf(w, `{"ok":true,"result":[%s]}`, strings.Join(b.updates[min(asked.Offset, len(b.updates)):], ","))
}

// reply sends a reply to the message that contains a text.
func (b *bot) reply(t *testing.T, from int, to, text string) {
	t.Helper()
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		b.mu.Lock()
		for i, written := range b.written {
			if strings.Contains(written, to) {
				b.updates = append(b.updates, fmt.Sprintf(
					`{"update_id":%d,"message":{"message_id":1000,"chat":{"id":42},"from":{"id":%d},"text":%q,"reply_to_message":{"message_id":%d}}}`,
					len(b.updates), from, text, i+1))
				b.mu.Unlock()
				return
			}
		}
		b.mu.Unlock()
	}
	t.Fatalf("nobody wrote %q: %q", to, b.written)
}

// askingAgent is an agent that asks how to say goodbye, and does so once it knows.
const askingAgent = `#!/bin/sh
if grep -q 'The answer: bye' ; then
	printf 'bye\n' > bye.txt; printf '#!/bin/sh\ntest "$(cat bye.txt)" = bye\n' > tests/bye.sh
	echo '<promise>DONE</promise>'
else
	echo '<question>bye or goodbye?</question>'
fi
`

// A question that is asked at night and answered by chat in the morning continues, also where
// Pawl was killed meanwhile; an approval takes the user's yes. A stranger's word is neither.
func TestQuestionIsAnsweredByChat(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	api := &bot{}
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	b.env["CHAT"] = s.URL + "/bot1:TOKEN/sendMessage?chat_id=42"
	b.write(map[string]string{
		"../.config/pawl/config.toml": "[notify]\nto = \"telegram env:CHAT\"\nanswers = [\"telegram env:CHAT from 42\"]\n",
		"../agent.sh":                 askingAgent,
	})
	if r := b.pawl("notify", "test"); !r.contains("telegram env:CHAT: sent; answers are taken from 42") {
		t.Errorf("%s", r)
	}
	run := b.start("run", "add bye", "--gate", checkWords, "--approve", "task", "--agent", "command", "--agent-command", b.path("../agent.sh"))
	b.question()
	api.reply(t, 66, "the agent asks: bye or goodbye?", "goodbye")
	if err := syscall.Kill(run.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run.wait()
	api.reply(t, 42, "the agent asks: bye or goodbye?", "bye")
	api.reply(t, 42, "the agent asks: bye or goodbye?", "yes") // too late: it is answered
	run = b.start("resume", ".")
	api.reply(t, 66, "waits for your approval", "yes")
	b.awaitedApproval()
	api.reply(t, 42, "waits for your approval", "yes")
	b.checkExitCode(run.wait(), 0)
	api.mu.Lock()
	defer api.mu.Unlock()
	all := strings.Join(api.written, "\n")
	for _, want := range []string{"gets the answer: bye", ": approved", "not taken: the question has its answer already"} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%q stands %d times in\n%s\n%s", want, strings.Count(all, want), all, b.pawl("log", ".").out)
		}
	}
}

// waitForMessage waits until a message with a text is sent.
func (b *bot) waitForMessage(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		b.mu.Lock()
		heard := strings.Contains(strings.Join(b.written, "\n"), text)
		b.mu.Unlock()
		if heard {
			return
		}
	}
	t.Fatalf("nobody wrote %q: %q", text, b.written)
}
