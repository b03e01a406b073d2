package launch

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/record"
)

// guardConfig freezes the guard's configuration.
func guardConfig(s config.Guard, plan string) (record.GuardConfig, error) {
	g := record.GuardConfig{Branches: s.ProtectedBranches, TickOnly: plan}
	for _, list := range []struct {
		texts []string
		to    *[]guard.Pattern
	}{{s.Allow, &g.Allow}, {s.Deny, &g.Deny}, {s.Ask, &g.Ask}} {
		for _, text := range list.texts {
			p, err := guard.ParsePattern(text)
			if err != nil {
				return g, fmt.Errorf("read the guard's settings: %w", err)
			}
			*list.to = append(*list.to, p)
		}
	}
	return g, nil
}

// planScopes returns the files that the plan lets its tasks change, by task id.
func planScopes(g Goal) map[string][]string {
	if g.Plan == nil {
		return nil
	}
	scopes := map[string][]string{}
	for _, t := range g.Plan.Plan().Tasks {
		if len(t.Scope) > 0 {
			scopes[t.ID] = t.Scope
		}
	}
	if len(scopes) == 0 {
		return nil
	}
	return scopes
}
