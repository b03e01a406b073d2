package cli

import (
	"context"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/term"
)

// Pawl asks about a gate that fails before any work. It is part of the work, or the loop stops, or it
// begins again with the gate allowed or left out.
func TestUserIsAskedAboutFailingGateBeforeWork(t *testing.T) {
	t.Parallel()
	g := loop.Gates{Status: gate.Fail, Results: []gate.Result{{Gate: "test", Status: gate.Pass}, {Gate: "lint", Status: gate.Fail}}}
	for typed, want := range map[string]struct {
		stops  bool
		answer string
	}{
		"": {}, "yes": {}, "s": {stops: true}, "N": {stops: true},
		"a": {true, answerAllow}, "L": {true, answerLeaveOut},
	} {
		t.Run(typed, func(t *testing.T) {
			t.Parallel()
			asked := term.Question{}
			q := &redQuestion{
				gates: []gate.Gate{{Name: "test"}, {Name: "lint"}},
				read:  func() (string, error) { return typed, nil },
				print: func(e term.Event) { asked, _ = e.(term.Question) },
			}
			wanted, goesOn := q.Ask(t.Context(), g)
			if goesOn == want.stops || wanted != goesOn || q.answer != want.answer || asked.Text != "lint: failed before the work. Is that part of this work?" {
				t.Errorf("continues: %v, answer %q, asked %+v", goesOn, q.answer, asked)
			}
			gates := q.apply()
			switch {
			case want.answer == answerLeaveOut && (len(gates) != 1 || gates[0].Name != "test"),
				want.answer == answerAllow && (gates[0].AllowBaseline || !gates[1].AllowBaseline):
				t.Errorf("%+v", gates)
			}
		})
	}
}

// A loop that is stopped meanwhile does not wait for the answer.
func TestQuestionEndsWhenLoopIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	q := &redQuestion{
		read:  func() (string, error) { <-never; return "", nil },
		print: func(term.Event) { cancel() },
	}
	q.Ask(ctx, loop.Gates{})
}

// Without its only command gate, a loop would pay for work that nothing can verify.
func TestOnlyCommandGateCannotBeLeftOut(t *testing.T) {
	t.Parallel()
	asked := term.Question{}
	q := &redQuestion{
		gates: []gate.Gate{{Name: "accept", Command: "sh accept.sh"}, {Name: "style", Kind: gate.ByReview}},
		read:  func() (string, error) { return answerLeaveOut, nil },
		print: func(e term.Event) { asked, _ = e.(term.Question) },
	}
	wanted, goesOn := q.Ask(t.Context(), loop.Gates{Status: gate.Fail, Results: []gate.Result{{Gate: "accept", Status: gate.Fail}}})
	if wanted || goesOn || q.answer != "" || len(asked.Choices) != 3 {
		t.Errorf("wanted %v, continues %v, answer %q, asked %+v", wanted, goesOn, q.answer, asked)
	}
}
