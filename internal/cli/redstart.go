package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/term"
)

// redAnswerTimeout is how long a question about red gates waits for an answer. An unattended run then
// continues.
const redAnswerTimeout = time.Minute

// redQuestion asks at the terminal whether gates that are red before any work are part of it. The user
// should not pay for fixing what others broke.
type redQuestion struct {
	gates []gate.Gate            // of the loop
	read  func() (string, error) // reads one line that the user types
	print func(term.Event)

	answer string   // answerAllow or answerLeaveOut, if the run must begin again; else ""
	red    []string // the red gates
}

// Answers to type.
const (
	answerStop     = "s"
	answerAllow    = "a"
	answerLeaveOut = "l"
)

// Ask waits for the answer. wanted reports whether the gates are part of the work. goesOn reports
// whether the loop continues, which it also does without an answer. It does not if it must stop or
// begin again.
func (q *redQuestion) Ask(ctx context.Context, g loop.Gates) (wanted, goesOn bool) {
	for _, r := range g.Results {
		if r.Status == gate.Fail {
			q.red = append(q.red, r.Gate)
		}
	}
	choices := []string{
		"Enter: yes, continue (it does so by itself after " + figure.Chosen(redAnswerTimeout) + ")",
		"s: no, stop; I will fix it first",
		"a: no, it may keep failing (baseline = \"allow\")",
	}
	mayLeave := len(gate.Commands(q.passingGates())) > 0 // otherwise no gate would be left
	if mayLeave {
		choices = append(choices, "l: no, leave out the gate "+strings.Join(q.red, ", "))
	}
	q.print(term.Question{
		Text:    fmt.Sprintf("%s: failed before the work. Is that part of this work?", plan.Few(g.Red(), 4)),
		Choices: choices,
	})
	answers := make(chan string, 1)
	go func() {
		if text, err := q.read(); err == nil { // a failed read is no answer
			answers <- strings.ToLower(text)
		}
	}()
	select {
	case answer := <-answers:
		switch answer {
		case answerAllow, answerLeaveOut:
			if answer == answerAllow || mayLeave {
				q.answer = answer
			}
			return false, false
		case answerStop, "n", "no":
			return false, false
		}
		return true, true
	case <-time.After(redAnswerTimeout):
		q.print(term.Note{Level: term.Info, Text: "no answer: continuing"})
	case <-ctx.Done():
	}
	return false, true
}

// apply returns the gates for the run that begins again.
func (q *redQuestion) apply() []gate.Gate {
	if q.answer == answerLeaveOut {
		return q.passingGates()
	}
	gates := slices.Clone(q.gates)
	for i, g := range gates {
		gates[i].AllowBaseline = g.AllowBaseline || slices.Contains(q.red, g.Name)
	}
	return gates
}

// passingGates returns the gates that are not red.
func (q *redQuestion) passingGates() []gate.Gate {
	return slices.DeleteFunc(slices.Clone(q.gates), func(g gate.Gate) bool { return slices.Contains(q.red, g.Name) })
}
