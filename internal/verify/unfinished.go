package verify

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
)

// unfinished looks for new functions that are not written yet, and that nothing calls.
func (v *Verifier) unfinished(ctx context.Context, r Request, o *gate.Observation) error {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(o.Functions) == 0 || len(changes) > maxBroken {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return v.isTest(c.Path) || v.isMark(c.Path) })
	in := inspection{repo: v.Repo, r: SignRequest{Tests: v.Tests, Before: r.Base, After: r.Tree}, changes: changes}
	if err := in.readPrograms(ctx); err != nil {
		return err
	}
	tests, err := v.Repo.Contents(ctx, r.Tree, maxTestsRead, maxTextRead, v.isTest)
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
		was, is, err := contents(ctx, v.Repo, r.Base, r.Tree, c)
		if err != nil {
			return err
		}
		for _, f := range mutant.Stubs(c.Path, was, is) {
			if !strings.Contains(f.Name, ".") && !isNamed(f.Name, all.String(), 1) && !isNamed(f.Name, in.programs, 2) {
				o.Unwritten = append(o.Unwritten, f.Name+" in "+c.Path)
			}
		}
	}
	return nil
}

// isNamed reports whether a text has a name so many times.
func isNamed(name, text string, times int) bool {
	return len(regex.New(`\b`+regexp.QuoteMeta(name)+`\b`).FindAllStringIndex(text, times)) == times
}
