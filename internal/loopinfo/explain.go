package loopinfo

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
)

// Explanation lists why a loop went as it did.
type Explanation struct {
	Loop  string `json:"loop"`
	Steps []Step `json:"steps"`
}

// Step is one event and the resulting decision.
type Step struct {
	Seq       int64          `json:"seq"` // number of the record in the journal
	At        time.Time      `json:"at"`
	Iteration int            `json:"iteration"` // iteration of the event; the decision may start the next one
	Task      string         `json:"task,omitempty"`
	Event     loop.EventKind `json:"event"`
	Happened  string         `json:"happened"`
	Decided   []string       `json:"decided"`
	Because   []string       `json:"because"` // the numbers behind the decision
	Phase     loop.Phase     `json:"phase"`   // the phase after the event
}

// Explain replays the journal. iteration 0 means all of it. Other numbers include the event that started
// the iteration.
func (s *Loop) Explain(iteration int) Explanation {
	out := Explanation{Loop: s.ID, Steps: []Step{}}
	var state loop.State
	for r, err := range s.Records(journal.Mark{}) {
		if err != nil || r.Type != memory.TypeEvent {
			continue // pawl log reports damage
		}
		t := narrate.StepOf(r, state)
		state = t.After
		starts := t.After.Iteration == iteration && t.Before.Iteration == iteration-1
		if iteration > 0 && t.Before.Iteration != iteration && !starts {
			continue
		}
		out.Steps = append(out.Steps, explainRecord(r, t))
	}
	return out
}

// explainRecord returns one event with its decision.
func explainRecord(r journal.Record, t narrate.Step) Step {
	return Step{
		Seq: r.Seq, At: r.At, Iteration: t.Before.Iteration, Task: cmp.Or(t.Before.Current, t.After.Current), Event: t.Event.Kind(),
		Happened: term.Clean(t.Sentence()), Decided: cleanAll(t.Decided()), Because: cleanAll(t.Because()), Phase: t.After.Phase,
	}
}

func cleanAll(lines []string) []string {
	for i := range lines {
		lines[i] = term.Clean(lines[i])
	}
	return lines
}

// Text returns a step for people.
func (e Step) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", e.At.Local().Format(time.TimeOnly), e.happenedText())
	for _, d := range e.Decided {
		fmt.Fprintf(&b, "          so: %s\n", d)
	}
	for _, w := range e.Because {
		fmt.Fprintf(&b, "              because: %s\n", w)
	}
	return b.String()
}

// happenedText says what happened.
func (e Step) happenedText() string {
	if e.Happened == "" {
		return "nothing to report in the work tree"
	}
	return e.Happened
}

// TimedLines returns the lines of a record, each with its newline, the first with its time of day.
func TimedLines(r journal.Record, step narrate.Step) []string {
	lines := step.Lines(r)
	for i, line := range lines {
		stamp := "        "
		if i == 0 {
			stamp = r.At.Local().Format(time.TimeOnly)
		}
		lines[i] = stamp + "  " + term.Clean(line) + "\n"
	}
	return lines
}

// cleanLines removes terminal control characters from a text and keeps its lines.
func cleanLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = term.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
