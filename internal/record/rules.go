package record

import (
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/store"
)

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

// GuardRules are the rules of a loop that lives in a session, at its root. The
// hook judges every tool call, so no more of what was asked is read than they
// need.
func GuardRules(l *store.Loop, p Places) (guard.Rules, error) {
	var kept struct {
		Root string `json:"root"`
		Spec struct {
			Branch string `json:"branch"`
			Home   string `json:"home"`
		} `json:"spec"`
	}
	if err := l.SpecInto(&kept); err != nil {
		return guard.Rules{}, err
	}
	p.Root = kept.Root
	return Spec{Branch: kept.Spec.Branch, Home: kept.Spec.Home}.Rules(p), nil
}
