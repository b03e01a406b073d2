package cli

import (
	"cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

// newShow prints the header of a loop that begins, or the progress of one that continues.
func newShow(out term.Printer, d *launch.Driver) (*show, error) {
	at := loop.State{Tasks: d.Spec.Tasks, Policy: d.Spec.Policy}
	var doubtful, uncommitted []string
	var unsigned memory.Unsigned
	if d.Resumed {
		m, err := launch.LoadResumable(d.Loop)
		if err != nil {
			return nil, err
		}
		doubtful, uncommitted, unsigned = m.PossibleUserChanges, m.Uncommitted, m.Unsigned
		if at = m.State; at.Phase == loop.Ended {
			at = at.Extended(d.NewLimits)
		}
	}
	limits := at.Policy.Limits
	s := &show{out: out, spec: d.Spec, id: d.Loop.ID, stateDir: d.StateDir, context: -1, userCommit: d.UserCommit, excludedFiles: d.UserFiles, uncommitted: uncommitted, unsigned: unsigned, possibleUserChanges: doubtful}
	from := loopinfo.StartCommit(d.Spec.Repository)
	if home := d.Spec.StartBranch; home != "" && home != d.Spec.Branch {
		from = home + " " + from
	}
	started := term.LoopStarted{
		Loop: d.Loop.ID, Source: cmp.Or(d.Spec.Plan, plan.OneLine(d.Spec.Prompt, 60)), Agent: d.Spec.Agent.Name, AgentVersion: d.Version,
		Branch: commitBranch(d.Spec.Repository), From: from, Resumed: d.Resumed, Done: at.Tasks.Count(loop.Done),
		MaxIterations: limits.Iterations, MaxDuration: term.Span(limits.Duration), MaxCostUSD: limits.CostUSD, CostUnknown: d.Spec.Agent.ReportsNoCost(), Sandbox: d.Sandbox.Lines(false),
	}
	switch {
	case d.Spec.UsesWorktree:
		started.Checkout = "separate worktree: " + d.Spec.WorkTree(d.Loop)
	case !d.Resumed:
		started.Checkout = checkoutWords(d.Spec)
	}
	if d.Spec.AllDone() && !d.Resumed { // it ends at once
		started.Branch = ""
	}
	if d.Spec.Plan != "" {
		started.Open = at.Tasks.Count(loop.Open)
	}
	if kind := d.Spec.Policy.Kind; kind != loop.Change {
		started.Kind = string(kind)
	}
	for _, g := range d.Spec.Gates {
		started.Gates = append(started.Gates, displayGate(g))
	}
	out.Print(started)
	return s, nil
}

// commitBranch returns the branch that the loop commits to, "" if it commits to none.
func commitBranch(spec record.Repository) string {
	if spec.NoCommit {
		return ""
	}
	return spec.Branch
}

// displayGate returns a gate for the screen, with the folder that it runs in.
func displayGate(g gate.Gate) term.Gate {
	if g.Kind == gate.ByReview {
		text := plan.OneLine(g.Name+": "+g.Rubric, 100)
		return term.Gate{Name: text, Command: text}
	}
	out := term.Gate{Name: g.Name, Command: g.Command}
	if g.Dir == "" {
		return out
	}
	out.Command += " (in " + g.Dir + ")"
	if g.Name == g.Command {
		out.Name = out.Command
	}
	return out
}
