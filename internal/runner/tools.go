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

// note changes what is known of the calls.
func (t *tools) note(change func(*authorship.Calls)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.calls)
}

// ask asks what the calls may have done.
func (t *tools) ask(question func(*authorship.Calls) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return question(&t.calls)
}

// wrote reports whether an editing tool wrote a file, given by its absolute path.
func (t *tools) wrote(path string) bool {
	return t.ask(func(c *authorship.Calls) bool { return c.Wrote(path) })
}

// mayHaveChanged reports whether a call may have changed a file, given by its absolute
// path.
func (t *tools) mayHaveChanged(path string) bool {
	return t.ask(func(c *authorship.Calls) bool { return c.MayHaveChanged(path) })
}

// time changes what is known of when the agent was at work, and returns the span that ends.
func (t *tools) time(change func(*authorship.Activity, time.Time) authorship.Span) authorship.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	return change(&t.activity, time.Now())
}

// begin notes that a call which may write begins.
func (t *tools) begin() {
	t.time(func(a *authorship.Activity, now time.Time) authorship.Span {
		a.BeginWriting(now)
		return authorship.Span{}
	})
}

// turnEnded returns the last span of a turn.
func (t *tools) turnEnded(res agent.Result) authorship.Span {
	left := len(res.Background) > 0
	if left {
		t.note(func(c *authorship.Calls) { c.SetLeftRunning(true) })
	}
	return t.time(func(a *authorship.Activity, now time.Time) authorship.Span {
		return a.TurnEnded(now, res.Beside || res.Swept > 0 || left, left || res.Failure != nil)
	})
}

// sessionEnded returns the last span of a session, whose processes are gone.
func (t *tools) sessionEnded() authorship.Span {
	t.note(func(c *authorship.Calls) { c.SetLeftRunning(false) })
	return t.time((*authorship.Activity).SessionEnded)
}

// ours tells whether a call is of one of Pawl's own tools.
func (r *Runner) ours(c toolcall.Call) bool {
	return r.Tools != nil && guard.IsOwnTool(c, r.Tools.Name())
}

// noteCall notes a call that is about to run, also for an owner who comes after us: of a
// turn that is cut off, nobody else knows what it did.
func (r *Runner) noteCall(c toolcall.Call) error {
	if c.Kind.ReadOnly() {
		return nil
	}
	call := record.NewCall(c, r.redacted())
	call.At = time.Now()
	r.tools.note(func(calls *authorship.Calls) { calls.Add(call, false) })
	r.tools.begin()
	return record.AppendCall(record.RunnerCallsPath(r.Loop), call)
}
