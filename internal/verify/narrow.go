package verify

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// narrow runs gates for some tests only, where their runners can, and as a whole where
// they cannot or such a run tells of no test. No ids stand for all tests.
func narrow(gates []gate.Gate, ids []string, run func([]gate.Gate) ([]gate.Result, error)) ([]gate.Result, error) {
	few := slices.Clone(gates)
	narrowed := map[string]bool{}
	for i, g := range few {
		if command, ok := testreport.Only(g.ShellCommand(), ids); ok {
			few[i].Command, few[i].Argv = command, nil
			narrowed[g.Name] = true
		}
	}
	results, err := run(few)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if !narrowed[r.Gate] || r.Status == gate.Unknown || r.BuildFailed || len(r.Tests)+r.Passed+r.Failed > 0 {
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

// only returns the gates of these names.
func only(gates []gate.Gate, names []string) []gate.Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return !slices.Contains(names, g.Name) })
}
