package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/term"
)

// adoption says, once and in few lines, that another tool's files are a loop of
// Pawl's now: the user did not ask for one by name.
func adoption(p *launch.Prepared, begun *launch.Attended, remark string) string {
	s, id := p.Spec, begun.Loop.ID
	lives := "lives on Pawl's machine now"
	if begun.Memory.State.Phase == loop.Ended {
		lives = beginsWords(begun.Memory.State)
	}
	lines := []string{
		fmt.Sprintf("loop %s %s, from %s: ! pawl status %[1]s, ! pawl stop %[1]s", id, lives, cmp.Or(s.File, s.Plan)),
		judgedWords(p, begun) + " · limits " + limits(s.Policy.Limits),
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

// judgedWords says which gates an adopted loop has.
func judgedWords(p *launch.Prepared, begun *launch.Attended) string {
	switch words := gatesWords(p.Spec.Checks, begun); {
	case p.Spec.Policy.Kind != loop.Change:
		return narrate.Kind(p.Spec.Policy)
	case len(words) > 0:
		return "gate " + strings.Join(words, ", ")
	case len(p.Suggested) > 0:
		return "gate " + noGate + " (gates = [\"" + p.Suggested[0] + "\"] in pawl.toml)"
	}
	return "gate " + noGate + " (gates in pawl.toml name commands that must pass)"
}
