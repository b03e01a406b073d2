package memory

import (
	"cmp"
	"slices"
)

// NewFiles lists files that appeared during the loop, relative to the root, with slashes, and tells
// whose the changes of tracked files are.
type NewFiles struct {
	ByUser  Paths  `json:"by_user,omitempty"`  // the user created them
	ByGates Paths  `json:"by_gates,omitempty"` // they appeared while gates ran
	ByAgent Paths  `json:"by_agent,omitempty"` // the agent created them, as far as that is recorded
	Edits   *Edits `json:"edits,omitempty"`    // of tracked files; nil: as before
	// Judged are the user's edits as the last claim was judged with, and which its commit leaves out; nil: as
	// before.
	Judged *Paths `json:"judged,omitempty"`
}

// Edits tells whose the changes of tracked files are since a commit.
type Edits struct {
	Since   string `json:"since"`              // the loop's base
	ByUser  Paths  `json:"by_user,omitempty"`  // only the user changed them: all of these as they stand
	Deleted Paths  `json:"deleted,omitempty"`  // of these, those that they deleted
	ByAgent Paths  `json:"by_agent,omitempty"` // the agent changed them, as far as that is recorded
}

// Merge adds other files. Each file is listed once.
func (n NewFiles) Merge(more NewFiles) NewFiles {
	return NewFiles{
		ByUser: union(n.ByUser, more.ByUser), ByGates: union(n.ByGates, more.ByGates), ByAgent: union(n.ByAgent, more.ByAgent),
		Edits: mergeEdits(n.Edits, more.Edits), Judged: cmp.Or(more.Judged, n.Judged),
	}
}

// mergeEdits adds later edits: what the agent changed since a commit stays its.
func mergeEdits(known, more *Edits) *Edits {
	if known == nil || more == nil || known.Since != more.Since {
		return cmp.Or(more, known)
	}
	merged := *more
	merged.ByAgent = union(known.ByAgent, more.ByAgent)
	return &merged
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

// WithUserEdits returns the same with other edits of the user's.
func (n NewFiles) WithUserEdits(files []string) NewFiles {
	edits := Edits{}
	if n.Edits != nil {
		edits = *n.Edits
	}
	edits.ByUser = files
	n.Edits = &edits
	return n
}

// JudgedEdits returns the user's edits that the last claim was judged with.
func (n NewFiles) JudgedEdits() []string {
	if n.Judged == nil {
		return nil
	}
	return *n.Judged
}

// IsJudgedEdit reports whether a file is one of these.
func (n NewFiles) IsJudgedEdit(file string) bool { return slices.Contains(n.JudgedEdits(), file) }

// UserEdits returns the tracked files that only the user changed since the loop's base.
func (n NewFiles) UserEdits() []string {
	if n.Edits == nil {
		return nil
	}
	return n.Edits.ByUser
}
