//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// post is what a webhook receives.
type post struct {
	Event, Reason, Loop, Outcome string
	Question                     struct{ Text string }
}

// webhook is a local double of a user's service.
type webhook struct {
	mu    sync.Mutex
	posts []post
}

func (h *webhook) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var p post
	if json.NewDecoder(r.Body).Decode(&p) == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.posts = append(h.posts, p)
	}
}

// received are the posts for a reason.
func (h *webhook) received(reason string) (found []post) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.posts {
		if p.Reason == reason {
			found = append(found, p)
		}
	}
	return found
}

// A question that is asked at night goes out by a webhook. Pawl is killed and resumed,
// and waits on without a turn. In the morning the service behind the webhook answers what
// it was asked, and the loop continues to its end, which the webhook is told.
func TestClientQuestionIsAnsweredByWebhook(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	service := &webhook{}
	s := httptest.NewServer(service)
	t.Cleanup(s.Close)
	c.env["HOOK"] = s.URL
	settings := filepath.Join(c.env["XDG_CONFIG_HOME"], "pawl", "config.toml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700),
		os.WriteFile(settings, []byte("[notify]\nto = \"webhook env:HOOK\"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c.playAnswers(tool("ask_user", map[string]any{"question": "bye or goodbye?"}), done, c.answerAddingWord("bye"), done)

	run := c.start(append([]string{"run"}, c.goal("add bye")...)...)
	c.question()
	run.waitUntil("the webhook", func() bool { return len(service.received("question")) > 0 })
	run.signal(syscall.SIGKILL)
	run.wait()
	run = c.start("resume", ".")
	time.Sleep(time.Second) // it takes no turn
	if now := c.question(); now.Turns != 1 {
		t.Errorf("%+v", now)
	}

	asked := service.received("question")
	if len(asked) != 1 || asked[0].Question.Text != "bye or goodbye?" {
		t.Fatalf("the webhook was asked %+v", asked)
	}
	c.checkExitCode(c.pawl("answer", asked[0].Loop, "bye"), 0)
	c.checkExitCode(run.wait(), 0)
	if !strings.Contains(strings.Join(c.prompts(), "\n"), "The answer: bye") {
		t.Errorf("the agent was told %q", c.prompts())
	}
	if end := service.received("verified"); len(end) != 1 || end[0].Event != "ended" {
		t.Errorf("the webhook was told of the end %+v", end)
	}
	c.checkJournalChain()
}
