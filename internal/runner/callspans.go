package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

// timeCall takes what a turn tells of its tool calls.
func (r *Runner) timeCall(ctx context.Context, e agent.Event) {
	if e.Kind != agent.KindTool && e.Kind != agent.KindToolEnd {
		return
	}
	writes := e.Kind == agent.KindTool && !e.Does.Kind.ReadOnly() && !r.ours(e.Does)
	span := r.tools.time(func(a *authorship.Activity, now time.Time) authorship.Span {
		if writes {
			a.BeginWriting(now)
		}
		if e.Kind == agent.KindToolEnd {
			return a.CallEnded(now)
		}
		a.CallBegan()
		return authorship.Span{}
	})
	if err := r.keepSpan(span); err != nil {
		r.noteLater(ctx, loop.Warning, err.Error())
	}
}

// keepSpan records a span, if it is one.
func (r *Runner) keepSpan(span authorship.Span) error {
	return r.appendSpan(authorship.Call{At: span.From, Until: span.Until})
}

func (r *Runner) appendSpan(span authorship.Call) error {
	if span.At.IsZero() {
		return nil
	}
	r.spanned.Store(true)
	return record.AppendCall(record.RunnerCallsPath(r.Loop), span)
}

// endSpans ends the calls of an owner that was killed: what they started is ended too.
func (r *Runner) endSpans() error {
	calls, err := record.RecordedCalls(r.Loop)
	if err != nil {
		return err
	}
	_, _, open := authorship.RunnerSpans(calls.RunnerCalls)
	r.cut = authorship.CutOffSpan(open, proc.StartTime(1), time.Now())
	return r.keepSpan(r.cut)
}

// gatesRan writes down that gates ran in the work tree since a time. What they write
// is neither the agent's nor the user's.
func (r *Runner) gatesRan(since time.Time) error {
	return r.appendSpan(authorship.Call{At: since, Until: time.Now(), Gates: true})
}

// restoreFiles is git's Restore. What it writes is not the user's.
func (r *Runner) restoreFiles(ctx context.Context, tree string, keep []string) (git.Restored, error) {
	began := time.Now()
	done, err := r.Repo.Restore(ctx, tree, keep)
	if failed := r.keepSpan(authorship.Span{From: began, Until: time.Now()}); err == nil {
		err = failed
	}
	return done, err
}
