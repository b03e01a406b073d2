package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/term"
)

type guardListCmd struct {
	JSON bool `name:"json" help:"print a JSON object (docs/reference/guard-list.schema.json)"`
}

// guardListResult is the output of --json.
type guardListResult struct {
	Rules   []guard.Rule `json:"rules" jsonschema:"the guard's own"`
	Entries []guardEntry `json:"entries" jsonschema:"what the settings here add"`
}

// guardEntry is one entry of the settings.
type guardEntry struct {
	List    string `json:"list" jsonschema:"allow, deny, ask or protected_branches"`
	Entry   string `json:"entry"`
	Source  string `json:"source" jsonschema:"file and line"`
	Trusted bool   `json:"trusted" jsonschema:"false: it is out of the repository's files, and does not count before pawl trust"`
}

// Run lists the rules.
func (c *guardListCmd) Run(ctx context.Context, a *app) error {
	here, err := launch.InspectGuard(ctx, a.dir, a.env)
	if err != nil {
		return err
	}
	entries := guardEntries(here)
	if c.JSON {
		return a.printJSON(guardListResult{guard.Catalogue(), entries})
	}
	for _, r := range guard.Catalogue() {
		a.printf("%-12s %s%s\n             instead: %s\n", r.ID, r.What, ruleNote(r.ID, here.Rules), r.Instead)
	}
	if len(entries) > 0 {
		a.printf("\nthe settings here\n")
	}
	for _, e := range entries {
		after := ""
		if !e.Trusted {
			after = "  not trusted: it has no effect before  pawl trust"
		}
		a.printf("  %-18s %s  (%s)%s\n", e.List, term.Clean(e.Entry), term.Clean(e.Source), after)
	}
	return nil
}

// ruleNote says how the settings change a rule.
func ruleNote(id string, r guard.Rules) string {
	has := func(list []guard.Pattern) bool {
		return slices.ContainsFunc(list, func(p guard.Pattern) bool { return p.String() == id })
	}
	switch {
	case has(r.Deny), id == guard.RuleState:
		return ""
	case has(r.Ask):
		return "  (asked about here)"
	case has(r.Allow):
		return "  (lifted here)"
	}
	return ""
}

// guardEntries returns the entries of the settings with their sources.
func guardEntries(here launch.GuardInfo) []guardEntry {
	g, entries := here.Settings.Guard, []guardEntry{}
	for _, l := range []struct {
		key   string
		texts []string
	}{{"deny", g.Deny}, {"ask", g.Ask}, {"allow", g.Allow}, {"protected_branches", g.ProtectedBranches}} {
		for i, text := range l.texts {
			from := here.Settings.Sources[fmt.Sprintf("guard.%s[%d]", l.key, i)]
			strange := config.Command{Kind: config.KindGuard, File: from.File, Text: l.key + " " + text}
			entries = append(entries, guardEntry{
				List: l.key, Entry: text, Source: from.String(),
				Trusted: !from.Repo || !slices.Contains(here.Untrusted, strange),
			})
		}
	}
	return entries
}
