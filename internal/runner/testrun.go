package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// testRan notes a command of the agent's that ran tests; nil for any other. It is
// a fact, not a verdict: what counts is what the gates say.
func (r *Runner) testRan(ctx context.Context, ran *agent.Ran) *loop.TestRun {
	if ran == nil {
		return nil
	}
	t := testreport.Noted(testreport.Run{
		Command: ran.Command, ExitCode: ran.ExitCode, Output: []byte(ran.Output), Files: testreport.FilesIn(r.Repo.Root()),
	}, r.redacted())
	if t == nil {
		return nil
	}
	if err := record.AppendCall(record.RunnerCallsPath(r.Loop), authorship.Call{Test: t}); err != nil {
		r.noteLater(ctx, loop.Warning, err.Error())
	}
	return t
}
