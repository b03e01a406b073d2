package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/figure"
)

// story remembers what the lines of later events refer to: where the loop and
// the task stand.
type story struct {
	zone       *time.Location
	attached   bool
	detachable bool      // by the key d
	began      time.Time // the loop
	task       TaskStarted
	turn       TurnActivity
	turnBegan  time.Time
	waiting    *Waiting
	asking     bool // the block makes room for what the user types
	ended      bool
}

func newStory(o Options) *story {
	return &story{zone: o.Zone, attached: o.Attached, detachable: o.Detachable, turn: TurnActivity{ContextPercent: -1}}
}

// note takes an event in.
func (s *story) note(e Event, now time.Time) {
	if _, ok := e.(Note); !ok && s.waiting != nil {
		s.waiting, s.turnBegan = nil, now // the turn continues now
	}
	_, s.asking = e.(Question)
	switch e := e.(type) {
	case LoopStarted:
		s.began = now
	case TaskStarted:
		s.task, s.turnBegan = e, now
		s.turn.Doing = ""
	case TurnActivity:
		if e.Iteration != s.turn.Iteration {
			s.turnBegan = now
		}
		s.turn = e
	case GateFinished:
		s.turn.Doing = ""
	case TaskEnded:
		s.task = TaskStarted{}
	case Waiting:
		s.waiting = &e
	case LoopEnded:
		s.ended = true
	}
}

// timeOrDay is a time of today, or with its date on another day: a weekly limit ends days later.
func timeOrDay(at, now time.Time) string {
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("Mon 2 Jan 15:04")
}

// lines returns the permanent lines that an event prints.
func (s *story) lines(e Event, now time.Time) []line {
	switch e := e.(type) {
	case LoopStarted:
		return s.header(e)
	case GateFinished:
		return []line{gateLine(e)}
	case ClaimRefused:
		return []line{taskLine(span{yellow, "✗"}, s.place(e.ID, e.Title), text("claim refused: "+Clean(e.Reason)))}
	case TaskEnded:
		return []line{taskEnded(e)}
	case Waiting:
		at := timeOrDay(e.Until.In(s.zone), now.In(s.zone))
		return []line{labelled("wait", yellow, Clean(e.Reason)+", until "+at+" ("+figure.Duration(e.Until.Sub(now))+")")}
	case Question:
		out := []line{labelled("ask", yellow, Clean(e.Text))}
		for _, c := range e.Choices {
			out = append(out, labelled("", dim, Clean(c)))
		}
		return out
	case Note:
		if e.Level == Warn {
			return []line{labelled("note", yellow, Clean(e.Text))}
		}
		return []line{labelled("note", dim, Clean(e.Text))}
	case LoopEnded:
		return summary(e)
	}
	return nil
}

func labelled(label string, st style, rest string) line {
	return line{text("      "), {st, pad(label, 4)}, text("  " + rest)}
}

// header returns the lines that say what begins, which gates decide, and how it ends.
func (s *story) header(e LoopStarted) []line {
	first := []string{Clean(e.Source)}
	switch {
	case e.Open > 0 && e.Done > 0:
		first = append(first, fmt.Sprintf("%s, %d done", figure.Count(e.Open, "open task"), e.Done))
	case e.Open > 0:
		first = append(first, figure.Count(e.Open, "open task"))
	}
	first = append(first, "agent "+strings.TrimSpace(Clean(e.Agent)+" "+Clean(e.AgentVersion)))
	if e.Branch != "" {
		branch := "branch " + Clean(e.Branch)
		if e.From != "" {
			branch += " (from " + Clean(e.From) + ")"
		}
		first = append(first, branch)
	}
	if e.Resumed {
		first = append(first, "resumed")
	}
	out := []line{{{bold, "pawl"}, text("  "), {bold, Clean(e.Loop)}, text(" · " + strings.Join(first, " · "))}}
	for _, g := range e.Gates {
		name := Clean(g.Command)
		if g.Name != "" && g.Name != g.Command {
			name = Clean(g.Name) + ": " + name
		}
		out = append(out, labelled("gate", dim, name))
	}
	if e.Checkout != "" {
		out = append(out, labelled("tree", dim, Clean(e.Checkout)))
	}
	for i, words := range e.Sandbox {
		out = append(out, labelled(only(i, "with"), dim, only(i, "sandbox ")+Clean(words)))
	}
	if e.Kind != "" {
		out = append(out, labelled("kind", dim, Clean(e.Kind)))
	}
	return append(out, labelled("ends", dim, ends(e)+s.keys()))
}

