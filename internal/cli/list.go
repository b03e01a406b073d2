package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

type listCmd struct {
	All  bool `help:"the loops of every repository"`
	JSON bool `name:"json" help:"print a JSON array (docs/reference/list.schema.json)"`
}

func (listCmd) Help() string {
	return `A loop is lost when it has not ended and nobody drives it: pawl resume goes on with it.

  pawl list
  pawl list --all --json | jq '.[] | select(.state == "lost") | .id'`
}

// Run lists loops, the newest first.
func (c *listCmd) Run(a *app) error {
	listed, err := store.List(a.store, runner.Derive)
	if err != nil {
		return err
	}
	root := a.root()
	var rows []listRow
	for _, l := range listed {
		kept, err := l.Loop.Spec()
		if err != nil {
			term.Warnf(a.Err, "%s", err)
			continue
		}
		if !c.All && kept.Root != root {
			continue
		}
		if l.Err != nil {
			term.Warnf(a.Err, "%s", l.Err)
		}
		rows = append(rows, listRow{Summary: a.present(l), kept: kept})
	}
	slices.SortStableFunc(rows, func(x, y listRow) int { return y.kept.CreatedAt.Compare(x.kept.CreatedAt) })
	if c.JSON {
		summaries := make([]runner.Summary, len(rows))
		for i, r := range rows {
			summaries[i] = r.Summary
		}
		return a.printJSON(summaries)
	}
	if len(rows) == 0 {
		a.printf("%s\n", noLoops(c.All, len(listed)))
		return nil
	}
	return a.printTable(rows, c.All)
}

type listRow struct {
	runner.Summary
	kept store.Spec
}

// present is the summary with the state as it is now: the kept one does not know
// whether the loop's process lives.
func (a *app) present(l store.Listed[runner.Summary]) runner.Summary {
	sum := l.Summary
	sum.ID = l.Loop.ID
	if sum.State == "running" || sum.State == "waiting" {
		_, alive, err := l.Loop.Holder()
		sum.State = stateWord(sum.State, alive || err != nil)
	}
	return sum
}

func noLoops(all bool, elsewhere int) string {
	switch {
	case elsewhere == 0:
		return "there is no loop yet: pawl run begins one"
	case all:
		return "there is no loop that can be read"
	}
	return "there is no loop in this repository; pawl list --all shows those of others"
}

func (a *app) printTable(rows []listRow, all bool) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	place := ""
	if all {
		place = "\tWHERE"
	}
	_, _ = fmt.Fprintln(w, "LOOP\tSTATE\tDONE\tITERATION\tCOST\tSTARTED\tGOAL"+place)
	for _, r := range rows {
		if all {
			place = "\t" + plan.OneLine(r.kept.Root, 0)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s%s\n", r.ID, howItStands(r.Summary), doneOf(r.Tasks), r.Iteration,
			term.Money(r.CostUSD), minute(r.StartedAt), goalOf(r.kept), place)
	}
	return w.Flush()
}

// howItStands is the state, or for a loop that ended its outcome.
func howItStands(s runner.Summary) string {
	if s.Outcome != "" {
		return string(s.Outcome)
	}
	return s.State
}

func doneOf(t runner.TaskCount) string {
	return fmt.Sprintf("%d/%d", t.Done, t.Done+t.Open+t.Blocked)
}

// minute is a time for a list; "-" for none.
func minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// asked is the part of a loop's spec that says what it is for. A list reads a
// thousand of them, so it takes no more.
type asked struct {
	Name   string `json:"name"`
	Prompt string `json:"prompt"`
	Plan   string `json:"plan"`
}

func goalOf(kept store.Spec) string {
	var q asked
	if err := json.Unmarshal(kept.Body, &q); err != nil {
		return "?"
	}
	return q.words()
}

func goal(spec runner.Spec) string { return asked{spec.Name, spec.Prompt, spec.Plan}.words() }

// words are what the loop was asked, in few of them.
func (q asked) words() string {
	words := q.Prompt
	if q.Plan != "" {
		words = q.Plan
	}
	if q.Name != "" {
		words = strings.TrimSuffix(q.Name+": "+words, ": ")
	}
	return plan.OneLine(words, 60)
}
