package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
)

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
