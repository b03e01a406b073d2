package report

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

const (
	changesShown = 12 // of a task's changes of tests
	diffShown    = 24 // lines of their diff
)

// changedTests tells what was done to the tests that were there, before all else:
// what changed assertions mean is for a person to read.
func (p *page) changedTests() {
	label := "tests changed"
	say := func(format string, args ...any) {
		p.line(label, format, args...)
		label = ""
	}
	for _, t := range p.State.Tasks {
		if t.Earlier || len(t.Tests)+len(t.Changed) == 0 {
			continue
		}
		say("%s %s%s", name(t), p.standing(t), p.show(t))
		for i, c := range t.Changed {
			if i == changesShown {
				say("and %d more", len(t.Changed)-i)
				break
			}
			say("%s", plan.OneLine(c.String(), 160))
		}
		lines := diffLines(p.Diffs[t.ID])
		for _, line := range lines[:min(len(lines), diffShown)] {
			say("| %s", line)
		}
		if more := len(lines) - diffShown; more > 0 {
			say("| and %d more lines", more)
		}
	}
	for _, a := range p.State.Asks {
		say("the agent asks to change %s%s  →  pawl grant %s", list(a.Paths, 5), reason(a.Why), p.ID)
	}
}

func reason(why string) string {
	if why == "" {
		return ""
	}
	return ": " + plan.OneLine(why, 160)
}

// standing says what the work is worth with and without the changes.
func (p *page) standing(t loop.Task) string {
	granted := !slices.ContainsFunc(t.Changed, func(c loop.TestChange) bool { return !p.State.MayChange(c.Path) })
	switch {
	case len(t.Tests) > 0:
		return "passes only with its own version of existing tests: " + list(t.Tests, 5) + "; if that is right:  pawl grant " + p.ID
	case t.IfGranted != nil:
		return "changed existing tests, and whether the originals pass could not be found out; if that is right:  pawl grant " + p.ID
	case granted:
		return "changed existing tests, which you granted"
	}
	return "changed existing tests; it passes the originals too, or was allowed to"
}

// diffLines are what was taken and added, and in which file.
func diffLines(diff string) []string {
	var lines []string
	was := ""
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "--- "):
			was = strings.TrimPrefix(line, "--- a/")
		case strings.HasPrefix(line, "+++ /dev/null"):
			lines = append(lines, clean("--- "+was))
		case strings.HasPrefix(line, "+++ "):
			lines = append(lines, clean("+++ "+strings.TrimPrefix(line, "+++ b/")))
		case strings.HasPrefix(line, "+"), strings.HasPrefix(line, "-"):
			lines = append(lines, line[:1]+clean(line[1:]))
		}
	}
	return lines
}
