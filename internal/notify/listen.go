package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/failure"
)

// SentQuestion is a question of a loop that was sent to a chat, or a request to approve changed tests.
type SentQuestion struct {
	MessageRef
	Loop string    `json:"loop"`
	Task string    `json:"task"`
	At   time.Time `json:"at"`   // time of the question; with its task it identifies the question
	From []string  `json:"from"` // ids of the senders who may answer
	// Tests are the files that wait for an approval; empty for a question.
	Tests     []string `json:"tests,omitempty"`
	LastReply string   `json:"seen,omitempty"` // for Slack: the last reply that was read
	// Answered is the id of the reply that answered it.
	Answered string `json:"answered,omitempty"`
}

// Listener receives replies to questions in a chat. One process of this machine reads a chat for
// all loops, because the service delivers each reply only once.
type Listener struct {
	Sender Sender
	Dir    string // folder of sent questions and of the positions in chats
	// IsOpen reports whether a question still waits for its answer.
	IsOpen func(SentQuestion) bool
	// Answer answers a question and returns the response to the sender. It may be called again with
	// the same reply.
	Answer func(SentQuestion, string) (string, error)
	// Log logs the result of a reply. loop is "" if the message is no reply to a question.
	Log func(loop, what string)

	mu          sync.Mutex
	logged      map[string]bool
	shortPauses bool // short polls and pauses, for tests
}

// reply is a reply to one of Pawl's messages.
type reply struct {
	id         string
	to         MessageRef
	from, text string
	button     string // id of the press of a button, "" = a message
}

// chat is the folder of one bot, with its questions and its position.
type chat struct{ dir string }

// chat returns the bot's folder, and its address. The folder's name does not reveal the token.
func (l *Listener) chat(r notice.Receiver) (*chat, *url.URL, error) {
	u, err := l.Sender.address(r)
	if err != nil {
		return nil, nil, err
	}
	bot := string(r.Kind) + " " + u.Scheme + u.Host + filepath.Dir(u.Path) + " " + u.Query().Get("token")
	sum := sha256.Sum256([]byte(bot))
	c := &chat{filepath.Join(l.Dir, hex.EncodeToString(sum[:8]))}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the folder of the chat: %w", err)
	}
	return c, u, nil
}

// Remember records a question that was sent, so that a reply to it is recognized.
func (l *Listener) Remember(r notice.Receiver, q SentQuestion) error {
	c, _, err := l.chat(r)
	if err != nil {
		return err
	}
	return c.remember(q)
}

// Listen receives replies until the context ends. If another process reads the chat, it waits: that
// process delivers the replies.
func (l *Listener) Listen(ctx context.Context, r notice.Receiver) error {
	c, u, err := l.chat(r)
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(c.dir, "lock"), flock.SetPermissions(0o600))
	if locked, err := lock.TryLockContext(ctx, l.pollInterval()/5); !locked {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	for _, q := range c.questions() {
		if time.Since(q.At) > maxQuestionAge {
			_ = os.Remove(c.path(q.MessageRef)) // the next call tries again
		}
	}
	poll := l.pollTelegram
	if r.Kind == notice.Slack {
		poll = l.pollSlack
	}
	for failures := 0; ctx.Err() == nil; {
		err := poll(ctx, c, u)
		if err == nil || ctx.Err() != nil {
			failures = 0
			continue
		}
		l.logOnce("", fmt.Sprintf("answers by %s cannot be read now: %v", r.Kind, err))
		failures = min(failures+1, 12)
		pause := l.pollInterval() * time.Duration(failures)
		if temporary, ok := errors.AsType[*failure.Temporary](err); ok {
			pause = max(pause, min(temporary.After, maxPause))
		}
		_ = sleep(ctx, pause)
	}
	return ctx.Err()
}

// maxPause limits the pause that a service can request.
const maxPause = 15 * time.Minute

