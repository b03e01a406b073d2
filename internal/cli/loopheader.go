package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

// openingText describes a loop that begins in a session. If begun is nil, nothing has begun.
func openingText(p *launch.Prepared, begun *launch.SessionLoop) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-7s  %s\n", name, term.Clean(plan.OneLine(fmt.Sprintf(format, args...), 0)))
	}
	s := p.Spec
	if begun == nil {
		b.WriteString("a loop would start in this session\n")
	} else {
		fmt.Fprintf(&b, "loop %s %s\n", begun.Loop.ID, beginWords(begun.Memory.State))
	}
	line("goal", "%s", s.Goal())
	loopinfo.Rows(line, "kind", narrate.Kind(s.Policy))
	if p.Goal.Plan != nil {
		open := s.Tasks.Count(loop.Open)
		line("tasks", "%d open, %d done", open, len(s.Tasks)-open)
	}
	openingGates(line, p, begun)
	loopinfo.Rows(line, "tries", isolationWords(s))
	line("limits", "%s", openingLimits(p))
	if s.Policy.Handover {
		line("then", "%s", handoverWords(s.Policy))
	}
	line("tree", "%s", treeWords(p.Spec.Repository))
	loopinfo.Rows(line, "sandbox", p.Sandbox(context.Background()).Lines(true)...)
	if begun != nil {
		line("steer", `pawl status %s, pawl tell %[1]s "…", pawl pause %[1]s, pawl stop %[1]s`, begun.Loop.ID)
	}
	return b.String()
}

// beginWords says how a loop starts. A loop over a finished plan ends at once.
func beginWords(st loop.State) string {
	switch st.Phase {
	case loop.Ended:
		return fmt.Sprintf("has ended at once, %s: %s", st.Outcome, st.Reason)
	case loop.Paused:
		return "is in this session, paused before its first turn"
	}
	return "starts in this session"
}

// isolationWords says when a loop retries a failed command goal in isolated sessions. It returns ""
// for other loops, for those with a handover, and if the iteration limit comes first.
func isolationWords(s record.Spec) string {
	is := s.Isolation
	if is == nil || s.Policy.Handover {
		return ""
	}
	tries, most := cmp.Or(s.Policy.Tries, defaultTries), s.Policy.Limits.Iterations
	fewest := tries
	if s.Policy.Tries == 0 {
		fewest = defaultSameTries
	}
	text := "after " + triesWords(tries) + " here"
	switch {
	case most > 0 && most <= fewest:
		return ""
	case most > 0 && most <= tries:
		text = "if the same test fails twice here"
	case fewest < tries:
		text += " (2 if the same test fails twice)"
	}
	text += ", each in an isolated session"
	var bounds []string
	if is.MaxCostUSD > 0 {
		bounds = append(bounds, figure.Money(is.MaxCostUSD))
	}
	if is.Timeout > 0 {
		bounds = append(bounds, figure.Chosen(is.Timeout))
	}
	if len(bounds) > 0 {
		text += ": at most " + strings.Join(bounds, " and ")
	}
	all := is.MaxCostUSD * float64(max(most-fewest, 0))
	if limit := s.Policy.Limits.CostUSD; limit > 0 && (all == 0 || limit < all) {
		all = limit
	}
	if all > 0 {
		text += fmt.Sprintf("; at most %s in all (--max-cost)", figure.Money(all))
	}
	return text
}

// handoverWords says when a loop leaves its session.
func handoverWords(p loop.Policy) string {
	return fmt.Sprintf("continues in fresh sessions when %d %% of the context are full, or %s failed here", p.HandoverAt, triesWords(p.Tries))
}

// defaultTries is the default number of tries in a session. defaultSameTries is that number if they fail in the
// same way.
const (
	defaultTries     = 3
	defaultSameTries = 2
)

func triesWords(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", cmp.Or(n, defaultTries))
}

