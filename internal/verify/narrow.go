package verify

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// narrow runs gates for the given tests if their runners can, else whole. It also runs them whole
// if a narrowed run reports none of the tests. No ids means all tests.
func narrow(root string, gates []gate.Gate, ids []string, run func([]gate.Gate) ([]gate.Result, error)) ([]gate.Result, error) {
	few, narrowed := narrowToTests(root, gates, ids)
	results, err := run(few)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if !narrowed[r.Gate] || r.Status == gate.Unknown || r.BuildFailed || reportsAny(r, ids) {
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

// narrowToTests returns the gates narrowed to tests, and the names of those that can be. It reads
// runner scripts below root.
func narrowToTests(root string, gates []gate.Gate, ids []string) ([]gate.Gate, map[string]bool) {
	few := slices.Clone(gates)
	narrowed := map[string]bool{}
	for i, g := range few {
		if command, ok := testreport.OnlyTests(g.ShellCommand(), ids, filesOf(g, root)); ok {
			few[i].Command, few[i].Argv = command, nil
			narrowed[g.Name] = true
		}
	}
	return few, narrowed
}

// gatesNamed returns the gates of these names.
func gatesNamed(gates []gate.Gate, names []string) []gate.Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return !slices.Contains(names, g.Name) })
}

// reportsAny reports whether a run reports some of the tests, or without IDs any test.
func reportsAny(r gate.Result, ids []string) bool {
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
