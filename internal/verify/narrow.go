package verify

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// narrow runs gates for some tests only, where their runners can, and as a whole where
// they cannot or such a run tells of none of these. No ids stand for all tests.
func narrow(root string, gates []gate.Gate, ids []string, run func([]gate.Gate) ([]gate.Result, error)) ([]gate.Result, error) {
	few, narrowed := forTests(root, gates, ids)
	results, err := run(few)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if !narrowed[r.Gate] || r.Status == gate.Unknown || r.BuildFailed || tellsOf(r, ids) {
			continue
		}
		whole, err := run(gates[i : i+1])
		if err != nil {
			return nil, err
		}
		results[i] = whole[0]
	}
	return results, nil
}

// forTests are the gates narrowed to some tests, and the names of those for which that
// can be. Scripts that name runners are read below root.
func forTests(root string, gates []gate.Gate, ids []string) ([]gate.Gate, map[string]bool) {
	few := slices.Clone(gates)
	narrowed := map[string]bool{}
	for i, g := range few {
		if command, ok := testreport.Only(g.ShellCommand(), ids, filesOf(g, root)); ok {
			few[i].Command, few[i].Argv = command, nil
			narrowed[g.Name] = true
		}
	}
	return few, narrowed
}

// only returns the gates of these names.
func only(gates []gate.Gate, names []string) []gate.Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return !slices.Contains(names, g.Name) })
}

// tellsOf reports whether a run tells of some of these tests. Without ids, any number of
// tests will do.
func tellsOf(r gate.Result, ids []string) bool {
	if len(r.Tests) == 0 {
		return r.Passed+r.Failed+len(r.Failing) > 0
	}
	for told := range r.Tests {
		if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(told, id) }) {
			return true
		}
	}
	return r.Status != gate.Pass // it may have been cut short
}
