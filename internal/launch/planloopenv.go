package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// planLoopEnv reads the environment variables of ralph-cli's plan loop. Other tools use the
// same names, so they apply only to a plan in .ralph/PRD-N, and the user is told.
type planLoopEnv struct {
	environment.PlanLoop
	followed []string
}

// plan returns the existing plan that the variables name, or "".
func (e *planLoopEnv) plan(root, dir string) string {
	named := []struct{ variable, value, path string }{{"PLAN_PATH", e.Plan, e.Plan}}
	if e.Number != "" {
		for _, file := range []string{"plan.md", "prd.md"} {
			named = append(named, struct{ variable, value, path string }{"PRD_NUMBER", e.Number, filepath.Join(root, ".ralph", "PRD-"+e.Number, file)})
		}
	}
	for _, n := range named {
		path := AbsPath(dir, n.path)
		rel, inside := relativeTo(root, path)
		if n.value == "" || !inside || !statefile.IsPlanLoop(rel) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			e.followed = append(e.followed, n.variable+"="+n.value)
			return path
		}
	}
	return ""
}

// layer returns the limits in the variables. Options on the command line override them.
func (e *planLoopEnv) layer(g Goal, typed map[string]any) config.Layer {
	values := map[string]any{}
	if !statefile.IsPlanLoop(g.Path) {
		return config.Environment(values)
	}
	if n, ok := e.number("MAX_ITERATIONS", e.MaxIterations); ok && typed["max_iterations"] == nil {
		values["max_iterations"] = n
		e.followed = append(e.followed, fmt.Sprintf("MAX_ITERATIONS=%d", n))
	}
	if n, ok := e.number("TIMEOUT_AGENT", e.AgentTimeout); ok && typed["turn_timeout"] == nil {
		values["turn_timeout"] = (time.Duration(n) * time.Second).String()
		e.followed = append(e.followed, fmt.Sprintf("TIMEOUT_AGENT=%d", n))
	}
	return config.Environment(values)
}

// number parses a number. It records an invalid value for the user.
func (e *planLoopEnv) number(variable, text string) (int, bool) {
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > 1<<31 {
		e.followed = append(e.followed, fmt.Sprintf("%s=%q is ignored: it is not a number", variable, text))
		return 0, false
	}
	return n, true
}
