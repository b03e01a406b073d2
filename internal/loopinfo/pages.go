package loopinfo

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/page"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/verify"
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

// replayResult holds what the journal says about a loop: all its events, and for some attempts the events
// with their decisions, the output of the gates and the lines of the history.
type replayResult struct {
	events   []loop.Event
	attempts []page.Attempt
	history  []string
}

// replay reads the journal in one pass: it can be long, and pages are requested again after each
// change.
func (s *Loop) replay(first, last int) (out replayResult) {
	var state loop.State
	for r, err := range s.Records(journal.Mark{}) {
		if err != nil {
			continue // pawl log reports damage
		}
		t := narrate.StepOf(r, state)
		state = t.After
		if r.Type == memory.TypeEvent {
			out.events = append(out.events, t.Event)
		}
		n := max(1, t.Before.Iteration)
		if n < first || n > last {
			continue
		}
		for _, line := range TimedLines(r, t) {
			out.history = append(out.history, strings.TrimRight(line, "\n"))
		}
		var rec verify.Receipt
		switch {
		case r.Type == memory.TypeEvent:
			step := explainRecord(r, t)
			a := out.attempt(s, n, step.Task)
			a.Steps = append(a.Steps, page.Step{At: step.At.Local().Format(time.TimeOnly), Event: step.happenedText(), Decisions: step.Decided, Reasons: step.Because})
		case r.Type == memory.TypeReceipt && json.Unmarshal(r.Data, &rec) == nil:
			a := out.attempt(s, n, state.Current)
			a.Gates = append(a.Gates, page.Gate{
				Name: term.Clean(rec.Gate), Status: string(rec.Status), Took: figure.Duration(rec.Duration),
				Output: cleanLines(rec.Tail[max(0, len(rec.Tail)-maxTailBytes):]),
			})
		}
	}
	return out
}

// attempt returns the attempt with this number, which is the newest so far.
func (r *replayResult) attempt(s *Loop, number int, task string) *page.Attempt {
	if last := len(r.attempts) - 1; last < 0 || r.attempts[last].Number != number {
		r.attempts = append(r.attempts, page.Attempt{Number: number, Task: narrate.TaskOf(s.Memory.State, task)})
	}
	return &r.attempts[len(r.attempts)-1]
}

const maxHistoryLines = 500 // maximum number of lines on a page

const maxTailBytes = 16 << 10 // maximum bytes of a gate's output

// callSizes returns the sizes of the files that log tool calls.
func callSizes(l *store.Loop) (sizes [2]int64) {
	paths := [2]string{record.ToolCallsPath(l)}
	if entries, err := os.ReadDir(filepath.Join(l.Dir, "iterations")); err == nil && len(entries) > 0 {
		paths[1] = filepath.Join(l.Dir, "iterations", entries[len(entries)-1].Name(), record.TranscriptFile)
	}
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil {
			sizes[i] = info.Size()
		}
	}
	return sizes
}

// Calls returns the tool calls of an iteration, from the runner's turns and from the user's session.
func (s *Pages) Calls(_ context.Context, id string, iteration int) ([]record.Call, int, error) {
	sub, err := s.loop(id)
	if err != nil {
		return nil, 0, err
	}
	return sub.Calls(iteration)
}

// Calls returns the tool calls of an iteration in the order of their starts, and the number of dropped
// ones.
func (s *Loop) Calls(iteration int) ([]record.Call, int, error) {
	calls, dropped, err := record.Transcript(s.Loop, iteration)
	if err != nil {
		return nil, 0, err
	}
	inSession, err := record.SessionCalls(s.Loop)
	if err != nil {
		return nil, 0, err
	}
	if len(inSession) > 0 {
		started, ended := s.span(iteration)
		for _, c := range inSession {
			if c.At.After(started) && (ended.IsZero() || !c.At.After(ended)) {
				calls = append(calls, c)
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b record.Call) int { return a.At.Compare(b.At) })
	working := s.Memory.State.Outcome == "" && s.Summary().State == "running"
	for i := range calls {
		c := &calls[i]
		if c.Status == record.CallRunning && !working {
			c.Status = record.CallInterrupted
		}
		c.At, c.Tool, c.Detail, c.Output = c.At.Local(), term.Clean(c.Tool), term.Clean(strings.Replace(c.Detail, s.Spec.Root+string(filepath.Separator), "", 1)), cleanLines(c.Output)
	}
	return calls, dropped, nil
}

// span returns when an iteration started and ended. The end is zero while it runs.
func (s *Loop) span(iteration int) (started, ended time.Time) {
	for _, step := range s.Explain(iteration).Steps {
		switch n := max(1, step.Iteration); {
		case n < iteration:
			started = step.At
		case n == iteration:
			ended = step.At
		}
	}
	if iteration >= s.Memory.State.Iteration && s.Memory.State.Outcome == "" {
		ended = time.Time{}
	}
	return started, ended
}
