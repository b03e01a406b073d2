package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// sessionNotifyCmd is `pawl session notify`.
type sessionNotifyCmd struct {
	Loop string `arg:"" help:"id of a loop"`
	Name string `arg:"" optional:"" help:"name of the notice's file in the loop's folder; default: only take answers"`
}

func (sessionNotifyCmd) Help() string {
	return `Whoever drives the loop starts it. While the loop asks its user something, it takes their replies (notify.answers).

  pawl session notify brisk-otter-7f3a notice-1.json`
}

// Run sends a notice of a loop, with retries, and logs what came of it. Of a question it
// takes the answer.
func (c *sessionNotifyCmd) Run(a *app) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	l, err := a.store.Resolve(c.Loop, "")
	if err != nil {
		return err
	}
	spec, err := record.ReadSpec(l)
	if err != nil {
		return err
	}
	if c.Name == "" {
		return a.listen(l, spec.Notify)
	}
	n, err := notify.Take(l.Dir, c.Name)
	if err != nil {
		return err
	}
	err = a.sendNotice(l, spec.Notify, n)
	if n.Question == nil {
		return err
	}
	return errors.Join(err, a.listen(l, spec.Notify))
}

func (a *app) sendNotice(l *store.Loop, s notice.Settings, n notice.Notice) error {
	ctx, cancel := context.WithTimeout(context.Background(), notify.SendTimeout)
	defer cancel()
	to := (&notify.Outbox{Settings: s}).Receivers(n)
	sender := a.sender(n.Root)
	sender.AnswersBy = s.AnswersBy
	sender.OnSent = func(r notice.Receiver, at notify.Place) {
		asked := notify.Asked{Place: at, Loop: l.ID, Task: n.Task, At: n.Question.At, From: s.AnswersBy(r)}
		if err := a.listener(l, n.Root).Remember(r, asked); err != nil {
			notify.Log(l.Dir, n, fmt.Sprintf("replies by %s will not be known: %v", r, err))
		}
	}
	failed := sender.Send(ctx, n, to)
	var problems []error
	for _, r := range to {
		what := "sent to " + r.String()
		if i := slices.IndexFunc(failed, func(f notify.Failure) bool { return f.Receiver == r }); i >= 0 {
			what = fmt.Sprintf("not sent to %s: %v", r, failed[i].Err)
			problems = append(problems, errors.New(what))
		}
		notify.Log(l.Dir, n, strings.ReplaceAll(what, "\n", " "))
	}
	return errors.Join(problems...)
}

// listener takes replies as the user, for all loops that asked in the same chat.
func (a *app) listener(l *store.Loop, root string) *notify.Listener {
	return &notify.Listener{
		Sender: a.sender(root), Dir: filepath.Join(a.env.PawlHome, "chats"), Take: a.takeReply,
		Open: func(q notify.Asked) bool {
			_, _, err := a.askedStill(q)
			return err == nil
		},
		Log: func(id, what string) {
			at := l
			if id != "" {
				at = a.store.Loop(id)
			}
			notify.Log(at.Dir, notice.Notice{Event: notice.NeedsYou, Reason: "question"}, plan.OneLine(what, 500))
		},
	}
}

const (
	listenEvery = 300 * time.Millisecond // that the loop is asked whether its question is open
	aliveEvery  = 10                     // of these, it is asked whether it is driven
)

// listen takes replies while the loop asks its user something and somebody drives it.
func (a *app) listen(l *store.Loop, s notice.Settings) error {
	if len(s.Answers) == 0 {
		return nil
	}
	kept, err := l.Spec()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ears := a.listener(l, kept.Root)
	var listening sync.WaitGroup
	for _, text := range s.Answers {
		if answers, err := notice.ParseAnswers(text); err == nil && ears.Sender.CheckAnswers(answers.Receiver) == nil {
			listening.Go(func() { _ = ears.Listen(ctx, answers.Receiver) }) // what it meets stands in the log
		}
	}
	size := int64(-1)
	for i := 0; ; i++ {
		now, err := l.JournalSize()
		if err != nil {
			break
		}
		if now != size || i%aliveEvery == 0 {
			if size = now; !a.asksStill(l) {
				break
			}
		}
		time.Sleep(listenEvery)
	}
	cancel()
	listening.Wait()
	return nil
}

// asksStill reports whether a loop that is driven asks its user something.
func (a *app) asksStill(l *store.Loop) bool {
	s, err := readSubject(l)
	if err != nil || s.memory.State.Outcome != "" || len(s.memory.State.Unanswered()) == 0 {
		return false
	}
	return s.alive || s.inSession() && proc.Alive(s.memory.Bound.Client)
}

// askedStill returns the question that was sent, if the loop still waits for its answer.
func (a *app) askedStill(asked notify.Asked) (*subject, loop.Question, error) {
	s, err := readSubject(a.store.Loop(asked.Loop))
	if err != nil {
		return nil, loop.Question{}, err
	}
	for _, q := range s.memory.State.Unanswered() {
		if q.Task == asked.Task && q.At.Equal(asked.At) && s.memory.State.Outcome == "" {
			return s, q, nil
		}
	}
	return s, loop.Question{}, fmt.Errorf("%s does not ask this any more", asked.Loop)
}

// takeReply answers a question as pawl answer, approve and reject do. A question is
// answered once: what is said of it later changes nothing.
func (a *app) takeReply(asked notify.Asked, text string) (string, error) {
	s, q, err := a.askedStill(asked)
	if err != nil {
		return "", err
	}
	answer := a.withoutSecrets(q.Choice(text))
	sum := sha256.Sum256([]byte(asked.Task + asked.At.UTC().Format(time.RFC3339Nano)))
	m := record.Message{Kind: record.MessageAnswer, Text: answer, Tasks: []string{q.Task}, Question: &loop.Question{At: q.At}}
	if err := s.Post("answer-"+hex.EncodeToString(sum[:12]), m); err != nil {
		return "", err
	}
	if err := a.deliverToWaiting(s); err != nil {
		return "", err
	}
	switch {
	case q.Approve == "":
		return fmt.Sprintf("%s is told: %s", s.ID, plan.OneLine(answer, 200)), nil
	case loop.Approves(answer):
		return s.ID + ": approved", nil
	}
	return s.ID + ": not approved: " + plan.OneLine(answer, 200), nil
}
