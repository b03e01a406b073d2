package config

import (
	"fmt"
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Guard is what a user adds to the guard's rules. An entry is the id of a rule
// (push), the shape of a command (npm publish), or a path or glob (write:dist/**);
// see guard.ParsePattern. Entries of all layers count. Deny wins, then ask; what a
// repository's file allows or asks about needs trust, for either loosens a rule. No
// entry loosens guard.RuleState.
type Guard struct {
	Allow             []string `json:"allow,omitempty" merge:"add" doc:"what the guard allows although a rule denies it; a repository's file needs trust for it"`
	Deny              []string `json:"deny,omitempty" merge:"add" doc:"what the guard denies; wins over allow and ask"`
	Ask               []string `json:"ask,omitempty" merge:"add" doc:"what the guard asks the user about, also if a rule denies it; without a user it is denied; a repository's file needs trust for it"`
	ProtectedBranches []string `json:"protected_branches,omitempty" merge:"add" doc:"further branches that only the user may change, as names or globs such as release/*"`
}

// patterns are the lists of patterns, by key.
func (g *Guard) patterns() []list {
	return []list{{"allow", &g.Allow}, {"deny", &g.Deny}, {"ask", &g.Ask}}
}

// lists are all lists.
func (g *Guard) lists() []list {
	return append(g.patterns(), list{"protected_branches", &g.ProtectedBranches})
}

type list struct {
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
				return badPattern(fmt.Sprintf("%s[%d]", join(at, l.key), n), text, err)
			}
			if l.key != "deny" && strings.TrimSpace(text) == guard.RuleState {
				return &problem{
					path: fmt.Sprintf("%s[%d]", join(at, l.key), n), message: "no setting lifts the rule " + guard.RuleState,
					hint: "take the entry out: Pawl's own state and controls are never the agent's",
				}
			}
		}
	}
	for n, glob := range g.ProtectedBranches[len(was.ProtectedBranches):] {
		if _, err := path.Match(glob, ""); err != nil {
			return want(fmt.Sprintf("%s[%d]", join(at, "protected_branches"), n), "a branch or a glob such as release/*", glob)
		}
	}
	return nil
}

// badPattern says what is wrong with an entry, and which rule was probably meant.
func badPattern(at, text string, err error) error {
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

// noteGuard notes the place of each entry that a layer added to the guard's lists.
func (s *Settings) noteGuard(l Layer, was Guard) {
	before := was.lists()
	for i, now := range s.Guard.lists() {
		from, key := len(*before[i].entries), "guard."+now.key
		for n := from; n < len(*now.entries); n++ {
			s.Sources[fmt.Sprintf("%s[%d]", key, n)] = l.source(fmt.Sprintf("%s[%d]", key, n-from))
		}
	}
}

// text shows the entries as they would be written on one line.
func (g *Guard) text() string {
	var said []string
	for _, l := range g.lists() {
		if len(*l.entries) > 0 {
			said = append(said, strings.ReplaceAll(l.key, "_", " ")+" "+strings.Join(*l.entries, ", "))
		}
	}
	return strings.Join(said, "; ")
}
