package loopinfo

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/page"
	"github.com/pawl-dev/pawl/internal/store"
)

// Pages is the source of `pawl serve`.
type Pages struct{ *Screen }

// NewPages returns the source of the pages, until ctx ends.
func NewPages(ctx context.Context, o Options) *Pages { return &Pages{newScreen(ctx, o)} }

// Stamp returns a value that changes when a journal grows, or a loop is created or deleted. With an
// id, it also changes when the loop's agent calls a tool.
func (s *Pages) Stamp(id string) (string, error) {
	if id != "" {
		l := s.Store.Loop(id)
		return fmt.Sprint(journalStamp([]*store.Loop{l}), callSizes(l)), nil
	}
	loops, err := s.Store.Loops()
	return journalStamp(loops), err
}

// loop returns a loop if the pages show it.
func (s *Pages) loop(id string) (*Loop, error) {
	l := s.Store.Loop(id)
	if _, err := os.Stat(l.Dir); err != nil {
		return nil, fmt.Errorf("find loop %s: %w", id, fs.ErrNotExist)
	}
	sub, err := ReadDamaged(l)
	if err != nil {
		return nil, err
	}
	if !s.shows(sub.Spec.Root) {
		return nil, fmt.Errorf("find loop %s here: %w", id, fs.ErrNotExist)
	}
	return sub, nil
}

// Loop returns the data of a loop's page.
func (s *Pages) Loop(ctx context.Context, id string, attempt int) (page.Detail, error) {
	sub, err := s.loop(id)
	if err != nil {
		return page.Detail{}, err
	}
	sum := sub.Summary()
	first, last := sub.Memory.State.Iteration-page.MaxAttempts+1, math.MaxInt
	if attempt > 0 {
		first, last = attempt, attempt
	}
	t := sub.replay(first, last)
	return page.Detail{
		Summary: sum, Headline: sub.Headline(sum, time.Now()), Report: sub.Report(ctx, s.Env, t.events),
		Attempts: t.attempts, History: t.history[max(0, len(t.history)-maxHistoryLines):],
	}, nil
}

// Diff returns the diff of a task.
func (s *Pages) Diff(ctx context.Context, id, task string) (string, error) {
	sub, err := s.loop(id)
	if err != nil {
		return "", err
	}
	return sub.TaskDiff(ctx, task)
}
