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

// This file writes failure-context.log and progress.md of the plan loop.

// logFailures appends failed attempts to failure-context.log, each one once.
func (p planFiles) logFailures(attempts []planloop.Failure) error {
	if len(attempts) == 0 {
		return nil
	}
	return p.changeBoth(planloop.FailuresFile, func(log []byte) []byte {
		for _, f := range attempts {
			if !f.IsInLog(log) {
				log = planloop.AppendEntry(log, f.Entry())
			}
		}
		return log
	})
}

// failedAttempts returns the failed attempts that the state still holds: the last one of each skipped
// story, and of the current one.
func (p planFiles) failedAttempts(m memory.Memory, now time.Time) []planloop.Failure {
	var attempts []planloop.Failure
	for _, t := range m.State.Tasks {
		f := planloop.Failure{Loop: filepath.Base(p.LoopDir), Story: t.ID, At: now, Reason: t.Why}
		switch {
		case !isStory(t.ID), t.Status == loop.Done:
			continue
		case t.Status != loop.Open:
			p.addSkippedAttempt(&f, m)
		case t.ID == m.State.Current:
			p.addCurrentAttempt(&f, m)
		}
		if f.Iteration > 0 {
			attempts = append(attempts, f)
		}
	}
	return attempts
}

// addSkippedAttempt fills in the last attempt of a skipped story.
func (p planFiles) addSkippedAttempt(f *planloop.Failure, m memory.Memory) {
	f.Iteration = lastAttempt(m.State, f.Story)
	for _, s := range m.Skipped {
		if s.Task == f.Story {
			f.Base, f.Tests, f.Output = p.baseCommit(s.Base), s.Failing.Tests, cmp.Or(failedOutput(s.Results), s.Failing.FirstError)
		}
	}
}

// lastAttempt returns the last iteration with a result for a task, 0 if none is stored.
func lastAttempt(s loop.State, task string) int {
	for _, h := range slices.Backward(s.History) {
		if h.Task == task {
			return h.Iteration
		}
	}
	return 0
}

// addCurrentAttempt fills in the last attempt of the current story, if it failed. A failure from before
// the attempt does not count if the attempt had no result.
func (p planFiles) addCurrentAttempt(f *planloop.Failure, m memory.Memory) {
	s := m.State
	last := s.Iteration
	if s.Phase != loop.Ended { // not the current attempt
		last--
	}
	found := lastAttempt(s, f.Story) == last || s.Policy.EveryTurn && s.Phase != loop.Ended
	if s.Failing == nil || !found || s.Phase == loop.Ended && s.Gates.Green {
		return
	}
	f.Iteration, f.Base, f.Reason = last, p.baseCommit(m.Base), s.Failing.Reason
	if f.Tests = s.Failing.Tests; len(f.Tests) > 0 || s.Failing.FirstError != "" {
		f.Output = cmp.Or(failedOutput(m.Results), s.Failing.FirstError)
	}
}

// failedOutput returns the output of the failed gates, each below its command.
func failedOutput(results []gate.Result) string {
	var b strings.Builder
	for _, r := range results {
		if r.Status == gate.Fail {
			fmt.Fprintf(&b, "$ %s (exit %d)\n%s\n", strings.ReplaceAll(r.Command, "\n", " "), r.ExitCode, strings.TrimRight(r.Tail, "\n"))
		}
	}
	return b.String()
}

// updateProgressFile updates progress.md as the plan loop does: the file exists from the first turn
// on, and lists failed attempts and commits. The runner adds the kept work with the tick.
func (p planFiles) updateProgressFile(m memory.Memory, attempts []planloop.Failure) error {
	file := path.Join(path.Dir(p.Spec.Plan), planloop.ProgressFile)
	if !slices.Contains(p.OwnPaths(), file) {
		return nil
	}
	return p.changeFile(file, func(old []byte) []byte {
		text := bytes.Clone(old)
		if len(bytes.TrimSpace(text)) == 0 {
			text = []byte(planloop.NewProgress)
		}
		for _, f := range attempts {
			if f.IsInProgressFile(text) {
				continue
			}
			if text[len(text)-1] != '\n' {
				text = append(text, '\n')
			}
			text = append(text, f.ProgressEntry()...)
		}
		for _, t := range m.State.Tasks {
			if t.Status == loop.Done && !t.DoneEarlier && t.Commit != "" {
				text = planloop.StampCommit(text, t.ID, t.Commit)
			}
		}
		return text
	})
}
