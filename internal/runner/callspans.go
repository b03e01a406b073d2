package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// trackCall updates the spans of the agent's activity by an event of a turn.
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

// recordSpan records a span unless it is empty.
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

// recordGateSpan records that gates ran in the work tree since a time. Files that they write are
// neither the agent's nor the user's.
func (r *Runner) recordGateSpan(since time.Time) error {
	return r.appendSpan(authorship.Call{At: since, Until: time.Now(), Gates: true})
}

// restoreFiles restores files to a tree and records the span, so that the changes are not
// attributed to the user.
func (r *Runner) restoreFiles(ctx context.Context, tree string, keep []string) (git.Restored, error) {
	began := time.Now()
	done, err := r.Repo.Restore(ctx, tree, keep)
	if failed := r.recordSpan(authorship.Span{From: began, Until: time.Now()}); err == nil {
		err = failed
	}
	return done, err
}
