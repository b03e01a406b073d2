package record

import "github.com/pawl-dev/pawl/internal/core/guard"

// Places are the folders that a loop's guard must know, all absolute.
type Places struct {
	Root  string // the work tree that the agent works in
	State string // Pawl's own folder, closed to the agent
	Home  string // the person's
	Temp  string // for temporary files: may be written although it lies outside
}

// Rules are what the guard holds the loop's agent to.
func (s Spec) Rules(p Places) guard.Rules {
	return guard.Rules{
		Root: p.Root, StateDir: p.State, Home: p.Home, Branch: s.Branch,
		ProtectedBranches: []string{s.Home, "main", "master"}, AllowWriteOutside: []string{p.Temp},
	}
}
