package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/protected"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// readNewCalls reads the tool calls since the last inspection: those that the hooks of a
// user's session recorded and, in a session, also those of runners. A runner knows the
// calls of its own agent, so it reads only those of a session before it.
func (r *Runner) readNewCalls(m memory.ActionContext) error {
	session, calls, err := readCallsBetween(record.ToolCallsPath(r.Loop), m.Attribution.CallsOffset, m.Attribution.ClosedAt-1)
	if err != nil {
		return err
	}
	r.attribution = memory.Attribution{CallsOffset: calls, RunnerCallsOffset: m.Attribution.RunnerCallsOffset, ClosedAt: m.Attribution.ClosedAt}
	if !r.inSession {
		if info, err := os.Stat(record.RunnerCallsPath(r.Loop)); err == nil {
			r.inspectedCallBytes = info.Size() // passed on by handOver
		}
		r.tools.update(addCalls(session))
		return nil
	}
	own, ran, err := readCallsBetween(record.RunnerCallsPath(r.Loop), m.Attribution.RunnerCallsOffset, -1)
	if err != nil {
		return err
	}
	r.attribution.RunnerCallsOffset = ran
	r.tools.update(func(c *authorship.Calls) {
		c.Clear()
		addCalls(append(session, own...))(c)
	})
	return nil
}

// readCallsBetween returns the agent's calls in a file between two offsets, and the offset of
// the end. until is -1 for the end of the file.
func readCallsBetween(path string, at, until int64) ([]authorship.Call, int64, error) {
	data, from, err := readFrom(path, at)
	if err != nil {
		return nil, 0, fmt.Errorf("read the tool calls: %w", err)
	}
	if until >= 0 {
		data = data[:max(0, min(int64(len(data)), until-from))]
	}
	part := authorship.ParseChunk(data, from)
	return part.Calls, from + part.CompleteBytes, nil
}

// addCalls returns a function that adds recorded calls.
func addCalls(calls []authorship.Call) func(*authorship.Calls) {
	return func(c *authorship.Calls) {
		for _, call := range calls {
			c.Add(call, true)
		}
	}
}

// readFrom reads a file from an offset, or from its beginning if it is shorter than that.
func readFrom(path string, at int64) (data []byte, from int64, err error) {
	f, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if at > info.Size() {
		at = 0
	}
	data, err = io.ReadAll(io.NewSectionReader(f, at, info.Size()-at))
	return data, at, err
}

// saveAttribution journals how far calls are attributed, for the next inspection. A runner
// keeps that in memory, except for the calls of a session before it.
func (r *Runner) saveAttribution() error {
	r.tools.update((*authorship.Calls).MarkAttributed)
	if !r.inSession && r.attribution.CallsOffset == r.mem.Attribution.CallsOffset && len(r.mem.Attribution.AcceptedChanges) == 0 {
		return nil
	}
	r.mem.Attribution = r.attribution
	return r.appendRecord(memory.TypeAttribution, r.attribution)
}

// isByAgent reports whether the agent made a change of a protected file: a tool call may have
// made it, or an earlier inspection attributed it to the agent.
func (r *Runner) isByAgent(path string, m memory.ActionContext) bool {
	abs := r.Protected.AbsPath(path)
	sum := atomicfile.Fingerprint(abs, protected.MaxFileBytes)
	byUser := !r.tools.mayHaveChanged(abs) || !protected.InGitDir(path) && r.changedByUser(abs, m)
	if byUser && m.Attribution.AcceptedChanges[path] != sum {
		return false
	}
	if !r.inSession {
		return true // it is restored
	}
	if r.attribution.AcceptedChanges == nil {
		r.attribution.AcceptedChanges = map[string]string{}
	}
	r.attribution.AcceptedChanges[path] = sum
	return true
}

// changedByUser reports whether the times of a file show that the user changed it: no tool call,
// gate or hook ran then, and no editing tool wrote it. Of a deleted file no time is left. In a
// user's session the calls decide, since the user has turns of their own there.
func (r *Runner) changedByUser(abs string, m memory.ActionContext) bool {
	if r.inSession || r.tools.wrote(abs) {
		return false
	}
	timeline, err := r.timeline(m)
	return err == nil && timeline.EditAuthor(fileTimes(abs), false) == authorship.User
}

// recordTestRun records a command of the agent that ran tests, or returns nil for another one.
// It is for information only: the gates decide.
func (r *Runner) recordTestRun(ctx context.Context, ran *agent.Ran) *loop.TestRun {
	if ran == nil {
		return nil
	}
	t := testreport.Noted(testreport.Run{
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