func ends(e LoopStarted) string {
	when := "when the goal is reached"
	switch {
	case e.Kind == "explore" || e.Kind == "periodic": // the limit is the end
		when = "when you stop it"
	case e.Kind == "answer":
		when = "with the answer"
	case e.Open == 1:
		when = "when the task is verified"
	case e.Open > 1 && e.Resumed && e.Done > 0:
		when = fmt.Sprintf("when the other %d are verified", e.Open)
	case e.Open > 1:
		when = fmt.Sprintf("when all %d are verified", e.Open)
	}
	var limits []string
	if e.MaxIterations > 0 {
		limits = append(limits, figure.Count(e.MaxIterations, "iteration"))
	}
	if e.MaxDuration > 0 {
		limits = append(limits, figure.Chosen(time.Duration(e.MaxDuration)))
	}
	if e.MaxCostUSD > 0 {
		limit := figure.Money(e.MaxCostUSD)
		if e.CostUnknown {
			limit += " (no effect: the cost is unknown)"
		}
		limits = append(limits, limit)
	}
	if len(limits) > 0 {
		when += ", or after " + strings.Join(limits, ", ")
		if e.Resumed { // what was before counts
			when += " in all"
		}
	}
	return when
}

// keys returns the keys that work now.
func (s *story) keys() string {
	stop := "Ctrl-C keeps the work"
	switch {
	case s.attached:
		stop = "Ctrl-C only detaches"
	case s.detachable:
		stop = "d detaches, Ctrl-C ends and keeps the work"
	}
	return " · " + stop + ` · pawl tell . "…" to say something`
}

func gateLine(e GateFinished) line {
	mark, st, word := "?", yellow, "could not tell"
	switch e.Result {
	case "pass":
		mark, st, word = "✓", green, "pass"
	case "fail":
		mark, st, word = "✗", red, "fail"
	}
	l := append(labelled("gate", dim, Clean(e.Gate)+"  "), span{st, mark + " " + word})
	rest := "  " + figure.Brief(time.Duration(e.Duration))
	if e.Cached {
		rest = "  same tree as before"
	}
	if e.Clean {
		rest += " in a clean checkout"
	}
	if e.Summary != "" {
		rest += " · " + Clean(e.Summary)
	}
	return append(l, text(rest))
}

// titleWidth is the column of a task's title; longer ones are cut.
const titleWidth = 30

// taskLine begins a line about a task with its mark, place and name.
func taskLine(mark span, t TaskStarted, rest ...span) line {
	where := ""
	if t.Total > 0 {
		where = fmt.Sprintf("%d/%d", t.Index, t.Total)
	}
	name := pad(cut(strings.TrimSpace(Clean(t.ID)+" "+Clean(t.Title)), titleWidth), titleWidth)
	mark.text = " " + mark.text + " "
	if t == (TaskStarted{}) { // between the last task and the end
		return append(line{mark, text(" ")}, rest...)
	}
	return append(line{mark, text(" " + pad(where, 4) + " "), {bold, name}, text("  ")}, rest...)
}

// place is the running task under the name that an event gives it.
func (s *story) place(id, title string) TaskStarted {
	t := s.task
	t.ID, t.Title = id, title
	return t
}

func taskEnded(e TaskEnded) line {
	mark := span{red, "✗"}
	switch e.Result {
	case "proven", "reviewed", "unproven", "unknown":
		if mark = (span{green, "✓"}); e.Review {
			mark = span{yellow, "?"}
		}
	}
	result := Clean(e.Result)
	if e.Evidence != "" {
		result += ": " + Clean(e.Evidence)
	}
	rest := fmt.Sprintf("%-14s %-7s  %s", figure.Count(e.Iterations, "iteration"), figure.Duration(time.Duration(e.Duration)), result)
	l := taskLine(mark, TaskStarted{e.ID, e.Title, e.Index, e.Total}, text(rest))
	if e.Commit != "" {
		l = append(l, span{dim, "   " + Clean(e.Commit)})
	}
	return l
}

// activity is the line of what happens now.
func (s *story) activity(now time.Time) line {
	if s.waiting != nil {
		when := "continues now"
		if left := s.waiting.Until.Sub(now); left > 0 {
			when = "continues in " + figure.Duration(left)
		}
		return taskLine(span{yellow, "◌"}, s.task, text(when+" · "+Clean(s.waiting.Reason)))
	}
	var parts []string
	if s.turn.Iteration > 0 {
		it := fmt.Sprintf("iteration %d", s.turn.Iteration)
		if s.turn.MaxIterations > 0 {
			it += fmt.Sprintf(" of %d", s.turn.MaxIterations)
		}
		parts = append(parts, it)
	}
	if took := now.Sub(s.turnBegan); !s.turnBegan.IsZero() && took >= time.Second {
		parts = append(parts, figure.Duration(took))
	}
	if s.turn.Doing != "" { // last: it may be cut
		parts = append(parts, Clean(s.turn.Doing))
	}
	return taskLine(span{cyan, "●"}, s.task, text(strings.Join(parts, " · ")))
}

// figures is the line of what it has cost so far.
func (s *story) figures(now time.Time) line {
	var parts []string
	if s.turn.ContextPercent >= 0 {
		parts = append(parts, fmt.Sprintf("context %d %%", s.turn.ContextPercent))
	}
	if s.turn.Tokens > 0 || s.turn.CostUSD > 0 { // not every agent tells
		parts = append(parts, figure.Tokens(s.turn.Tokens)+" tokens", figure.Money(s.turn.CostUSD))
	}
	parts = append(parts, figure.Duration(now.Sub(s.began)))
	return line{{dim, "         " + strings.Join(parts, " · ")}}
}
