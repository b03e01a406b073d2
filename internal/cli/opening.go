package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

// opening says what begins, for the person; begun is nil where nothing has.
func opening(p *launch.Prepared, begun *launch.Attended) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-7s  %s\n", name, term.Clean(plan.OneLine(fmt.Sprintf(format, args...), 0)))
	}
	s := p.Spec
	if begun == nil {
		b.WriteString("a loop would begin in this session\n")
	} else {
		fmt.Fprintf(&b, "loop %s %s\n", begun.Loop.ID, beginsWords(begun.Memory.State))
	}
	line("goal", "%s", s.Goal())
	if words := kindWords(s.Policy); words != "" {
		line("kind", "%s", words)
	}
	if p.Goal.Plan != nil {
		open := 0
		for _, t := range s.Tasks {
			if t.Status == loop.Open {
				open++
			}
		}
		line("tasks", "%d open, %d done", open, len(s.Tasks)-open)
	}
	openingGates(line, p, begun)
	if words := isolationWords(s); words != "" {
		line("tries", "%s", words)
	}
	line("limits", "%s", openingLimits(p))
	if s.Policy.Handover {
		line("then", "%s", handoverWords(s.Policy))
	}
	line("tree", "%s", treeWords(p))
	if begun != nil {
		line("steer", `pawl status %s, pawl tell %[1]s "…", pawl pause %[1]s, pawl stop %[1]s`, begun.Loop.ID)
	}
	return b.String()
}

// beginsWords says how a loop begins, which may be its end: a plan that is done.
func beginsWords(st loop.State) string {
	switch st.Phase {
	case loop.Ended:
		return fmt.Sprintf("has ended at once, %s: %s", st.Outcome, st.Reason)
	case loop.Paused:
		return "lives in this session, and is held before its first turn"
	case loop.New, loop.Checkpointing, loop.Baseline, loop.Turning, loop.Looking, loop.Judging, loop.Committing,
		loop.Restoring, loop.Waiting, loop.Trying, loop.HandingOver:
	}
	return "begins in this session"
}

// isolationWords says how a loop tries whose goal is that a command succeeds, ""
// for others, and for one that leaves the session instead.
func isolationWords(s record.Spec) string {
	is := s.Isolation
	if is == nil || s.Policy.Handover {
		return ""
	}
	text := fmt.Sprintf("after %s here, each in a session of its own", triesWords(s.Policy.Tries))
	var most []string
	if is.MaxCostUSD > 0 {
		most = append(most, figure.Money(is.MaxCostUSD))
	}
	if is.Timeout > 0 {
		most = append(most, figure.Duration(is.Timeout))
	}
	if len(most) > 0 {
		text += ": at most " + strings.Join(most, " and ")
	}
	return text
}

// handoverWords says when a loop leaves its session.
func handoverWords(p loop.Policy) string {
	return fmt.Sprintf("goes on in fresh sessions when %d %% of the context are full, or %s failed here", p.HandoverAt, triesWords(p.Tries))
}

// triesWords is a number of tries in a session: the usual one where nobody said.
func triesWords(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", cmp.Or(n, 3))
}

func openingGates(line func(string, string, ...any), p *launch.Prepared, begun *launch.Attended) {
	results := map[string]gate.Result{}
	if begun != nil {
		for _, r := range begun.Memory.Results {
			results[r.Gate] = r
		}
	}
	for _, g := range p.Spec.Gates {
		text := shown(g).Name
		if r, ok := results[g.Name]; ok {
			text += " (" + map[bool]string{true: "green now", false: "red now"}[r.Status == gate.Pass] + counted(r) + ")"
		}
		line("gate", "%s", text)
	}
	switch {
	case begun != nil && begun.Driving:
		line("", "the gates still run on the tree as it is: change nothing until you are told")
	case len(p.Spec.Gates) > 0:
	case len(p.Suggested) > 0:
		line("gate", "none: it can only end unverified. The files here suggest --gate '%s'", p.Suggested[0])
	default:
		line("gate", "none: it can only end unverified. --gate 'CMD' names a command that must pass")
	}
}

func openingLimits(p *launch.Prepared) string {
	l := p.Spec.Policy.Limits
	if p.DefaultLimit() {
		rest := l
		rest.Iterations = 0
		text := fmt.Sprintf("%d iterations (the default; --max-iterations N)", l.Iterations)
		if rest != (loop.Limits{}) {
			text += ", " + limits(rest)
		}
		return text
	}
	return limits(l)
}

func treeWords(p *launch.Prepared) string {
	switch {
	case p.Spec.Shadow:
		return "there is no git here: snapshots go to a repository of Pawl's own"
	case p.Spec.NoCommit:
		return "nothing is committed, put back or switched; --commit commits what is verified"
	}
	return "what is verified is committed to " + p.Spec.Branch
}
