package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/reason"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
)

type explainCmd struct {
	loopArg
	Iteration *int `arg:"" optional:"" placeholder:"N" help:"only this iteration, from 1"`
	JSON      bool `name:"json" help:"print a JSON object (docs/reference/explain.schema.json)"`
}

// explained is why a loop went as it did.
type explained struct {
	Loop  string          `json:"loop"`
	Steps []explainedStep `json:"steps"`
}

// explainedStep is one event, and the decision that it led to.
type explainedStep struct {
	Seq       int64          `json:"seq"` // of the record in the journal
	At        time.Time      `json:"at"`
	Iteration int            `json:"iteration"` // that the event belongs to; the decision may begin the next
	Task      string         `json:"task,omitempty"`
	Event     loop.EventKind `json:"event"`
	Happened  string         `json:"happened"`
	Decided   []string       `json:"decided"`
	Because   []string       `json:"because"` // the numbers that decided
	Phase     loop.Phase     `json:"phase"`   // what the loop waits for then
}

// Run explains a loop, or one iteration of it.
func (c *explainCmd) Run(a *app, s *subject) error {
	n := 0
	if c.Iteration != nil {
		if n = *c.Iteration; n < 1 || n > s.memory.State.Iteration {
			return failure.New(failure.Usage, fmt.Sprintf("%s has had %s", s.ID, figure.Count(s.memory.State.Iteration, "iteration")), "there is no iteration %d", n)
		}
	}
	e := s.explained(n)
	if c.JSON {
		return a.printJSON(e)
	}
	a.printf("%s  %s\n", s.ID, headline(s, s.summary(), time.Now()))
	last := -1
	for _, step := range e.Steps {
		if step.Iteration != last && step.Iteration > 0 {
			a.printf("\niteration %d, %s\n", step.Iteration, narrate.TaskOf(s.memory.State, step.Task))
		}
		last = step.Iteration
		a.printf("%s", step.text())
	}
	return nil
}

// explained replays the journal. iteration 0 is all of it; else what began the iteration
// comes along.
func (s *subject) explained(iteration int) explained {
	out := explained{Loop: s.ID, Steps: []explainedStep{}}
	var state loop.State
	for r, err := range s.Records(journal.Mark{}) {
		if err != nil || r.Type != memory.TypeEvent {
			continue // pawl log tells of damage
		}
		t := narrate.Read(r, state)
		state = t.After
		begins := t.After.Iteration == iteration && t.Before.Iteration == iteration-1
		if iteration > 0 && t.Before.Iteration != iteration && !begins {
			continue
		}
		out.Steps = append(out.Steps, explain(r, t))
	}
	return out
}

// explain is one event with its decision.
func explain(r journal.Record, t narrate.Step) explainedStep {
	why := reason.Step{Before: t.Before, After: t.After, Event: t.Event, Actions: t.Acts}
	return explainedStep{
		Seq: r.Seq, At: r.At, Iteration: t.Before.Iteration, Task: cmp.Or(t.Before.Current, t.After.Current), Event: t.Event.Kind(),
		Happened: term.Clean(t.Happened()), Decided: cleaned(why.Decided()), Because: cleaned(why.Because()), Phase: t.After.Phase,
	}
}

func cleaned(lines []string) []string {
	for i := range lines {
		lines[i] = term.Clean(lines[i])
	}
	return lines
}

// text is a step as people read it.
func (e explainedStep) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", e.At.Local().Format(time.TimeOnly), e.words())
	for _, d := range e.Decided {
		fmt.Fprintf(&b, "          so: %s\n", d)
	}
	for _, w := range e.Because {
		fmt.Fprintf(&b, "              because: %s\n", w)
	}
	return b.String()
}

// words say what happened.
func (e explainedStep) words() string {
	if e.Happened == "" {
		return "nothing to report in the work tree"
	}
	return e.Happened
}
