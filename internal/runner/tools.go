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

// tools knows what the agent's tool calls may have changed, and when they ran. Goroutines
// of the agent tell of calls: what a turn left in the background may ask while the next
// begins.
type tools struct {
	mu       sync.Mutex
	calls    authorship.Calls
	activity authorship.Activity
}

// update changes what is known of the calls.
func (t *tools) update(change func(*authorship.Calls)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.calls)
}

// query asks what the calls may have done.
func (t *tools) query(question func(*authorship.Calls) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return question(&t.calls)
}

// wrote reports whether an editing tool wrote a file, given by its absolute path.
func (t *tools) wrote(path string) bool {
	return t.query(func(c *authorship.Calls) bool { return c.Wrote(path) })
}

// mayHaveChanged reports whether a call may have changed a file, given by its absolute
// path.
func (t *tools) mayHaveChanged(path string) bool {
	return t.query(func(c *authorship.Calls) bool { return c.MayHaveChanged(path) })
}

// updateActivity changes what is known of when the agent was at work, and returns the span that ends.
func (t *tools) updateActivity(change func(*authorship.Activity, time.Time) authorship.Span) authorship.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	return change(&t.activity, time.Now())
}

// beginCall notes that a call which may write begins.
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

// sessionEnded returns the last span of a session, whose processes are gone.
func (t *tools) sessionEnded() authorship.Span {
	t.update(func(c *authorship.Calls) { c.SetLeftRunning(false) })
	return t.updateActivity((*authorship.Activity).SessionEnded)
}

// isOwnTool tells whether a call is of one of Pawl's own tools.
func (r *Runner) isOwnTool(c toolcall.Call) bool {
	return r.Tools != nil && guard.IsOwnTool(c, r.Tools.Name())
}

// recordCall notes a call that is about to run, also for an owner who comes after us: of a
// turn that is cut off, nobody else knows what it did.
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
