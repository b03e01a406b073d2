package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// labelColumn is the column at which the text of the summary's rows begins.
const labelColumn = 16

// summary returns the lines of the end: how the loop ended, its results, and what to do next.
func summary(e LoopEnded) []line {
	st := red
	switch e.ExitCode {
	case 0:
		st = green
	case 3, 10, 11, 12, 14, 130, 143, 129:
		st = yellow
	}
	after := " after " + figure.Duration(time.Duration(e.Duration))
	var parts []string
	if e.Waited > 0 {
		parts = append(parts, figure.Duration(time.Duration(e.Waited))+" of it waiting")
	}
	if e.Tested > 0 {
		parts = append(parts, figure.Duration(time.Duration(e.Tested))+" of it mutation testing")
	}
	if len(parts) > 0 {
		after += " (" + strings.Join(parts, ", ") + ")"
	}
	done := ""
	if e.Progress != "" {
		done = " · " + Clean(e.Progress) + " ·"
	}
	out := []line{
		{},
		{{bold, Clean(e.Loop)}, text(done + " ended "), {st, strings.ToUpper(Clean(e.Outcome))}, text(after)},
	}
	row := func(label, s string) {
		out = append(out, line{{dim, "  " + pad(label, labelColumn-4) + "  "}, text(s)})
	}
	rows := func(label, format string, texts ...string) {
		for _, s := range texts {
			if s = Clean(s); s != "" {
				row(label, fmt.Sprintf(format, s))
				label = ""
			}
		}
	}
	rows("why", "%s", e.Reason)
	for _, t := range e.Tasks {
		label := fmt.Sprintf("%d %s", len(t.Tasks), Clean(t.Result))
		if len(t.Each) == 0 {
			row(label, strings.TrimSpace(ids(t.Tasks)+"   "+Clean(t.Note)))
		}
		rows(label, "%s", t.Each...)
	}
	row("commits", commitsText(e))
	leftRows(e, rows)
	cost := figure.Cost(e.CostUSD, e.CostUnknown) + ", " + figure.Count(e.Iterations, "iteration")
	if !e.CostUnknown {
		cost += ", " + figure.Tokens(e.Tokens) + " tokens"
	}
	row("cost", cost)
	rows("look", "%s", e.Look...)
	for i, n := range e.Next {
		out = append(out, line{{bold, "  " + pad(firstLabel(i, "next"), labelColumn-4) + "  "}, text(Clean(n))})
	}
	return out
}

// commitsText returns how many commits there are, and where.
func commitsText(e LoopEnded) string {
	switch {
	case e.Commits == 0:
		return "none"
	case e.Branch == "":
		return fmt.Sprint(e.Commits)
	}
	return fmt.Sprintf("%d on %s", e.Commits, Clean(e.Branch))
}

// firstLabel returns the label for the first of several rows, "" for the others.
func firstLabel(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

// ids lists the ids of tasks, or only the first ones if there are many.
func ids(tasks []string) string {
	const most = 12
	var out []string
	for i, t := range tasks {
		if i == most {
			out = append(out, fmt.Sprintf("… and %d more", len(tasks)-most))
			break
		}
		out = append(out, cut(Clean(t), titleWidth))
	}
	return strings.Join(out, " ")
}

// leftRows prints the uncommitted files that the loop left, and the files that the agent did not
// get.
func leftRows(e LoopEnded, rows func(label, format string, texts ...string)) {
	rows("yours", "commit %s has your earlier uncommitted changes; git cherry-pick -n %[1]s takes it to another branch", e.UserCommit[:min(len(e.UserCommit), 7)])
	rows("left out", "%s   open in the plan", plan.Few(e.LeftOut, 5))
	rows("left alone", "%s   not the agent's, not in the loop's commits", plan.Few(e.LeftAlone, 5))
	rows("uncommitted", "%s   the branch lacks it", e.Uncommitted...)
	rows("unsigned", "%s", e.Unsigned)
	rows("yours?", "%s", e.PossibleUserChanges...)
	rows("not applied", "an edit of the plan, kept in %s", e.UnappliedEdits...)
	rows("not made", "your edit of the plan: %s", e.EditsNotMade...)
	rows("undelivered", "your message: %s", e.NotDelivered...)
}
