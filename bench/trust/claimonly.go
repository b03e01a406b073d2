package trust

import (
	"context"
	"fmt"
	"os"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/scripted"
	"github.com/pawl-dev/pawl/internal/regex"
)

// promise is what such loops look for in what the agent says.
var promise = regex.New(`<promise\b[^>]*>DONE</promise>`)

// ClaimOnly is the comparison: a loop that gives the agent its goal again until
// the agent says that it is done, and believes it. It says how that ended.
func ClaimOnly(ctx context.Context, script, dir string) (string, error) {
	data, err := os.ReadFile(script)
	if err != nil {
		return "", fmt.Errorf("read the agent's script: %w", err)
	}
	part, err := scripted.Parse(data)
	if err != nil {
		return "", err
	}
	session, err := scripted.Agent{Script: part}.Start(ctx, agent.Options{Dir: dir})
	if err != nil {
		return "", err
	}
	for range 8 {
		r, err := session.Turn(ctx, agent.Turn{Prompt: "Reach the goal."}, nil)
		if err != nil {
			return "", err
		}
		if promise.MatchString(r.Text) {
			return "done", nil
		}
	}
	return "limit", nil
}
