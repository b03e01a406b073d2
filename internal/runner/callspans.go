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

// trackCall takes what a turn tells of its tool calls.
func (r *Runner) trackCall(ctx context.Context, e agent.Event) {
	if e.Kind != agent.KindTool && e.Kind != agent.KindToolEnd {
		return
	}
	writes := e.Kind == agent.KindTool && !e.Does.Kind.ReadOnly() && !r.isOwnTool(e.Does)
	span := r.tools.updateActivity(func(a *authorship.Activity, now time.Time) authorship.Span {
		if writes {
			a.BeginWriting(now)
		}
		if e.Kind == agent.KindToolEnd {
			return a.CallEnded(now)
		}
		a.CallBegan()
		return authorship.Span{}
	})
	if err := r.recordSpan(span); err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
	}
}

// recordSpan records a span, if it is one.
func (r *Runner) recordSpan(span authorship.Span) error {
	return r.appendSpan(authorship.Call{At: span.From, Until: span.Until})
}

func (r *Runner) appendSpan(span authorship.Call) error {
	if span.At.IsZero() {
		return nil
	}
	r.hasNewSpans.Store(true)
	return record.AppendCall(record.RunnerCallsPath(r.Loop), span)
}

// endCutOffSpans ends the calls of an owner that was killed: what they started is ended too.
func (r *Runner) endCutOffSpans() error {
	calls, err := record.RecordedCalls(r.Loop)
	if err != nil {
		return err
	}
	_, _, open := authorship.RunnerSpans(calls.RunnerCalls)
	r.cutOffSpan = authorship.CutOffSpan(open, proc.StartTime(1), time.Now())
	return r.recordSpan(r.cutOffSpan)
}

// recordGateSpan writes down that gates ran in the work tree since a time. What they write
// is neither the agent's nor the user's.
func (r *Runner) recordGateSpan(since time.Time) error {
	return r.appendSpan(authorship.Call{At: since, Until: time.Now(), Gates: true})
}

// restoreFiles is git's Restore. What it writes is not the user's.
func (r *Runner) restoreFiles(ctx context.Context, tree string, keep []string) (git.Restored, error) {
	began := time.Now()
	done, err := r.Repo.Restore(ctx, tree, keep)
	if failed := r.recordSpan(authorship.Span{From: began, Until: time.Now()}); err == nil {
		err = failed
	}
	return done, err
}
