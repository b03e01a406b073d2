package record

import "slices"

// NewFiles are files that appeared during the loop, relative to the root, slashes.
type NewFiles struct {
	Yours   []string `json:"yours,omitempty"`    // the user made them
	ByGates []string `json:"by_gates,omitempty"` // they appeared while gates ran
	ByAgent []string `json:"by_agent,omitempty"` // the agent made them, as far as that is kept
}

// With adds others. Each file is named once.
func (n NewFiles) With(more NewFiles) NewFiles {
	return NewFiles{Yours: with(n.Yours, more.Yours), ByGates: with(n.ByGates, more.ByGates), ByAgent: with(n.ByAgent, more.ByAgent)}
}

func with(known, more []string) []string {
	known = slices.Clip(known)
	for _, file := range more {
		if !slices.Contains(known, file) {
			known = append(known, file)
		}
	}
	return known
}

// LeftAlone are those that the loop neither commits nor removes.
func (n NewFiles) LeftAlone() []string { return slices.Concat(n.Yours, n.ByGates) }
