package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

type listCmd struct {
	All  bool `help:"list the loops of every repository; default: this one, all its worktrees"`
	JSON bool `name:"json" help:"print a JSON array (docs/reference/list.schema.json)"`
}

// listed returns all loops and warns of those that cannot be read.
func (a *app) listed() ([]record.Entry, error) {
	listed, err := record.List(a.store)
	for _, l := range listed {
		if l.Err != nil {
			term.Warnf(a.Err, "%s", l.Err)
		}
	}
	return listed, err
}

// summaries returns the current state of the loops whose root fits, the newest first.
func (a *app) summaries(fits func(root string) bool) ([]record.Summary, error) {
	listed, err := record.List(a.store)
	var out []record.Summary
	for _, l := range listed {
		if sum := loopinfo.CurrentSummary(l); sum.Root != "" && fits(sum.Root) {
			out = append(out, sum)
		}
	}
	return out, err
}

// Run lists loops, the newest first.
func (c *listCmd) Run(a *app) error {
	listed, err := record.List(a.store)
	if err != nil {
		return err
	}
	root := a.root()
	here, where := record.SameRepository(root), c.All
	rows := []record.Summary{}
	for _, l := range listed {
		sum := loopinfo.CurrentSummary(l)
		if sum.Root != "" && !c.All && !here(sum.Root) {
			continue
		}
		if l.Err != nil {
			term.Warnf(a.Err, "%s", l.Err)
		}
		if sum.Root == "" {
			continue // its spec cannot be read
		}
		rows, where = append(rows, sum), where || sum.Root != root
	}
	if c.JSON {
		return a.printJSON(rows)
	}
	switch {
	case len(rows) > 0:
		a.printLoops(rows, where)
	case len(listed) == 0:
		a.printf("there is no loop yet: pawl run starts one\n")
	case c.All:
		a.printf("none of the loops here can be read\n")
	default:
		a.printf("there is no loop here; pawl list --all shows loops in other folders\n")
	}
	for _, words := range launch.NotFollowed(a.env, a.root()) {
		a.printf("%s\n", words)
	}
	return nil
}

// printLoops prints the loops, with their folders if where is true.
func (a *app) printLoops(rows []record.Summary, where bool) {
	place := ""
	if where {
		place = "\tWHERE"
	}
	lines := []string{"LOOP\tSTATE\tDONE\tITERATION\tCOST\tSTARTED\tGOAL" + place}
	for _, r := range rows {
		if where {
			place = "\t" + plan.OneLine(r.Root, 0)
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s\t%s%s", r.ID, loopinfo.StateOrOutcome(r), cmp.Or(r.TaskProgress(), "-"), r.Iteration,
			narrate.Cost(r), formatMinute(r.StartedAt), r.Goal, place))
	}
	a.printTable(lines)
}

// printTable prints lines whose cells are separated by tabs.
func (a *app) printTable(lines []string) {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(w, strings.Join(lines, "\n")+"\n")
	_ = w.Flush() // writing to memory does not fail
	a.printf("%s", out.String())
}

// formatMinute returns a time for a list, "-" for none.
func formatMinute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}
