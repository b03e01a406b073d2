package config

import (
	"fmt"
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Guard holds the user's additions to the guard's rules. An entry is the id of a rule (push),
// the words of a command (npm publish), or a path or glob (write:dist/**). See
// guard.ParsePattern. Entries of all layers apply. Deny wins over ask, ask wins over allow.
// Entries of allow and ask in a repository's file need trust, because both loosen a rule. No
// entry loosens guard.RuleState.
type Guard struct {
	Allow             []string `json:"allow,omitempty" merge:"add" doc:"what the guard allows although a rule denies it; a repository's file needs trust for it"`
	Deny              []string `json:"deny,omitempty" merge:"add" doc:"what the guard denies; wins over allow and ask"`
	Ask               []string `json:"ask,omitempty" merge:"add" doc:"what the guard asks the user about, also if a rule denies it; without a user it is denied; a repository's file needs trust for it"`
	ProtectedBranches []string `json:"protected_branches,omitempty" merge:"add" doc:"further branches that only the user may change, as names or globs such as release/*"`
}

// patterns returns the lists whose entries are patterns, with their keys.
func (g *Guard) patterns() []guardList {
	return []guardList{{"allow", &g.Allow}, {"deny", &g.Deny}, {"ask", &g.Ask}}
}

// lists returns all lists with their keys: those of patterns, and the protected branches.
func (g *Guard) lists() []guardList {
	return append(g.patterns(), guardList{"protected_branches", &g.ProtectedBranches})
}

// guardList is one list of the guard and its key in the table.
type guardList struct {
	key     string
	entries *[]string
}

func (g *Guard) decode(at string, v any, lines map[string]int) error {
	was := *g
	if err := decodeTable(g, at, v, lines); err != nil {
		return err
	}
	for i, l := range g.patterns() {
		from := len(*was.patterns()[i].entries)
		for n, text := range (*l.entries)[from:] {
			if _, err := guard.ParsePattern(text); err != nil {
				return patternError(fmt.Sprintf("%s[%d]", join(at, l.key), n), text, err)
			}
			if l.key != "deny" && strings.TrimSpace(text) == guard.RuleState {
				return &problem{
					path: fmt.Sprintf("%s[%d]", join(at, l.key), n), message: "no setting can lift the rule " + guard.RuleState,
					hint: "remove the entry: the agent may never change Pawl's state or run its controls",
				}
			}
		}
	}
	for n, glob := range g.ProtectedBranches[len(was.ProtectedBranches):] {
		if _, err := path.Match(glob, ""); err != nil {
			return wantError(fmt.Sprintf("%s[%d]", join(at, "protected_branches"), n), "a branch or a glob such as release/*", glob)
		}
	}
	return nil
}

// patternError returns the error for an invalid entry. Its hint names the most similar rule.
func patternError(at, text string, err error) error {
	p := &problem{path: at, message: err.Error(), hint: "pawl guard list  shows the rules"}
	var ids []string
	for _, r := range guard.Catalogue() {
		ids = append(ids, r.ID)
	}
	if near := failure.Nearest(text, ids); near != "" {
		p.hint = fmt.Sprintf("did you mean %s?", near)
	}
	return p
}

// recordGuardSources records the source of each entry that a layer added to the guard's lists.
func (s *Settings) recordGuardSources(l Layer, was Guard) {
	before := was.lists()
	for i, now := range s.Guard.lists() {
		from, key := len(*before[i].entries), "guard."+now.key
		for n := from; n < len(*now.entries); n++ {
			s.Sources[fmt.Sprintf("%s[%d]", key, n)] = l.source(fmt.Sprintf("%s[%d]", key, n-from))
		}
	}
}

// summary returns the entries of all lists on one line.
func (g *Guard) summary() string {
	var said []string
	for _, l := range g.lists() {
		if len(*l.entries) > 0 {
			said = append(said, strings.ReplaceAll(l.key, "_", " ")+" "+strings.Join(*l.entries, ", "))
		}
	}
	return strings.Join(said, "; ")
}
