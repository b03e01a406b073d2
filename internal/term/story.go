package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/figure"
)

// story remembers the state of the loop and its task that the lines of later events need.
type story struct {
	zone        *time.Location
	attached    bool
	detachable  bool      // the key d detaches
	startedAt   time.Time // start of the loop
	task        TaskStarted
	turn        TurnActivity
	turnStarted time.Time
	waiting     *Waiting
	isAsking    bool // the block leaves room for what the user types
	ended       bool
}

func newStory(o Options) *story {
	return &story{zone: o.Zone, attached: o.Attached, detachable: o.Detachable, turn: TurnActivity{ContextPercent: -1}}
}

// update updates the state by an event.
func (s *story) update(e Event, now time.Time) {
	if _, ok := e.(Note); !ok && s.waiting != nil {
		s.waiting, s.turnStarted = nil, now // the turn continues now
	}
	_, s.isAsking = e.(Question)
	switch e := e.(type) {
	case LoopStarted:
		s.startedAt = now
	case TaskStarted:
		s.task, s.turnStarted = e, now
		s.turn.Doing = ""
	case TurnActivity:
		if e.Iteration != s.turn.Iteration {
			s.turnStarted = now
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

// timeOrDay formats a time, with its date if it is not today. The wait for a weekly limit can take
// days.
func timeOrDay(at, now time.Time) string {
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("Mon 2 Jan 15:04")
}

// lines returns the permanent lines of an event.
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

// header returns lines that name the goal, the gates, and the limits at the start of a loop.
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
		out = append(out, labelled(firstLabel(i, "with"), dim, firstLabel(i, "sandbox ")+Clean(words)))
	}
	if e.Kind != "" {
		out = append(out, labelled("kind", dim, Clean(e.Kind)))
	}
	return append(out, labelled("ends", dim, endText(e)+s.keys()))
}

func endText(e LoopStarted) string {
	when := "when the goal is reached"
	switch {
	case e.Kind == "explore" || e.Kind == "periodic": // these end at a limit
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
		if e.Resumed { // the limits include earlier usage
			when += " in all"
		}
	}
	return when
}

// keys returns the keys that work in the current state.
func (s *story) keys() string {
	stop := "Ctrl-C keeps the work"
	switch {
	case s.attached:
		stop = "Ctrl-C only detaches"
	case s.detachable:
		stop = "d detaches, Ctrl-C ends and keeps the work"
	}
	return " · " + stop + ` · pawl tell . "…" sends a message`
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

// titleWidth is the width of a task's title in columns; longer titles are cut.
const titleWidth = 30

// taskLine starts a line about a task with its mark, number and name.
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

// place returns the running task, with id and title of the event.
func (s *story) place(id, title string) TaskStarted {
	t := s.task
	t.ID, t.Title = id, title
	return t
}

func taskEnded(e TaskEnded) line {
	mark := span{red, "✗"}
	switch e.Result {
	case "proven", "reviewed", "unproven", "unknown", "done":
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

// activity returns the line about the current activity.
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
	if took := now.Sub(s.turnStarted); !s.turnStarted.IsZero() && took >= time.Second {
		parts = append(parts, figure.Duration(took))
	}
	if s.turn.Doing != "" { // it comes last because it may be cut
		parts = append(parts, Clean(s.turn.Doing))
	}
	return taskLine(span{cyan, "●"}, s.task, text(strings.Join(parts, " · ")))
}

// figures returns the line with the cost so far.
func (s *story) figures(now time.Time) line {
	var parts []string
	if s.turn.ContextPercent >= 0 {
		parts = append(parts, fmt.Sprintf("context %d %%", s.turn.ContextPercent))
	}
	if s.turn.Tokens > 0 || s.turn.CostUSD > 0 { // not every agent reports these
		parts = append(parts, figure.Tokens(s.turn.Tokens)+" tokens", figure.Money(s.turn.CostUSD))
	}
	parts = append(parts, figure.Duration(now.Sub(s.startedAt)))
	return line{{dim, "         " + strings.Join(parts, " · ")}}
}
