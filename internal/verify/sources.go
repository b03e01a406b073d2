package verify

import (
	"context"
	"path"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/work"
)

// isLinkable reports whether a file is code that an interpreter may find by a link of
// the package's installation, wherever it runs: Python's editable installs.
func (v *Verifier) isLinkable(file string) bool {
	return path.Ext(file) == ".py" && !v.isTest(file) && work.IsSource(file)
}

// withoutSources is the tree of before with the new tests and without such code.
func (v *Verifier) withoutSources(ctx context.Context, r Request, o *gate.Observation) (string, error) {
	tree, err := v.overlay(ctx, r, o.NewTests)
	if err != nil {
		return "", err
	}
	entries, err := v.Repo.Entries(ctx, tree)
	if err != nil {
		return "", err
	}
	var sources []string
	for file := range entries {
		if v.isLinkable(file) {
			sources = append(sources, file)
		}
	}
	slices.Sort(sources)
	return v.Repo.Overlay(ctx, tree, emptyTree(tree), sources)
}
