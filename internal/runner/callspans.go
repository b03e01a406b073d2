package runner

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// callSpans tells when something of the agent's was at work: a tool call that may write,
// or what one left in the background. Between these spans nothing of it was, so a file
// that is made there is the user's.
type callSpans struct {
	mu      sync.Mutex
	running int       // tool calls that have not come to their end
	since   time.Time // when the span under way began, zero if none is
	turn    time.Time // when the first one of the turn did
	left    bool      // what a turn left in the background runs on
}

// begin says that a call which may write begins.
func (w *callSpans) begin(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		w.since = now
	}
	if w.turn.IsZero() {
		w.turn = now
	}
}

// called says that a call begins or ends. It returns the span that is over with it.
func (w *callSpans) called(begins bool, now time.Time) record.ToolCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	if begins {
		w.running++
		return record.ToolCall{}
	}
	if w.running = max(w.running-1, 0); w.running > 0 {
		return record.ToolCall{}
	}
	return w.end(now)
}

func (w *callSpans) end(now time.Time) record.ToolCall {
	span := record.ToolCall{At: w.since, Until: now}
	if w.since.IsZero() {
		return record.ToolCall{}
	}
	if !w.left {
		w.since = time.Time{}
	}
	return span
}

// turnEnds returns the last span of a turn. One in which processes went on beside the
// calls is a single span, which goes on while they do.
func (w *callSpans) turnEnds(now time.Time, res agent.Result) record.ToolCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = 0
	if !w.turn.IsZero() && (res.Beside || res.Swept > 0 || len(res.Background) > 0) {
		w.since = w.turn
	}
	w.left = w.left || len(res.Background) > 0 || res.Failure != nil // a call that was cut off runs until its session is closed
	w.turn = time.Time{}
	return w.end(now)
}

// sessionEnds returns the last span of a session: its processes are gone.
func (w *callSpans) sessionEnds(now time.Time) record.ToolCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = false
	return w.end(now)
}

// underWay is the span that has not ended.
func (w *callSpans) underWay(now time.Time) record.ToolCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return record.ToolCall{}
	}
	return record.ToolCall{At: w.since, Until: now}
}

// timeCall takes what a turn tells of its tool calls.
func (r *Runner) timeCall(ctx context.Context, e agent.Event) {
	if e.Kind != agent.KindTool && e.Kind != agent.KindToolEnd {
		return
	}
	now := time.Now()
	begins := e.Kind == agent.KindTool
	if begins && !e.Does.Kind.ReadOnly() && !r.ours(e.Does) {
		r.atWork.begin(now)
	}
	if err := r.keepSpan(r.atWork.called(begins, now)); err != nil {
		r.noteLater(ctx, loop.Warning, err.Error())
	}
}

// keepSpan writes a span down, if it is one.
func (r *Runner) keepSpan(span record.ToolCall) error {
	if span.At.IsZero() {
		return nil
	}
	r.spanned.Store(true)
	return span.AppendTo(record.RunnerCallsPath(r.Loop))
}

// endSpans ends the calls of an owner that was killed: what they started is ended too.
func (r *Runner) endSpans() error {
	s, err := r.spans()
	if err != nil || s.open.IsZero() {
		return err
	}
	return r.keepSpan(record.ToolCall{At: s.open, Until: time.Now()})
}

// spans are those written down.
type spans struct {
	agents, gates []record.ToolCall
	open          time.Time // when the agent's first call began whose end is not there, zero if there is none
}

func (r *Runner) spans() (s spans, err error) {
	calls, _, err := callsIn(record.RunnerCallsPath(r.Loop), 0, -1)
	if err != nil {
		return s, err
	}
	for _, c := range calls {
		switch {
		case c.Gates:
			s.gates = append(s.gates, c)
		case !c.Until.IsZero():
			s.agents = append(s.agents, c)
		}
	}
	for _, c := range calls {
		over := slices.ContainsFunc(s.agents, func(s record.ToolCall) bool { return !c.At.Before(s.At) && !c.At.After(s.Until) })
		if c.Gates || c.At.IsZero() || over {
			continue
		}
		if s.open.IsZero() || c.At.Before(s.open) {
			s.open = c.At
		}
	}
	return s, nil
}

// gatesRan writes down that gates ran in the work tree since a time. What they write
// is neither the agent's nor the user's.
func (r *Runner) gatesRan(since time.Time) error {
	return r.keepSpan(record.ToolCall{At: since, Until: time.Now(), Gates: true})
}

// restoreFiles is git's Restore. What it writes is not the user's.
func (r *Runner) restoreFiles(ctx context.Context, tree string, keep []string) (git.Restored, error) {
	began := time.Now()
	done, err := r.Repo.Restore(ctx, tree, keep)
	if failed := r.keepSpan(record.ToolCall{At: began, Until: time.Now()}); err == nil {
		err = failed
	}
	return done, err
}
