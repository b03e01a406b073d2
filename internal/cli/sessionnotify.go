package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// sessionNotifyCmd is `pawl session notify`.
type sessionNotifyCmd struct {
	loopID
	Name string `arg:"" optional:"" help:"name of the notice's file in the loop's folder; default: only take answers"`
}

// Run sends a notice of a loop with retries and logs the result. In quiet hours it waits for their end
// and sends all notices that are still current. For a question it also takes the answer.
func (c *sessionNotifyCmd) Run(a *app, l *store.Loop) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	spec, err := record.ReadSpec(l)
	if err != nil {
		return err
	}
	if c.Name == "" {
		var posting sync.WaitGroup
		posting.Go(func() { _, err = a.sendPosted(l, spec.Notify) })
		heard := a.listenForReplies(l, spec.Notify)
		posting.Wait()
		return errors.Join(err, heard)
	}
	send := func() (asks bool, err error) {
		n, err := notify.TakePosted(l.Dir, c.Name)
		if err != nil {
			return false, err
		}
		return n.IsAnswerable(), a.sendNotice(l, spec.Notify, n)
	}
	if !spec.Notify.QuietUntil(time.Now()).IsZero() {
		send = func() (bool, error) { return a.sendPosted(l, spec.Notify) }
	}
	asks, err := send()
	if asks {
		err = errors.Join(err, a.listenForReplies(l, spec.Notify))
	}
	return err
}

// sendPosted waits for the end of quiet hours and sends the posted notices that are still current. It
// reports whether one asks the user something. If another process does this, it returns at once.
func (a *app) sendPosted(l *store.Loop, s notice.Settings) (asks bool, err error) {
	if mine, err := notify.AwaitQuietEnd(context.Background(), l.Dir, s); err != nil || !mine {
		return false, err
	}
	for _, name := range notify.Posted(l.Dir) {
		n, failed := notify.TakePosted(l.Dir, name)
		if errors.Is(failed, fs.ErrNotExist) { // another process sends it
			continue
		}
		now, unread := loopinfo.Read(l)
		if failed == nil && unread == nil {
			if why := n.OutdatedReason(now.Memory.State); why != "" {
				notify.Log(l.Dir, n, "not sent: "+why)
				continue
			}
		}
		if failed == nil {
			asks, failed = asks || n.IsAnswerable(), a.sendNotice(l, s, n)
		}
		err = errors.Join(err, failed)
	}
	return asks, err
}

func (a *app) sendNotice(l *store.Loop, s notice.Settings, n notice.Notice) error {
	ctx, cancel := context.WithTimeout(context.Background(), notify.SendTimeout)
	defer cancel()
	to := (&notify.Outbox{Settings: s}).Receivers(n)
	sender := a.newSender(n.Root)
	sender.AnswersBy = s.AnswerSenders
	sender.OnSent = func(r notice.Receiver, at notify.MessageRef) {
		asked := notify.SentQuestion{MessageRef: at, Loop: l.ID, Task: n.Task, At: n.At, From: s.AnswerSenders(r), Tests: n.Tests}
		if n.Question != nil {
			asked.At = n.Question.At
		}
		if err := a.newListener(l, n.Root).Remember(r, asked); err != nil {
			notify.Log(l.Dir, n, fmt.Sprintf("replies by %s will not be known: %v", r, err))
		}
	}
	failed := sender.Send(ctx, n, to)
	var problems []error
	for _, r := range to {
		err := failed[r]
		if err != nil {
			problems = append(problems, fmt.Errorf("not sent to %s: %w", r, err))
		}
		notify.LogSent(l.Dir, n, r, err)
	}
	return errors.Join(problems...)
}

