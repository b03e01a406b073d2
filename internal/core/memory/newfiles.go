package memory

import (
	"cmp"
	"slices"
)

// NewFiles lists the files that were created during the loop by their author, and the authors
// of changes to tracked files. Paths are relative to the root, with slashes.
type NewFiles struct {
	ByUser  Paths  `json:"by_user,omitempty"`  // the user created them
	ByGates Paths  `json:"by_gates,omitempty"` // they appeared while gates ran
	ByAgent Paths  `json:"by_agent,omitempty"` // the agent created them, as far as that is recorded
	Edits   *Edits `json:"edits,omitempty"`    // of tracked files; nil: as before
	// UserEditsAtClaim are the files with edits of the user when the last claim was gated. Its
	// commit leaves them out. nil: as before.
	UserEditsAtClaim *Paths `json:"user_edits_at_claim,omitempty"`
}

// Edits lists the tracked files that changed since a commit, by author.
type Edits struct {
	Since   string `json:"since"`              // the loop's base
	ByUser  Paths  `json:"by_user,omitempty"`  // only the user changed them; the complete current list
	Deleted Paths  `json:"deleted,omitempty"`  // those of ByUser that the user deleted
	ByAgent Paths  `json:"by_agent,omitempty"` // the agent changed them, as far as that is recorded
}

// Merge adds other files. Each file is listed once.
func (n NewFiles) Merge(more NewFiles) NewFiles {
	return NewFiles{
		ByUser: union(n.ByUser, more.ByUser), ByGates: union(n.ByGates, more.ByGates), ByAgent: union(n.ByAgent, more.ByAgent),
		Edits: mergeEdits(n.Edits, more.Edits), UserEditsAtClaim: cmp.Or(more.UserEditsAtClaim, n.UserEditsAtClaim),
	}
}

// mergeEdits adds later edits. A file that the agent changed since a commit remains in
// ByAgent.
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

// ExcludedFiles returns the files that the loop neither commits nor removes.
func (n NewFiles) ExcludedFiles() []string { return slices.Concat(n.ByUser, n.ByGates, n.UserEdits()) }

// WithUserEdits returns a copy with these files as the user's edits.
func (n NewFiles) WithUserEdits(files []string) NewFiles {
	edits := Edits{}
	if n.Edits != nil {
		edits = *n.Edits
	}
	edits.ByUser = files
	n.Edits = &edits
	return n
}

// ClaimUserEdits returns the files with edits of the user when the last claim was gated.
func (n NewFiles) ClaimUserEdits() []string {
	if n.UserEditsAtClaim == nil {
		return nil
	}
	return *n.UserEditsAtClaim
}

// IsClaimUserEdit reports whether a file is in ClaimUserEdits.
func (n NewFiles) IsClaimUserEdit(file string) bool { return slices.Contains(n.ClaimUserEdits(), file) }

// UserEdits returns the tracked files that only the user changed since the loop's base.
func (n NewFiles) UserEdits() []string {
	if n.Edits == nil {
		return nil
	}
	return n.Edits.ByUser
}
