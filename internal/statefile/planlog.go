package statefile

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/foreign/planloop"
)

// What failed: failure-context.log and progress.md of the plan loop.

// logFailures adds what failed to failure-context.log: each try once, however often it
// is asked.
func (p planFiles) logFailures(tries []planloop.Failure) error {
	if len(tries) == 0 {
		return nil
	}
	return p.changeBoth(planloop.FailuresFile, func(log []byte) []byte {
		for _, f := range tries {
			if !f.In(log) {
				log = planloop.Append(log, f.Entry())
			}
		}
		return log
	})
}

// failedTries are those that failed, as far as the state still knows of them: the last
// one of each story that was skipped, and of the one at work.
func (p planFiles) failedTries(m memory.Memory, now time.Time) []planloop.Failure {
	var tries []planloop.Failure
	for _, t := range m.State.Tasks {
		f := planloop.Failure{Loop: filepath.Base(p.LoopDir), Story: t.ID, At: now, Reason: t.Why}
		switch {
		case !isStory(t.ID), t.Status == loop.Done:
			continue
		case t.Status != loop.Open:
			p.addSkippedTry(&f, m)
		case t.ID == m.State.Current:
			p.addCurrentTry(&f, m)
		}
		if f.Iteration > 0 {
			tries = append(tries, f)
		}
	}
	return tries
}

// addSkippedTry tells of the last try of a story that was skipped.
func (p planFiles) addSkippedTry(f *planloop.Failure, m memory.Memory) {
	f.Iteration = lastTry(m.State, f.Story)
	for _, s := range m.Skipped {
		if s.Task == f.Story {
			f.Base, f.Tests, f.Output = p.base(s.Base), s.Failing.Tests, cmp.Or(output(s.Results), s.Failing.FirstError)
		}
	}
}

// lastTry is the iteration in which something came of a task last, 0 for none
// that is remembered.
func lastTry(s loop.State, task string) int {
	for _, h := range slices.Backward(s.History) {
		if h.Task == task {
			return h.Iteration
		}
	}
	return 0
}

// addCurrentTry tells of the last try of the story at work, if it failed. What fails was
// not found by that try where nothing came of it.
func (p planFiles) addCurrentTry(f *planloop.Failure, m memory.Memory) {
	s := m.State
	last := s.Iteration
	if s.Phase != loop.Ended { // the one that is being given
		last--
	}
	found := lastTry(s, f.Story) == last || s.Policy.EveryTurn && s.Phase != loop.Ended
	if s.Failing == nil || !found || s.Phase == loop.Ended && s.Gates.Green {
		return
	}
	f.Iteration, f.Base, f.Reason = last, p.base(m.Base), s.Failing.Reason
	if f.Tests = s.Failing.Tests; len(f.Tests) > 0 || s.Failing.FirstError != "" {
		f.Output = cmp.Or(output(m.Results), s.Failing.FirstError)
	}
}

// output is that of the gates that failed, each below its command.
func output(results []gate.Result) string {
	var b strings.Builder
	for _, r := range results {
		if r.Status == gate.Fail {
			fmt.Fprintf(&b, "$ %s (exit %d)\n%s\n", strings.ReplaceAll(r.Command, "\n", " "), r.ExitCode, strings.TrimRight(r.Tail, "\n"))
		}
	}
	return b.String()
}

// updateProgressFile keeps progress.md as the plan loop does: it is there from the first
// turn on, tells of each try that failed, and names the commits. (What was kept
// is told of with the tick, in the runner.)
func (p planFiles) updateProgressFile(m memory.Memory, tries []planloop.Failure) error {
	file := path.Join(path.Dir(p.Spec.Plan), planloop.ProgressFile)
	if !slices.Contains(p.OwnPaths(), file) {
		return nil
	}
	return p.change(file, func(old []byte) []byte {
		text := bytes.Clone(old)
		if len(bytes.TrimSpace(text)) == 0 {
			text = []byte(planloop.NewProgress)
		}
		for _, f := range tries {
			if f.InProgress(text) {
				continue
			}
			if text[len(text)-1] != '\n' {
				text = append(text, '\n')
			}
			text = append(text, f.ProgressEntry()...)
		}
		for _, t := range m.State.Tasks {
			if t.Status == loop.Done && !t.DoneEarlier && t.Commit != "" {
				text = planloop.Stamp(text, t.ID, t.Commit)
			}
		}
		return text
	})
}
