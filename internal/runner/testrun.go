package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// recordTestRun records a command of the agent that ran tests, or returns nil for another one.
// It is for information only: the gates decide.
func (r *Runner) recordTestRun(ctx context.Context, ran *agent.Ran) *loop.TestRun {
	if ran == nil {
		return nil
	}
	t := testreport.AgentTestRun(testreport.Run{
		Command: ran.Command, ExitCode: ran.ExitCode, Output: []byte(ran.Output), Files: testreport.FilesIn(r.Repo.Root()),
	}, r.redactFunc())
	if t == nil {
		return nil
	}
	if err := record.AppendCall(record.RunnerCallsPath(r.Loop), authorship.Call{Test: t}); err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
	}
	return t
}
