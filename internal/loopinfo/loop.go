// Package loopinfo reads the current state of a loop and describes it.
//
//	s, err := loopinfo.Read(loop)
//	fmt.Println(s.ID, s.Headline(s.Summary(), time.Now()))
//
// Loop holds the loop's spec, what its journal says, and its driver. Its methods describe that for
// people and programs: in one line and on one page (Headline, Status), for a report (Report, Facts),
// as decisions (Explain), and as tool calls and diffs (Calls, TaskDiff). Screen and Pages show it
// live, in a terminal and in a browser; what a user does there runs a pawl command. The package
// decides nothing. Only Worktree changes something: it makes a removed worktree again.
package loopinfo

import (
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Orphaned is the state of a loop that has not ended and that nobody drives.
const Orphaned = "orphaned"

// Loop is the current state of a loop.
type Loop struct {
	*store.Loop
	Spec   record.Spec
	Memory memory.Memory
	Mark   journal.Mark // position of the last record in Memory
	Driver store.Holder // the driver, or the last one
	Alive  bool         // the driver's process is alive
	Damage error        // the journal's damage, or nil
}

// Read returns the current state of a loop. With a *journal.CorruptError, the loop holds what could be
// read.
func Read(l *store.Loop) (*Loop, error) {
	spec, err := launch.Spec(l)
	if err != nil {
		return nil, err
	}
	s := &Loop{Loop: l, Spec: spec}
	if s.Driver, s.Alive, err = l.Holder(); err != nil {
		return nil, err
	}
	s.Memory, s.Mark, err = record.Load(l)
	if st := &s.Memory.State; s.Alive && st.EndedAt.IsZero() && !st.StartedAt.IsZero() && time.Now().After(st.Now) {
		st.Now = time.Now() // the journal records work after it is done, so the time of running work is missing
	}
	return s, err
}

// ReadDamaged is Read without the error of a damaged journal: it returns what can be read.
func ReadDamaged(l *store.Loop) (*Loop, error) {
	s, err := Read(l)
	if _, corrupt := errors.AsType[*journal.CorruptError](err); corrupt {
		err = nil
	}
	return s, err
}

// Summary returns the loop's summary for scripts.
func (s *Loop) Summary() record.Summary {
	sum := record.Summarize(s.Spec, s.Memory)
	sum.State = currentState(sum, s.Alive)
	sum.MarkClosedIfGone(proc.Alive)
	return sum
}

// InSession reports whether the loop lives in a user's session, whose hooks drive it. Such a loop
// often has no driver, and is not orphaned.
func (s *Loop) InSession() bool { return s.Memory.InSession(s.Spec.Policy) }

// HasEnded reports whether the loop has an outcome and its owner has finished the cleanup.
func (s *Loop) HasEnded() bool { return s.Memory.State.Phase == loop.Ended }

// currentState returns a loop's state from its journal's state and whether its driver is alive.
func currentState(journalled record.Summary, alive bool) string {
	if !alive && !journalled.InSession && (journalled.State == "running" || journalled.State == "waiting") {
		return Orphaned
	}
	return journalled.State
}

// SessionText says where a loop lives.
func SessionText(sum record.Summary) string {
	switch {
	case !sum.InSession:
		return ""
	case sum.Session == "":
		return " in a session"
	case sum.Closed:
		return " for its session"
	}
	return " in session " + sum.Session[:min(8, len(sum.Session))]
}

// StateAt returns the loop's state at a time, as far as the journal can be read.
func (s *Loop) StateAt(at time.Time) loop.State {
	var m memory.Memory
	for r, err := range s.Records(journal.Mark{}) {
		if err != nil || !r.At.Before(at) {
			break
		}
		if next, err := m.Fold(r.Type, r.Data); err == nil { // other records are the store's
			m = next
		}
	}
	return m.State
}

// Events returns the events of the journal in order. It skips damaged records.
func Events(records iter.Seq2[journal.Record, error]) iter.Seq[loop.Event] {
	return func(yield func(loop.Event) bool) {
		for r, err := range records {
			var e loop.Event
			if err != nil || r.Type != memory.TypeEvent || json.Unmarshal(r.Data, &e) != nil {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// CannotContinue reports whether nothing can continue the loop, though it has not ended.
func (s *Loop) CannotContinue() bool { return s.Damage != nil && !s.Alive && !s.HasEnded() }

// HasWorkLeft reports whether there is something left to do.
func (s *Loop) HasWorkLeft() bool { return s.Memory.State.HasWorkLeft() }

// IsDriven reports whether a process or a session reads the messages to the loop.
func (s *Loop) IsDriven() bool { return s.Alive || s.InSession() }

// DiedLeavingSession reports whether the loop's process died while the loop was leaving its session.
func (s *Loop) DiedLeavingSession() bool {
	return s.Memory.State.HandsOverTo() == loop.OwnerRunner && !s.Alive
}

// maxTermAge is the maximum age of an end by SIGTERM after which a loop is resumed. A system ends
// processes this way when it shuts down, and may be off for a night.
const maxTermAge = 24 * time.Hour

// EndedByRestart reports whether this is a background loop whose process is gone or was ended by
// SIGTERM recently. A loop that the user paused stays paused. A loop that was held until something is
// fixed is resumed, to try again.
func (s *Loop) EndedByRestart(now time.Time) bool {
	st := s.Memory.State
	byTerm := st.Outcome == loop.CancelledEnd && st.Stop.Cause == loop.ByTerm && now.Sub(st.EndedAt) < maxTermAge
	return (s.Spec.DetachOnHangup || s.Driver.Detached) && !s.Alive && (byTerm || s.Summary().State == Orphaned || st.Phase == loop.Paused && st.Trouble.HoldReason != "")
}

// IsReleased reports whether the loop's runner waits for a session to take the loop.
func (s *Loop) IsReleased() bool {
	return s.Memory.State.HandsOverTo() == loop.OwnerSession && proc.Alive(s.Driver.PID)
}

// Sandbox describes the loop's sandbox in lines, without one in none.
func (s *Loop) Sandbox() []string {
	return s.Spec.EffectiveSandbox(s.Memory).Lines(s.InSession())
}

// CurrentSummary returns the summary with the current state: the stored one does not know whether the loop's
// process is alive.
func CurrentSummary(l record.Entry) record.Summary {
	sum := l.Summary
	sum.ID = l.Loop.ID
	if sum.State == "running" || sum.State == "waiting" {
		_, alive, err := l.Loop.Holder()
		sum.State = currentState(sum, alive || err != nil)
	}
	sum.MarkClosedIfGone(proc.Alive)
	return sum
}

// StateOrOutcome returns the state, or the outcome of a loop that ended.
func StateOrOutcome(s record.Summary) string {
	words := s.State + SessionText(s)
	if s.Outcome != "" {
		words = string(s.Outcome)
	}
	if s.State != "ended" && s.Question != nil {
		words += ", asks you"
	}
	if s.State == "paused" && s.Reason != "" {
		words += ": " + plan.OneLine(s.Reason, 60)
	}
	if len(s.Tests) > 0 {
		words += ", waits for an approval"
	}
	if len(s.Approved) > 0 {
		words += ", tests approved"
	}
	if s.Merge != "" {
		words += ", asks you to merge"
	}
	return words
}
