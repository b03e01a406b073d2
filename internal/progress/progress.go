// Package progress says how far a loop is: how each task stands, what was spent, and what
// is left. Every surface takes these words from here, so that their figures agree.
//
//	progress.Task(t)  "done, proven · 2 attempts, 3m12s, $0.40 · 1a2b3c4"
//	progress.Left(s)  "about 6m20s, $0.90 (3 tasks; the median of 2 so far: 2m10s, $0.30)"
package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Task says how a task stands, and what it took.
func Task(t loop.Task) string {
	words := string(t.Status)
	switch {
	case t.Earlier:
		words += " before this loop"
	case t.LeftOut:
		words = "left out"
	}
	if t.Evidence != "" {
		words += ", " + string(t.Evidence)
	}
	var took []string
	if t.Turns > 0 {
		took = append(took, figure.Count(t.Turns, "attempt"))
	}
	if t.Took > 0 {
		took = append(took, figure.Duration(t.Took))
	}
	if t.CostUSD > 0 {
		took = append(took, figure.Money(t.CostUSD))
	}
	if len(took) > 0 {
		words += " · " + strings.Join(took, ", ")
	}
	if t.Commit != "" {
		words += " · " + t.Commit[:min(7, len(t.Commit))]
	}
	return words
}

// Spent is the money, the tokens and the time of work. Of turns in a user's session the
// time alone is known.
func Spent(s loop.State) string {
	took := figure.Duration(s.Elapsed())
	if s.Attended && s.Usage == (loop.Usage{}) {
		return took
	}
	return fmt.Sprintf("%s, %s tokens, %s", figure.Money(s.Usage.CostUSD), figure.Tokens(s.Usage.Tokens()), took)
}

// Left is what the open tasks may take, and what tells so; "" if nothing does.
func Left(s loop.State) string {
	e, ok := s.Estimate()
	if !ok {
		return ""
	}
	left, median := figure.Duration(e.Left), figure.Duration(e.Median)
	if e.MedianCost > 0 {
		left, median = left+", "+figure.Money(e.LeftCost), median+", "+figure.Money(e.MedianCost)
	}
	return fmt.Sprintf("about %s (%s; the median of %d so far: %s)", left, figure.Count(e.Open, "open task"), e.Basis, median)
}

// Messages says of those that wait for the agent and those that it read last when they
// were queued, delivered and acknowledged.
func Messages(s loop.State) (lines []string) {
	at := func(what string, t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return what + " " + t.Local().Format(time.TimeOnly)
	}
	for _, m := range slices.Concat(s.Read, s.Messages) {
		times := []string{at("queued", m.At), at("delivered", m.Delivered), at("acknowledged", m.Acknowledged)}
		times = slices.DeleteFunc(times, func(s string) bool { return s == "" })
		lines = append(lines, fmt.Sprintf("%s · %s", plan.OneLine(m.Text, 100), strings.Join(times, ", ")))
	}
	return lines
}
