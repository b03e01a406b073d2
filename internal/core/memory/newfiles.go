package memory

import (
	"cmp"
	"slices"
)

// NewFiles lists files that appeared during the loop, relative to the root, with slashes, and those
// that only the user changed since its base.
type NewFiles struct {
	ByUser  Paths `json:"by_user,omitempty"`  // the user created them
	ByGates Paths `json:"by_gates,omitempty"` // they appeared while gates ran
	ByAgent Paths `json:"by_agent,omitempty"` // the agent created them, as far as that is recorded
	// Edited are tracked files that the user changed, all of them as they stand; nil: as before.
	Edited *Paths `json:"edited,omitempty"`
}

// Merge adds other files. Each file is listed once.
func (n NewFiles) Merge(more NewFiles) NewFiles {
	return NewFiles{
		ByUser: union(n.ByUser, more.ByUser), ByGates: union(n.ByGates, more.ByGates), ByAgent: union(n.ByAgent, more.ByAgent),
		Edited: cmp.Or(more.Edited, n.Edited),
	}
}

func union(known, more []string) []string {
	known = slices.Clip(known)
	for _, file := range more {
		if !slices.Contains(known, file) {
			known = append(known, file)
		}
	}
	return known
}

// Untouched returns the files that the loop neither commits nor removes.
func (n NewFiles) Untouched() []string { return slices.Concat(n.ByUser, n.ByGates, n.UserEdits()) }

// UserEdits returns the tracked files that only the user changed since the loop's base.
func (n NewFiles) UserEdits() []string {
	if n.Edited == nil {
		return nil
	}
	return *n.Edited
}
