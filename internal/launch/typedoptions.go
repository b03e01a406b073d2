package launch

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// runTypedGatesIn lets gates from the command line run in the session's folder, where its
// agent works. With a runner both are the root.
func (p *Prepared) runTypedGatesIn(q Request) {
	here, inside := relativeTo(p.root, q.Dir)
	if _, typed := q.Flags["gates"]; !typed || here == "." || !inside {
		return
	}
	for i, g := range p.Settings.Gates {
		if g.Kind != gate.ByReview {
			p.Settings.Gates[i].Dir = here
		}
	}
}

// agentProgram returns the absolute path of the agent's program or script, since its
// processes run in other folders. A bare name is looked up in PATH.
func (p *Prepared) agentProgram(a record.Agent) string {
	if a.Command == "" || a.Name != "scripted" && filepath.Base(a.Command) == a.Command {
		return a.Command
	}
	return AbsPath(p.programDir, a.Command)
}

// checkTaskIDs refuses typed options that name unknown tasks.
func checkTaskIDs(g Goal, s config.Settings, flags map[string]any) error {
	there := []string{loop.GoalTask}
	if g.Plan != nil {
		there = there[:0]
		for _, t := range g.Plan.Plan().Tasks {
			there = append(there, t.ID)
		}
	}
	named := map[string][]string{
		"evidence":           slices.Sorted(maps.Keys(s.Evidence.Tasks)),
		"allow_test_changes": s.AllowTestChanges,
		"tasks":              s.Tasks,
	}
	if len(s.Tasks) > 0 && g.Plan == nil {
		return failure.New(failure.Usage, "name the plan", "--task needs a plan, and there is none")
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if _, typed := flags[key]; !typed {
			continue
		}
		for _, id := range named[key] {
			if id != "*" && !slices.Contains(there, id) {
				return failure.New(failure.Usage, taskIDHint(there, key, id), "--%s names an unknown task: %s", strings.ReplaceAll(strings.Replace(key, "tasks", "task", 1), "_", "-"), id)
			}
		}
	}
	return nil
}

// refuseHomeInWorkTree refuses a $PAWL_HOME in the work tree: its files would be
// attributed to the agent, and committed.
func refuseHomeInWorkTree(ctx context.Context, repo *git.Repo, home string) error {
	rel, inside := relativeTo(repo.Root(), home)
	if _, own := relativeTo(repo.CommonDir(), home); !inside || own {
		return nil
	}
	ignored, err := repo.Ignores(ctx, rel+"/loops")
	if err != nil || ignored {
		return err
	}
	return failure.New(failure.Usage, "set PAWL_HOME to another folder or unset it, or let git ignore it", "PAWL_HOME (%s) is in the work tree", home)
}

// taskIDHint returns a hint with the ids of the tasks or, for several ids in one word, how to name
// each.
func taskIDHint(ids []string, key, word string) string {
	several := strings.Split(word, ",")
	if key != "tasks" || slices.ContainsFunc(several, func(id string) bool { return !slices.Contains(ids, id) }) {
		return "ids of its tasks: " + plan.Few(ids, 5)
	}
	return "one option for each:  --task " + strings.Join(several, " --task ")
}
