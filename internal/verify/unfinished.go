package verify

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// findUnfinished finds new stub functions that nothing calls, and parameters that the task names
// and a function ignores.
func (c *claim) findUnfinished(ctx context.Context) error {
	if len(c.seen.Mutation.Functions) == 0 || len(c.changes) > maxChangedFiles {
		return nil
	}
	tests, err := contentsOf(ctx, c.Repo, c.Tree, c.files.tests, maxTestsRead)
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, text := range tests {
		all.Write(text)
	}
	for _, ch := range c.programs() {
		for _, f := range mutant.Stubs(ch.Path, ch.before, ch.after) {
			if !strings.Contains(f.Name, ".") && !isNamed(f.Name, all.String(), 1) && !isNamed(f.Name, c.signs.programs, 2) {
				c.seen.Work.StubFunctions = append(c.seen.Work.StubFunctions, f.Name+" in "+ch.Path)
			}
		}
		for _, l := range mutant.Literals(ch.Path, ch.before, ch.after) {
			if l.StaysZero && isNamed(l.Variable, c.Asked, 1) {
				c.seen.Work.MissingMeans = append(c.seen.Work.MissingMeans, fmt.Sprintf("%s:%d %s stays 0 in %s", ch.Path, l.Number, l.Variable, l.Function))
			}
		}
		taken, err := c.signs.unread(ctx, sign.NewChange(ch.Path, ch.before, ch.after))
		if err != nil {
			return err
		}
		for _, u := range taken {
			for name := range strings.SplitSeq(u.parameters, ", ") {
				if len(name) > 1 && isNamed(name, c.Asked, 1) {
					c.seen.Work.UnusedParameters = append(c.seen.Work.UnusedParameters, fmt.Sprintf("%s (%s:%d)", name, u.Path, u.Line))
				}
			}
		}
	}
	return nil
}

// isNamed reports whether a text contains a name at least times times.
func isNamed(name, text string, times int) bool {
	return len(regex.New(`\b`+regexp.QuoteMeta(name)+`\b`).FindAllStringIndex(text, times)) == times
}
