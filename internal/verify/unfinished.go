package verify

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// unfinished looks for work that the program has nothing of: new functions that are not
// written yet, and functions that only tests call.
func (v *Verifier) unfinished(ctx context.Context, r Request, o *gate.Observation) error {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(o.Functions) == 0 || len(changes) > maxBroken {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return v.isTest(c.Path) || v.isMark(c.Path) })
	programs, err := inspection{repo: v.Repo, r: SignRequest{Tests: v.Tests, After: r.Tree}, changes: changes}.programText(ctx)
	if err != nil {
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
	var unused []string
	whole := true // nothing but functions changed
	for _, c := range changes {
		if c.Status == 'D' || !mutant.Knows(c.Path) {
			whole = false
			continue
		}
		was, is, err := contents(ctx, v.Repo, r.Base, r.Tree, c)
		if err != nil {
			return err
		}
		whole = whole && mutant.Within(c.Path, was, is)
		for _, f := range mutant.Stubs(c.Path, was, is) {
			if !strings.Contains(f.Name, ".") && !isNamed(f.Name, all.String(), 1) && !isNamed(f.Name, programs, 2) {
				o.Unwritten = append(o.Unwritten, f.Name+" in "+c.Path)
			}
		}
		for _, f := range mutant.Unused(c.Path, was, is, programs) {
			if !isNamed(f.Name, r.Asked, 1) {
				unused = append(unused, f.Name+" in "+c.Path)
			}
		}
	}
	if whole && len(unused) == len(o.Functions) {
		o.Uncalled = unused
	}
	return nil
}

// isNamed reports whether a text has a name so many times.
func isNamed(name, text string, times int) bool {
	return len(regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).FindAllStringIndex(text, times)) == times
}
