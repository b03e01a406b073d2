package attribution

import (
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// ReadNewCalls begins an inspection: it reads the tool calls since the last one. These are those
// that the hooks of a user's session recorded and, in a session, also those of runners. A runner
// knows the calls of its own agent, so it reads only those of a session before it.
func (t *Tracker) ReadNewCalls(m memory.ActionContext) error {
	session, err := record.AgentCalls(record.ToolCallsPath(t.Loop), m.Attribution.CallsOffset, m.Attribution.ClosedAt-1)
	if err != nil {
		return err
	}
	t.inspected = memory.Attribution{CallsOffset: session.End, RunnerCallsOffset: m.Attribution.RunnerCallsOffset, ClosedAt: m.Attribution.ClosedAt}
	if !t.InSession {
		if info, err := os.Stat(record.RunnerCallsPath(t.Loop)); err == nil {
			t.runnerBytes = info.Size() // passed on by HandOver
		}
		t.update(func(c *authorship.Calls) { addCalls(c, session.Calls, true) })
		return nil
	}
	own, err := record.AgentCalls(record.RunnerCallsPath(t.Loop), m.Attribution.RunnerCallsOffset, -1)
	if err != nil {
		return err
	}
	t.inspected.RunnerCallsOffset = own.End
	t.update(func(c *authorship.Calls) {
		c.Clear()
		addCalls(c, session.Calls, true)
		addCalls(c, own.Calls, true)
	})
	return nil
}

// HasNewCalls reports whether changes may have been made since the last inspection: a span was
// recorded since the last call of HasNewCalls, or this inspection has read calls of a session.
func (t *Tracker) HasNewCalls(m memory.ActionContext) bool {
	return t.hasNewSpans.Swap(false) || t.InSession && t.inspected.CallsOffset != m.Attribution.CallsOffset
}

// EndInspection records that all changes so far are attributed, and returns how far calls are, to
// be journalled for the next inspection. changed is false if that need not be: a runner keeps it in
// memory, except for the calls of a session before it.
func (t *Tracker) EndInspection(was memory.Attribution) (now memory.Attribution, changed bool) {
	t.update((*authorship.Calls).MarkAttributed)
	return t.inspected, t.InSession || t.inspected.CallsOffset != was.CallsOffset || len(was.AcceptedChanges) > 0
}

// HandOver returns how far calls are attributed, for the next owner.
func (t *Tracker) HandOver(was memory.Attribution) memory.Attribution {
	was.RunnerCallsOffset = max(was.RunnerCallsOffset, t.runnerBytes)
	return was
}

// TaskCalls returns all calls since the task started, including those whose changes were
// attributed.
func TaskCalls(l *store.Loop, m memory.ActionContext) (*authorship.Calls, error) {
	session, err := record.AgentCalls(record.ToolCallsPath(l), m.TaskCallsOffset, m.Attribution.ClosedAt-1)
	if err != nil {
		return nil, err
	}
	own, err := record.AgentCalls(record.RunnerCallsPath(l), 0, -1)
	if err != nil {
		return nil, err
	}
	all := &authorship.Calls{Resolve: record.PathNames}
	addCalls(all, session.Calls, true)
	addCalls(all, own.Calls, m.InSession)
	return all, nil
}

func addCalls(c *authorship.Calls, calls []authorship.Call, besideUser bool) {
	for _, call := range calls {
		c.Add(call, besideUser)
	}
}

// NotStaged returns those of the files that no command of the agent can have put into git's index. If
// the user has staged them, they stay staged.
func (t *Tracker) NotStaged(m memory.ActionContext, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	calls, err := TaskCalls(t.Loop, m)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, calls.MayHaveStaged), nil
}
