package verify

import (
	"context"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/work"
)

// shadowedDependencies returns the new Python modules that have the name of a dependency which the
// repository still declares. Programs and tests import these instead of the library.
func (in *inspection) shadowedDependencies(ctx context.Context) (found []string, err error) {
	var declared map[string][]byte
	for _, c := range in.first() {
		module := sign.PythonModule(c.Path)
		if c.Status != 'A' || module == "" {
			continue
		}
		if declared == nil {
			files := git.NewSelection(func(file string, _ git.Entry) bool { return work.DeclaresPython(file) })
			if declared, err = contentsOf(ctx, in.repo, in.r.After, files, maxDocumentsRead); err != nil {
				return nil, err
			}
		}
		for _, file := range slices.Sorted(maps.Keys(declared)) {
			if work.DependsOn(file, declared[file], module) {
				found = append(found, c.Path+" takes the place of the library "+module+", which "+file+" declares")
				break
			}
		}
	}
	return found, nil
}
