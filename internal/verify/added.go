package verify

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// maxNamesRead bounds the files in which the names of new tests are looked for.
const maxNamesRead = 1000

// addedTests are the tests that the work added, by the gates that can be run for these
// alone. A name that tests had before, in any file, is none: a runner that is asked for it
// would run those too.
func (v *Verifier) addedTests(ctx context.Context, r Request, files []string) (map[string][]string, error) {
	var names []string
	for _, file := range files {
		before, err := v.content(ctx, r.Base, file)
		if err != nil {
			return nil, err
		}
		after, err := v.content(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		names = append(names, testdiff.Added(file, before, after)...)
	}
	if len(names) == 0 {
		return nil, nil
	}
	old, err := v.Repo.Contents(ctx, r.Base, maxNamesRead, maxTextRead, func(file string) bool { return v.isTest(file) && testdiff.Knows(file) })
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		leaf := strings.TrimSpace(name[strings.LastIndexByte(name, '>')+1:])
		for _, text := range old {
			if mutant.Names(string(text), leaf) {
				return true
			}
		}
		return false
	})
	added := map[string][]string{}
	for _, g := range r.Gates {
		if _, ok := testreport.Only(g.ShellCommand(), names, filesOf(g, v.Root)); ok {
			added[g.Name] = names
		}
	}
	return added, nil
}