func openingGates(line func(string, string, ...any), p *launch.Prepared, begun *launch.SessionLoop) {
	for _, words := range gatesWords(p.Spec.Verification, begun) {
		line("gate", "%s", words)
	}
	switch {
	case begun != nil && begun.GatesRunning:
		line("", "the gates still run on the unchanged tree: change nothing until Pawl tells you to start")
	case p.OnlyReviews():
		line("", "%s:", reviewsAlone)
		line("", "%s", reviewsHint)
	case len(p.Spec.Gates) > 0 || p.Spec.Policy.Kind != loop.Change: // it has gates, or its kind needs none
	case len(p.Suggested) > 0:
		line("gate", "%s. The files here suggest --gate '%s'", noGate, p.Suggested[0])
	default:
		line("gate", "%s. --gate 'CMD' names a command that must pass", noGate)
	}
}

const noGate = "none: it can only end unverified"

// gatesWords returns the gates with their first results.
func gatesWords(s record.Verification, begun *launch.SessionLoop) []string {
	results := map[string]gate.Result{}
	if begun != nil {
		for _, r := range begun.Memory.Results {
			results[r.Gate] = r
		}
	}
	var out []string
	for _, g := range s.Gates {
		text := displayGate(g).Name
		if r, ok := results[g.Name]; ok {
			text += " (" + map[bool]string{true: "passes now", false: "fails now"}[r.Status == gate.Pass] + narrate.TestCounts(r) + ")"
		}
		out = append(out, text)
	}
	return out
}

func openingLimits(p *launch.Prepared) string {
	l := p.Spec.Policy.Limits
	if p.UsesDefaultLimit() {
		rest := l
		rest.Iterations = 0
		text := fmt.Sprintf("%d iterations (the default; --max-iterations N)", l.Iterations)
		if others := narrate.Limits(rest); others != "" {
			text += ", " + others
		}
		return text
	}
	return limits(l)
}

func treeWords(s record.Repository) string {
	switch {
	case s.Shadow:
		return "no git here: snapshots go to a separate repository of Pawl"
	case s.NoCommit:
		return "no commits, no restores, no branch switch; --commit commits verified work"
	}
	return "verified work is committed to " + s.Branch
}

// adoptionText says in a few lines that Pawl continues the loop of another tool's files: the user did not
// ask for it by name.
func adoptionText(p *launch.Prepared, begun *launch.SessionLoop, remark string) string {
	s, id := p.Spec, begun.Loop.ID
	lives := "is now run by Pawl"
	if begun.Memory.State.Phase == loop.Ended {
		lives = beginWords(begun.Memory.State)
	}
	lines := []string{
		fmt.Sprintf("loop %s %s, from %s: ! pawl status %[1]s, ! pawl stop %[1]s", id, lives, cmp.Or(s.CompatFile, s.Plan)),
		adoptedGateWords(p, begun) + " · limits " + limits(s.Policy.Limits),
	}
	if s.Policy.Handover {
		lines = append(lines, handoverWords(s.Policy))
	} else if words := isolationWords(s); words != "" {
		lines = append(lines, "tries "+words)
	}
	if remark != "" {
		lines = append(lines, remark)
	}
	for i, line := range lines {
		lines[i] = term.Clean(plan.OneLine(line, 0))
		if i > 0 {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// adoptedGateWords says which gates an adopted loop has.
func adoptedGateWords(p *launch.Prepared, begun *launch.SessionLoop) string {
	switch words := gatesWords(p.Spec.Verification, begun); {
	case p.Spec.Policy.Kind != loop.Change:
		return narrate.Kind(p.Spec.Policy)
	case len(words) > 0:
		return "gate " + strings.Join(words, ", ")
	case len(p.Suggested) > 0:
		return "gate " + noGate + " (gates = [\"" + p.Suggested[0] + "\"] in pawl.toml)"
	}
	return "gate " + noGate + " (gates in pawl.toml name commands that must pass)"
}
