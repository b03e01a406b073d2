package runner

import (
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

// tools records what the agent's tool calls may have changed, and when they ran. It is locked,
// since a process that a turn left in the background may make calls when the next turn begins.
type tools struct {
	mu       sync.Mutex
	calls    authorship.Calls
	activity authorship.Activity
}

// update changes the recorded calls.
func (t *tools) update(change func(*authorship.Calls)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.calls)
}

// query evaluates a function on the recorded calls.
func (t *tools) query(question func(*authorship.Calls) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return question(&t.calls)
}

// wrote reports whether an editing tool wrote a file, given by its absolute path.
func (t *tools) wrote(path string) bool {
	return t.query(func(c *authorship.Calls) bool { return c.Wrote(path) })
}

// named reports whether a call named a file, given by its absolute path.
func (t *tools) named(path string) bool {
	return t.query(func(c *authorship.Calls) bool { return c.Named(path) })
}

// mayHaveChanged reports whether a call may have changed a file, given by its absolute
// path.
func (t *tools) mayHaveChanged(path string) bool {
	return t.query(func(c *authorship.Calls) bool { return c.MayHaveChanged(path) })
}

// updateActivity changes the recorded activity, and returns the span that ends.
func (t *tools) updateActivity(change func(*authorship.Activity, time.Time) authorship.Span) authorship.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	return change(&t.activity, time.Now())
}

// beginCall records the start of a call that may write.
func (t *tools) beginCall() {
	t.updateActivity(func(a *authorship.Activity, now time.Time) authorship.Span {
		a.BeginWriting(now)
		return authorship.Span{}
	})
}

// turnEnded returns the last span of a turn.
func (t *tools) turnEnded(res agent.Result) authorship.Span {
	left := len(res.Background) > 0
	if left {
		t.update(func(c *authorship.Calls) { c.SetLeftRunning(true) })
	}
	return t.updateActivity(func(a *authorship.Activity, now time.Time) authorship.Span {
		return a.TurnEnded(now, res.Beside || res.Swept > 0 || left, left || res.Failure != nil)
	})
}

// sessionEnded returns the last span of a session whose processes have ended.
func (t *tools) sessionEnded() authorship.Span {
	t.update(func(c *authorship.Calls) { c.SetLeftRunning(false) })
	return t.updateActivity((*authorship.Activity).SessionEnded)
}

// isOwnTool reports whether a call is of one of Pawl's own tools.
func (r *Runner) isOwnTool(c toolcall.Call) bool {
	return r.Tools != nil && guard.IsOwnTool(c, r.Tools.Name())
}

// recordCall records a call that is about to run, also in a file for the next owner: if the
// turn is interrupted, there is no other record of the call.
func (r *Runner) recordCall(c toolcall.Call) error {
	if c.Kind.ReadOnly() {
		return nil
	}
	call := record.NewCall(c, r.redactFunc())
	call.At = time.Now()
	r.tools.update(func(calls *authorship.Calls) { calls.Add(call, false) })
	r.tools.beginCall()
	return record.AppendCall(record.RunnerCallsPath(r.Loop), call)
}
