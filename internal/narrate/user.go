package narrate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Tasks returns the ids of the tasks in a step: the current one, and those that the user edited,
// answered or accepted.
func (t Step) Tasks() []string {
	ids := []string{cmp.Or(t.Before.Current, t.After.Current)}
	edits := t.Event.QueuedEdits
	switch e := t.Event.Payload.(type) {
	case loop.PlanEditRequested:
		edits = e.Edits
	case loop.PlanEdited:
		edits = e.Edits
	case loop.Answered:
		if e.Task != "" {
			ids = append(ids, e.Task)
		}
	case loop.Approved:
		ids = append(ids, e.Tasks...)
	}
	for _, edit := range edits {
		ids = append(ids, edit.Task)
	}
	return ids
}

// editText lists edits of the plan, without those that failed: a notice says why.
func editText(edits []plan.Edit) string {
	var words []string
	for _, edit := range edits {
		if edit.Failed == "" {
			words = append(words, edit.String())
		}
	}
	return strings.Join(words, "; ")
}

// Limits lists the limits that are set, such as "25 iterations, 8h, $20.00", "" for none.
func Limits(l loop.Limits) string {
	var parts []string
	add := func(set bool, text string) {
		if set {
			parts = append(parts, text)
		}
	}
	add(l.Iterations > 0, figure.Count(l.Iterations, "iteration"))
	add(l.Duration > 0, figure.Chosen(l.Duration))
	add(l.CostUSD > 0, figure.Money(l.CostUSD))
	add(l.Tokens > 0, figure.Tokens(l.Tokens)+" tokens")
	return strings.Join(parts, ", ")
}

// LimitsChanged says which limits changed between two states.
func LimitsChanged(before, after loop.State) string {
	was, now := before.Policy.Limits, after.Policy.Limits
	var changed []string
	add := func(same bool, what, was, now string) {
		if !same {
			changed = append(changed, fmt.Sprintf("%s %s → %s", what, cmp.Or(was, "unlimited"), cmp.Or(now, "unlimited")))
		}
	}
	set := func(set bool, text string) string {
		if !set {
			return ""
		}
		return text
	}
	add(was.Iterations == now.Iterations, "iterations", set(was.Iterations > 0, strconv.Itoa(was.Iterations)), set(now.Iterations > 0, strconv.Itoa(now.Iterations)))
	add(was.Duration == now.Duration, "time", set(was.Duration > 0, figure.Chosen(was.Duration)), set(now.Duration > 0, figure.Chosen(now.Duration)))
	add(was.CostUSD == now.CostUSD, "cost", set(was.CostUSD > 0, figure.Money(was.CostUSD)), set(now.CostUSD > 0, figure.Money(now.CostUSD)))
	add(was.Tokens == now.Tokens, "tokens", set(was.Tokens > 0, figure.Tokens(was.Tokens)), set(now.Tokens > 0, figure.Tokens(now.Tokens)))
	add(was.Turn == now.Turn, "time of a turn", set(was.Turn > 0, figure.Chosen(was.Turn)), set(now.Turn > 0, figure.Chosen(now.Turn)))
	if len(changed) == 0 {
		return "the limits do not change"
	}
	return "limits changed: " + strings.Join(changed, ", ")
}

// countDelivered counts the messages that were delivered in a turn that ended between two states.
func countDelivered(before, after loop.State) int {
	n := 0
	for _, m := range before.Messages {
		if !m.Delivered.IsZero() && !slices.ContainsFunc(after.Messages, func(kept loop.Message) bool { return kept.ID == m.ID }) {
			n++
		}
	}
	return n
}

// questionText returns a question of the agent.
func questionText(q loop.Question) string {
	return "the agent asks: " + plan.OneLine(q.Text, 300)
}

// clock returns a time of day, with the date if that is not today's.
func clock(at, now time.Time) string {
	if at, now := at.Local(), now.Local(); now.IsZero() || at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04:05")
	}
	return at.Local().Format("2006-01-02 15:04")
}

// TestFiles lists the tests that a user decides about, "any test" for all.
func TestFiles(paths []string) string {
	if len(paths) == 0 || slices.Contains(paths, loop.AllTests) {
		return "any test"
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = plan.OneLine(path, 0)
	}
	return strings.Join(names, ", ")
}