// pollInterval returns the pause between two requests.
func (l *Listener) pollInterval() time.Duration {
	if l.shortPauses {
		return 20 * time.Millisecond
	}
	return slackPollInterval
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// logOnce logs each message of a loop only once.
func (l *Listener) logOnce(loop, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.logged == nil {
		l.logged = map[string]bool{}
	}
	if key := loop + " " + what; !l.logged[key] {
		l.logged[key] = true
		l.Log(loop, what)
	}
}

// handleReply handles one message. Nothing of an unknown sender is stored.
func (l *Listener) handleReply(c *chat, u *url.URL, said reply) {
	q, known := c.find(said.to)
	text := strings.TrimSpace(said.text)
	switch {
	case !known: // an ordinary message in the chat
		return
	case !slices.Contains(q.From, said.from):
		l.logOnce(q.Loop, "ignored: sender "+said.from+" replied, but is not in notify.answers")
		return
	case text == "":
		return
	}
	words := l.answer(c, q, text, said.id)
	l.Log(q.Loop, "reply of sender "+said.from+": "+words)
	l.respond(u, q, said, words)
}

// answer takes the reply as the answer to a question, unless it is already answered.
func (l *Listener) answer(c *chat, q SentQuestion, text, id string) string {
	if q.Answered != "" && q.Answered != id {
		return "not taken: the question has its answer already"
	}
	words, err := l.Answer(q, text)
	if err == nil {
		q.Answered = id
		err = c.remember(q)
	}
	if err != nil {
		return "not taken: " + err.Error()
	}
	return words
}

// respond sends the result of a reply to its sender. Errors are ignored.
func (l *Listener) respond(u *url.URL, q SentQuestion, said reply, words string) {
	ctx, cancel := context.WithTimeout(context.Background(), attemptTimeout) // independent of the listener's context, which the answer may have ended
	defer cancel()
	kind := notice.Telegram
	if isBot(notice.Slack, u) {
		kind = notice.Slack
	}
	fields := chatFields(kind, u, l.Sender.redacted(words))
	if kind == notice.Slack {
		fields["channel"], fields["thread_ts"] = q.Chat, q.Message
		_, _ = l.Sender.call(ctx, kind, u, method{name: postMessage, fields: fields})
		return
	}
	if said.button != "" {
		_, _ = l.Sender.call(ctx, kind, u, method{name: "answerCallbackQuery", fields: map[string]any{"callback_query_id": said.button}})
	}
	id, _ := strconv.ParseInt(q.Message, 10, 64)
	fields["chat_id"], fields["reply_parameters"] = q.Chat, map[string]any{"message_id": id, "allow_sending_without_reply": true}
	_, _ = l.Sender.call(ctx, kind, u, method{name: "sendMessage", fields: fields})
}

// path returns the file of a question.
func (c *chat) path(p MessageRef) string {
	sum := sha256.Sum256([]byte(p.Chat + " " + p.Message))
	return filepath.Join(c.dir, "asked-"+hex.EncodeToString(sum[:12])+".json")
}

func (c *chat) remember(q SentQuestion) error {
	return atomicfile.WriteJSON(c.path(q.MessageRef), q)
}

func (c *chat) find(p MessageRef) (q SentQuestion, known bool) {
	if p.Message == "" {
		return q, false
	}
	q, err := readQuestion(c.path(p))
	return q, err == nil && q.MessageRef == p
}

func readQuestion(path string) (q SentQuestion, err error) {
	err = atomicfile.ReadJSON(path, &q)
	return q, err
}

const maxQuestionAge = 30 * 24 * time.Hour

// questions returns the questions that were sent, in no order.
func (c *chat) questions() []SentQuestion {
	paths, _ := filepath.Glob(filepath.Join(c.dir, "asked-*.json")) // the pattern is valid
	var all []SentQuestion
	for _, path := range paths {
		if q, err := readQuestion(path); err == nil {
			all = append(all, q)
		}
	}
	return all
}
