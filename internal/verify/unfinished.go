package verify

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// findUnfinished finds new stub functions that nothing calls, and parameters that the task names
// and a function ignores.
func (v *Verifier) findUnfinished(ctx context.Context, r Request, o *gate.Observation) error {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(o.ChangedFunctions) == 0 || len(changes) > maxChangedFiles {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return v.isTest(c.Path) || v.isMark(c.Path) })
	in := inspection{repo: v.Repo, r: v.signRequest(r.Base, r.Tree, ""), changes: changes}
	if err := in.readPrograms(ctx); err != nil {
		return err
	}
	tests, err := contentsOf(ctx, v.Repo, r.Tree, v.files.tests, maxTestsRead)
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, text := range tests {
		all.Write(text)
	}
	for _, c := range changes {
		if c.Status == 'D' || !mutant.Knows(c.Path) {
			continue
		}
		was, is, err := contents(ctx, v.Repo, c)
		if err != nil {
			return err
		}
		for _, f := range mutant.Stubs(c.Path, was, is) {
			if !strings.Contains(f.Name, ".") && !isNamed(f.Name, all.String(), 1) && !isNamed(f.Name, in.programs, 2) {
				o.StubFunctions = append(o.StubFunctions, f.Name+" in "+c.Path)
			}
		}
		taken, err := in.unread(ctx, sign.NewChange(c.Path, was, is))
		if err != nil {
			return err
		}
		for _, u := range taken {
			for name := range strings.SplitSeq(u.parameters, ", ") {
				if len(name) > 1 && isNamed(name, r.Asked, 1) {
					o.UnusedParameters = append(o.UnusedParameters, fmt.Sprintf("%s (%s:%d)", name, u.Path, u.Line))
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
