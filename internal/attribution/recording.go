package attribution

import (
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

// BeginTurn begins a turn. unseen means that its tool calls cannot be observed.
func (t *Tracker) BeginTurn(unseen bool) error {
	t.update(func(c *authorship.Calls) { c.BeginTurn(unseen) })
	if !unseen {
		return nil
	}
	return t.beginCall(authorship.Call{AnyChange: true})
}

// RecordCall records a call that is about to run, also in a file for the next owner: if the
// turn is interrupted, there is no other record of the call. redact removes secrets; nil: none.
func (t *Tracker) RecordCall(c toolcall.Call, redact func(string) string) error {
	if c.Kind.ReadOnly() {
		return nil
	}
	call := record.NewCall(c, redact)
	t.update(func(calls *authorship.Calls) { calls.Add(call, false) })
	return t.beginCall(call)
}

func (t *Tracker) beginCall(call authorship.Call) error {
	call.At = time.Now()
	t.mu.Lock()
	t.activity.BeginWriting(call.At)
	t.mu.Unlock()
	return record.AppendCall(record.RunnerCallsPath(t.Loop), call)
}

// Observe records the start and the end of calls by an event of a turn. own means that the call
// is of one of Pawl's own tools, which change nothing in the tree.
func (t *Tracker) Observe(e agent.Event, own bool) error {
	switch e.Kind {
	case agent.KindTool:
		t.mu.Lock()
		defer t.mu.Unlock()
		if !own && !e.Does.Kind.ReadOnly() {
			t.activity.BeginWriting(time.Now())
		}
		t.activity.CallBegan()
	case agent.KindToolEnd:
		return t.endSpan((*authorship.Activity).CallEnded)
	}
	return nil
}

// TurnEnded records the end of a turn.
func (t *Tracker) TurnEnded(res agent.Result) error {
	left := len(res.Background) > 0
	if left {
		t.update(func(c *authorship.Calls) { c.SetLeftRunning(true) })
	}
	return t.endSpan(func(a *authorship.Activity, now time.Time) authorship.Span {
		return a.TurnEnded(now, res.Beside || res.Swept > 0 || left, left || res.Failure != nil)
	})
}

// SessionEnded records the end of a session, whose processes have ended.
func (t *Tracker) SessionEnded() error {
	t.update(func(c *authorship.Calls) { c.SetLeftRunning(false) })
	return t.endSpan((*authorship.Activity).SessionEnded)
}

func (t *Tracker) endSpan(end func(*authorship.Activity, time.Time) authorship.Span) error {
	t.mu.Lock()
	span := end(&t.activity, time.Now())
	t.mu.Unlock()
	return t.appendSpan(authorship.Call{At: span.From, Until: span.Until})
}

// RecordSpan records that Pawl wrote files since a time, as in a restore: they are not the user's.
func (t *Tracker) RecordSpan(since time.Time) error {
	return t.appendSpan(authorship.Call{At: since, Until: time.Now()})
}

// RecordGates records that gates ran in the work tree since a time. Files that they write are
// neither the agent's nor the user's.
func (t *Tracker) RecordGates(since time.Time) error {
	return t.appendSpan(authorship.Call{At: since, Until: time.Now(), Gates: true})
}

// RecordHooks records that the user's commit hooks ran since a time. Files that they write belong
// to the work.
func (t *Tracker) RecordHooks(since time.Time) error {
	return t.appendSpan(authorship.Call{At: since, Until: time.Now(), Hooks: true})
}

// appendSpan records a span unless it is empty.
func (t *Tracker) appendSpan(span authorship.Call) error {
	if span.At.IsZero() {
		return nil
	}
	t.hasNewSpans.Store(true)
	return record.AppendCall(record.RunnerCallsPath(t.Loop), span)
}

// TakeOver records the span of calls whose owner was killed. Their processes have ended.
func (t *Tracker) TakeOver() error {
	calls, err := record.RecordedCalls(t.Loop)
	if err != nil {
		return err
	}
	t.cutOff = authorship.CutOffSpan(authorship.SpansOfRunners(calls.RunnerCalls).Open, proc.StartTime(1), time.Now())
	return t.appendSpan(authorship.Call{At: t.cutOff.From, Until: t.cutOff.Until})
}

// AddAnyChange records that any change may be the agent's: what the last owner observed is lost.
func (t *Tracker) AddAnyChange() { t.update((*authorship.Calls).AddAnyChange) }

// Wrote reports whether an editing tool wrote a file, given by its absolute path.
func (t *Tracker) Wrote(path string) bool {
	return t.query(func(c *authorship.Calls) bool { return c.Wrote(path) })
}

// Named reports whether a call named a file, given by its absolute path.
func (t *Tracker) Named(path string) bool {
	return t.query(func(c *authorship.Calls) bool { return c.Named(path) })
}

// MayHaveCommitted reports whether commits that the loop did not make may be the agent's.
func (t *Tracker) MayHaveCommitted(m memory.ActionContext) bool {
	return m.Base.HasAgentCommits || m.HasUnattributed && t.query((*authorship.Calls).MayHaveCommitted)
}

// update changes the recorded calls.
func (t *Tracker) update(change func(*authorship.Calls)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.calls)
}

// query evaluates a function on the recorded calls.
func (t *Tracker) query(question func(*authorship.Calls) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return question(&t.calls)
}