// newListener returns a listener that takes replies as the user, for all loops that asked in the same
// chat.
func (a *app) newListener(l *store.Loop, root string) *notify.Listener {
	return &notify.Listener{
		Sender: a.newSender(root), Dir: filepath.Join(a.env.PawlHome, "chats"), Answer: a.applyReply,
		IsOpen: func(q notify.SentQuestion) bool {
			_, err := a.openRequestOf(q)
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
	openPollInterval   = 300 * time.Millisecond // how often to check whether the loop's question is open
	endedPollInterval  = 10 * time.Second       // the same for a loop that has ended
	pollsPerAliveCheck = 10                     // after so many checks, also check whether the loop is driven
	approvalListenTime = 24 * time.Hour         // how long after the loop's end changed tests may wait for an approval
)

// listenForReplies takes replies while the loop asks its user something and a process drives it.
func (a *app) listenForReplies(l *store.Loop, s notice.Settings) error {
	if len(s.Answers) == 0 {
		return nil
	}
	kept, err := l.Spec()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ears := a.newListener(l, kept.Root)
	var listening sync.WaitGroup
	for _, text := range s.Answers {
		if answers, err := notice.ParseAnswers(text); err == nil && ears.Sender.CheckAnswers(answers.Receiver) == nil {
			listening.Go(func() { _ = ears.Listen(ctx, answers.Receiver) }) // Listen logs its errors
		}
	}
	size, pause := int64(-1), openPollInterval
	for i := 0; ; i++ {
		now, err := l.JournalSize()
		if err != nil {
			break
		}
		if now != size || i%pollsPerAliveCheck == 0 {
			size = now
			ended, asks := a.checkAsking(l)
			if !asks {
				break
			}
			if ended {
				pause = endedPollInterval
			}
		}
		time.Sleep(pause)
	}
	cancel()
	listening.Wait()
	return nil
}

// listenForEndedLoops takes replies for ended loops that still wait for the user, while this process runs. A
// restart of the machine may have ended their listeners.
func (a *app) listenForEndedLoops() {
	listed, err := record.List(a.store)
	if err != nil {
		return
	}
	for _, e := range listed {
		if e.Summary.State != "ended" || len(e.Summary.Tests) == 0 { // the summary is enough for most
			continue
		}
		if _, asks := a.checkAsking(e.Loop); !asks {
			continue
		}
		if spec, err := record.ReadSpec(e.Loop); err == nil {
			go func() { _ = a.listenForReplies(e.Loop, spec.Notify) }()
		}
	}
}

// checkAsking reports whether a loop asks its user something. Such a loop is driven, or ended less than
// approvalListenTime ago with changed tests that wait for an approval.
func (a *app) checkAsking(l *store.Loop) (ended, asks bool) {
	s, err := loopinfo.Read(l)
	if err != nil {
		return false, false
	}
	st := s.Memory.State
	if s.HasEnded() {
		return true, len(st.Unapproved()) > 0 && time.Since(st.Now) < approvalListenTime
	}
	return false, st.AsksUser() && (s.Alive || s.InSession() && proc.Alive(s.Memory.Bound.Client))
}

// openRequest is what a loop still waits for after a notice was sent to a chat: the answer to a question,
// or the approval of tests.
type openRequest struct {
	*loopinfo.Loop
	question loop.Question
	tests    []string
}

// openRequestOf returns what the loop still waits for. It fails if that is answered already.
func (a *app) openRequestOf(asked notify.SentQuestion) (openRequest, error) {
	s, err := loopinfo.Read(a.store.Loop(asked.Loop))
	if err != nil {
		return openRequest{}, err
	}
	st := s.Memory.State
	switch {
	case st.Outcome != "" && !s.HasEnded():
		return openRequest{}, fmt.Errorf("%s is about to end: reply again", s.ID)
	case len(asked.Tests) > 0:
		waiting := st.Unapproved()
		tests := slices.DeleteFunc(slices.Clone(asked.Tests), func(path string) bool { return !slices.Contains(waiting, path) })
		if len(tests) > 0 {
			return openRequest{Loop: s, tests: tests}, nil
		}
	case !s.HasEnded():
		for _, q := range st.Unanswered() {
			if q.Task == asked.Task && q.At.Equal(asked.At) {
				return openRequest{Loop: s, question: q}, nil
			}
		}
	}
	return openRequest{}, fmt.Errorf("%s no longer asks this", s.ID)
}

// applyReply applies a reply as pawl answer, approve and reject would. A question is answered once;
// later replies change nothing.
func (a *app) applyReply(asked notify.SentQuestion, text string) (string, error) {
	w, err := a.openRequestOf(asked)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(asked.Task + asked.At.UTC().Format(time.RFC3339Nano)))
	id := "answer-" + hex.EncodeToString(sum[:12])
	if len(w.tests) > 0 {
		words, err := a.applyTestReply(w, id, text)
		return plan.OneLine(words, 0), err
	}
	q := w.question
	answer, err := q.Choice(text)
	if err != nil {
		return "", err
	}
	answer = a.withoutSecrets(answer)
	m := record.Message{Kind: record.MessageAnswer, Text: answer, Tasks: []string{q.Task}, Question: &loop.Question{At: q.At}}
	if err := a.sendAs(w.Loop, id, m); err != nil {
		return "", err
	}
	switch {
	case q.Approve == "":
		return fmt.Sprintf("%s gets the answer: %s", w.ID, plan.OneLine(answer, 200)), nil
	case loop.Approves(answer):
		return w.ID + ": approved", nil
	}
	return w.ID + ": not approved: " + plan.OneLine(answer, 200), nil
}

// applyTestReply approves changed tests for a yes. Any other text rejects them and is the reason.
func (a *app) applyTestReply(w openRequest, id, text string) (string, error) {
	if loop.Approves(text) {
		tests, others := w.SplitTests(w.tests)
		if len(tests) == 0 {
			return "", fmt.Errorf("no test, so only pawl approve %s %s approves it", w.ID, strings.Join(others, " "))
		}
		return a.approveTests(w.Loop, tests, id)
	}
	if strings.EqualFold(text, "no") {
		text = ""
	}
	return a.rejectTests(w.Loop, w.tests, decision{id: id, why: a.withoutSecrets(text)})
}
