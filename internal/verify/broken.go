package verify

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// maxBroken bounds the files that are looked at for a tree of broken functions: larger
// changes are no one task's work, and more than text.
const maxBroken = 200

// breakable names the functions that the work added or changed, and reports whether one
// was added that can be broken. Where it only changed some, nothing is learnt: as they
// were, the tests were seen to fail.
func (v *Verifier) breakable(ctx context.Context, r Request) (names []string, ok bool, err error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxBroken {
		return nil, false, err
	}
	changed, _, err := v.changedFunctions(ctx, ProofRequest{Before: r.Base, After: r.Tree})
	for _, f := range changed {
		names = append(names, f.Name+" in "+f.Path)
	}
	return names, slices.ContainsFunc(changed, func(f mutant.Function) bool { return f.New }), err
}

// broken is the tree of now, of which nothing is left that the work does: a function
// that it changed is as it was, one that it added returns zero values. What is no
// function is put back as a whole, so that a test which that turned green fails; where
// nothing builds any more, nothing is told.
func (v *Verifier) broken(ctx context.Context, r Request) (string, error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return "", err
	}
	compared, err := v.compareTests(ctx, r)
	if err != nil {
		return "", err
	}
	var back []string
	files := map[string][]byte{}
	for _, c := range changes {
		if v.isTest(c.Path) || v.isMark(c.Path) || slices.Contains(compared.inputs, c.Path) {
			continue
		}
		text, ok, err := v.brokenFile(ctx, r, c)
		if err != nil {
			return "", err
		}
		if ok {
			files[c.Path] = text
		} else {
			back = append(back, c.Path)
		}
	}
	tree, err := v.Repo.Overlay(ctx, r.Tree, r.Base, back)
	if err != nil {
		return "", err
	}
	return v.Repo.WithContent(ctx, tree, files)
}

// brokenFile is a file with each function broken that the work added or changed; false
// where more than functions was changed in it.
func (v *Verifier) brokenFile(ctx context.Context, r Request, c git.Change) ([]byte, bool, error) {
	if c.Status == 'D' || !isFile(c.To) {
		return nil, false, nil
	}
	before, after, err := contents(ctx, v.Repo, r.Base, r.Tree, c)
	if err != nil || !mutant.Within(c.Path, testdiff.Program(c.Path, before), testdiff.Program(c.Path, after)) {
		return nil, false, err
	}
	var all []mutant.Mutant
	for _, f := range mutant.Changed(c.Path, before, after) {
		all = append(all, f.Mutants[0])
	}
	return mutant.Apply(after, all...), true, nil
}
