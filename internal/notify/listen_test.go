package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
)

// api simulates Telegram and Slack: it returns messages of chats, and records its calls.
type api struct {
	mu      sync.Mutex
	updates []string // of Telegram
	thread  []string // of Slack
	offsets []int
	answers []string // returned instead of the next responses: "429" and the like with a body
	calls   []string // method and text
	sent    int
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fields := map[string]any{}
	if json.Unmarshal(body, &fields) != nil { // a form
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		_ = r.ParseForm()
		for name := range r.Form {
			fields[name] = r.Form.Get(name)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	name := path.Base(r.URL.Path)
	switch name {
	case "getUpdates", "conversations.replies":
		if len(a.answers) > 0 {
			answer := a.answers[0]
			a.answers = a.answers[1:]
			var code int
			_, _ = fmt.Sscan(answer[:3], &code)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, answer[3:])
			return
		}
		if name == "conversations.replies" {
			fmt.Fprintf(w, `{"ok":true,"messages":[{"user":"UBOT","bot_id":"B1","ts":"1.0","text":"the question"}%s]}`, strings.Join(append([]string{""}, a.thread...), ","))
			return
		}
		a.offsets = append(a.offsets, int(fields["offset"].(float64)))
		fmt.Fprintf(w, `{"ok":true,"result":[%s]}`, strings.Join(a.updates, ","))
	case "chat.postMessage":
		a.calls = append(a.calls, fmt.Sprint(name, " ", fields["channel"], " ", fields["thread_ts"], " ", r.Header.Get("Authorization"), " ", fields["text"]))
		_, _ = io.WriteString(w, `{"ok":true,"channel":"C1","ts":"1.0"}`)
	default:
		a.calls = append(a.calls, fmt.Sprint(name, " ", fields["text"], " ", fields["reply_markup"], fields["callback_query_id"]))
		a.sent++
		fmt.Fprintf(w, `{"ok":true,"result":{"message_id":%d,"chat":{"id":42}}}`, 6+a.sent)
	}
}

func (a *api) said() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// update returns an update of Telegram: a text of a sender, in reply to a message.
func update(id, from, to int, text string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"chat":{"id":42},"from":{"id":%d},"text":%q,"reply_to_message":{"message_id":%d}}}`,
		id, 100+id, from, text, to)
}

// recorder is a listener with what it took and logged.
type recorder struct {
	*Listener
	receiver notice.Receiver
	mu       sync.Mutex
	took     []string
	logged   []string
	fails    error
}

// listener returns a listener to a simulated service, with one sent question.
func listener(t *testing.T, a *api, r notice.Receiver, dir, query string) *recorder {
	t.Helper()
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	e := &recorder{receiver: r}
	e.Listener = &Listener{
		Sender: sender(s.URL + query), Dir: dir, shortPauses: true,
		IsOpen: func(SentQuestion) bool { return true },
		Answer: func(q SentQuestion, text string) (string, error) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.took = append(e.took, q.Loop+" "+q.Task+" "+text)
			return "told: " + text, e.fails
		},
		Log: func(loop, what string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.logged = append(e.logged, strings.TrimSpace(loop+" "+what))
		},
	}
	e.Sender.AnswersBy = func(notice.Receiver) []string { return []string{"42"} }
	return e
}

// until listens until holds returns true, or fails the test.
func (e *recorder) until(t *testing.T, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- e.Listen(ctx, e.receiver) }()
	for {
		e.mu.Lock()
		done := holds()
		e.mu.Unlock()
		if done {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("took %q, logged %q", e.took, e.logged)
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatal("it continues after its end")
	}
}

const telegramQuery = "/bot1:s3cr3t/sendMessage?chat_id=42"

func telegramReceiver() notice.Receiver {
	return notice.Receiver{Kind: notice.Telegram, Arg: "env:URL"}
}

// question returns a notice with a question.
func question(q loop.Question) notice.Notice {
	n := sample()
	n.Event, n.Reason, n.Question = notice.NeedsYou, "question", &q
	return n
}

// A question has its suggested answers as buttons, and its message id is recorded. Without allowed
// senders it is an ordinary message.
func TestQuestionsCanBeAnswered(t *testing.T) {
	t.Parallel()
	a := &api{}
	e := listener(t, a, telegramReceiver(), t.TempDir(), telegramQuery)
	var at []MessageRef
	e.Sender.OnSent = func(_ notice.Receiver, p MessageRef) { at = append(at, p) }
	for _, q := range []loop.Question{{Text: "Which?", Choices: []string{"UTC"}}, {Text: "Right?", Approve: loop.ApproveTask}, {Text: "What?"}} {
		if failed := e.Sender.Send(t.Context(), question(q), []notice.Receiver{e.receiver}); len(failed) > 0 {
			t.Fatal(failed)
		}
	}
	if diff := cmp.Diff([]MessageRef{{"42", "7"}, {"42", "8"}, {"42", "9"}}, at); diff != "" {
		t.Error(diff)
	}
	e.Sender.AnswersBy = nil
	_ = e.Sender.Send(t.Context(), question(loop.Question{Text: "What?"}), []notice.Receiver{e.receiver})
	said := a.said()
	for i, want := range []string{"callback_data:1 text:UTC", "callback_data:yes", "force_reply:true", "<nil>"} {
		if i >= len(said) || !strings.Contains(said[i], want) {
			t.Errorf("message %d has no %s:\n%q", i, want, said)
		}
	}
	e.Sender.AnswersBy = func(notice.Receiver) []string { return []string{"42"} }
	for _, event := range []notice.Event{notice.NeedsYou, notice.Ended} {
		n := question(loop.Question{})
		n.Event, n.Question, n.Tests = event, nil, []string{"a_test.go"}
		_ = e.Sender.Send(t.Context(), n, []notice.Receiver{e.receiver})
	}
	if said := a.said(); !strings.Contains(said[4], "callback_data:no") || !strings.Contains(said[5], "the changed tests: a_test.go") || strings.Contains(said[5], "callback_data:no") {
		t.Errorf("%q", said[4:])
	}
	at = at[:3]
	if strings.Contains(said[3], "Reply") || !strings.Contains(said[1], `Reply "yes" to this message to approve.`) || len(at) != 3 {
		t.Errorf("%q", said)
	}
}

// An allowed sender's reply counts once, even if the update is repeated or the process is killed. A
// reply of another sender does not count, and is logged once. Neither do replies to other messages,
// or ordinary messages.
func TestTelegramRepliesCountOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := &api{updates: []string{
		`{"update_id":"x"}`, `{"update_id":1,"message":17}`, `{"update_id":2,"message":{"text":"hello","from":{"id":42},"chat":{"id":42}}}`,
		update(3, 66, 7, "rm -rf"), update(4, 66, 7, "again"), update(5, 42, 99, "to another"), update(6, 42, 7, " UTC "), update(6, 42, 7, " UTC "),
		strings.ReplaceAll(update(7, 42, 7, "elsewhere"), `"chat":{"id":42}`, `"chat":{"id":1}`),
		`{"update_id":8,"callback_query":{"id":"press","from":{"id":42},"data":"2","message":{"message_id":7,"chat":{"id":42}}}}`,
	}}
	e := listener(t, a, telegramReceiver(), dir, telegramQuery)
	if err := e.Remember(e.receiver, SentQuestion{MessageRef: MessageRef{"42", "7"}, Loop: "brisk-otter", Task: "US-1", From: []string{"42"}, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	e.until(t, func() bool { return len(e.logged) >= 3 })
	if diff := cmp.Diff([]string{"brisk-otter US-1 UTC"}, e.took); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"brisk-otter ignored: sender 66 replied, but is not in notify.answers",
		"brisk-otter reply of sender 42: told: UTC", "brisk-otter reply of sender 42: not taken: the question has its answer already",
	}, e.logged); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"sendMessage told: UTC <nil> <nil>", "answerCallbackQuery <nil> <nil>press", "sendMessage not taken: the question has its answer already <nil> <nil>"}, a.said()); diff != "" {
		t.Error(diff)
	}

	again := listener(t, a, telegramReceiver(), dir, telegramQuery) // another process with the same bot
	again.Dir, again.Sender = e.Dir, e.Sender
	a.mu.Lock()
	a.offsets, a.updates = nil, append(a.updates, strings.ReplaceAll(a.updates[9], `"data":"2","message":{"message_id":7`, `"data":"2","message":{"message_id":8`))
	a.updates[10] = strings.Replace(a.updates[10], `"update_id":8`, `"update_id":9`, 1)
	a.mu.Unlock()
	if err := again.Remember(e.receiver, SentQuestion{MessageRef: MessageRef{"42", "8"}, Loop: "calm-heron", Task: "2", From: []string{"42"}, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	again.until(t, func() bool { return len(again.took) >= 1 })
	if diff := cmp.Diff([]string{"calm-heron 2 2"}, again.took); diff != "" || a.offsets[0] != 9 {
		t.Errorf("from %d: %s", a.offsets[0], diff)
	}
}

// Wrong, slow and missing responses of a service are tolerated, and logged once.
func TestTelegramErrorsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	a := &api{
		answers: []string{"200<html>", `200{"ok":true,"result":{}}`, "500", `429{"ok":false,"parameters":{"retry_after":1}}`, `409{"ok":false,"description":"bot1:s3cr3t is read by another"}`},
		updates: []string{update(1, 42, 7, "UTC")},
	}
	e := listener(t, a, telegramReceiver(), t.TempDir(), telegramQuery)
	e.fails = errors.New("disk full")
	if err := e.Remember(e.receiver, SentQuestion{MessageRef: MessageRef{"42", "7"}, Loop: "brisk-otter", From: []string{"42"}, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	e.until(t, func() bool { return len(e.logged) > 0 && strings.Contains(e.logged[len(e.logged)-1], "disk full") })
	if took := time.Since(begun); took < time.Second {
		t.Errorf("it did not wait as it was told: %s", took)
	}
	if all := strings.Join(e.logged, "\n"); strings.Contains(all, "s3cr3t") || strings.Count(all, "something else than expected") != 1 {
		t.Error(all)
	}
}

// A long poll ends when its context ends, and one listener reads a chat at a time.
func TestListeningIsBounded(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // without reading, the server does not notice that the client has gone
		reached <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range 2 {
		l := &Listener{Sender: sender(s.URL + telegramQuery), Dir: dir, Log: func(string, string) {}}
		go func() { ended <- l.Listen(ctx, telegramReceiver()) }()
	}
	<-reached
	cancel()
	for range 2 {
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Fatal("it continues")
		}
	}
	if len(reached) > 0 {
		t.Error("two read the same chat at once")
	}
}

// In Slack a reply is a message of a user, not of a bot, in the thread of the question.
func TestSlackRepliesCountOnce(t *testing.T) {
	t.Parallel()
	a := &api{answers: []string{`200{"ok":false,"error":"ratelimited"}`}, thread: []string{
		`{"user":"U66","ts":"1.1","text":"no"}`, `{"user":"U42","bot_id":"B2","ts":"1.2","text":"no"}`,
		`{"user":"U42","subtype":"thread_broadcast","ts":"1.3","text":"no"}`, `{"user":"U42","ts":"1.4","text":"a &lt; b"}`,
	}}
	r := notice.Receiver{Kind: notice.Slack, Arg: "env:URL"}
	e := listener(t, a, r, t.TempDir(), "/api/chat.postMessage?channel=C1&token=xoxb-s3cr3t")
	e.Sender.OnSent = func(r notice.Receiver, p MessageRef) {
		if err := e.Remember(r, SentQuestion{MessageRef: p, Loop: "brisk-otter", Task: "US-1", From: []string{"U42"}, At: time.Now()}); err != nil {
			t.Error(err)
		}
	}
	if failed := e.Sender.Send(t.Context(), question(loop.Question{Text: "a < b?"}), []notice.Receiver{r}); len(failed) > 0 {
		t.Fatal(failed)
	}
	e.until(t, func() bool { return len(e.took) == 1 })
	if e.took[0] != "brisk-otter US-1 a < b" {
		t.Errorf("%q", e.took)
	}
	want := map[string]bool{"chat.postMessage C1 1.0 Bearer xoxb-s3cr3t told: a &lt; b": true}
	for _, call := range a.said()[1:] {
		delete(want, call)
	}
	if len(want) > 0 || strings.Contains(strings.Join(e.logged, "\n"), "s3cr3t") {
		t.Errorf("missing %q of %q, logged %q", slices.Collect(maps.Keys(want)), a.said(), e.logged)
	}
}
