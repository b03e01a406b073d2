// Package loopinfo reads how a loop stands, and says what there is to see of it.
//
//	s, err := loopinfo.Read(loop)
//	fmt.Println(s.ID, s.Headline(s.Summary(), time.Now()))
//
// Loop is what the loop was created with, what its journal tells, and who drives it. Its
// methods say that for people and programs: in one line and on one page (Headline, Status),
// for a report (Report, Facts), as the decisions that made it so (Explain), and as tool
// calls and diffs (Calls, TaskDiff). Screen and Pages show that live, in a terminal and in a
// browser; what a user does there runs a command line of pawl's. Nothing is decided here. Only
// Worktree changes something: it makes a loop's worktree again that is gone.
package loopinfo

import (
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Orphaned is the state of a loop that has not ended and that nobody drives.
const Orphaned = "orphaned"

// Loop is a loop as it stands now.
type Loop struct {
	*store.Loop
	Spec   record.Spec
	Memory memory.Memory
	Mark   journal.Mark // of the record up to which it remembers
	Driver store.Holder // who drives it, or drove it last
	Alive  bool         // the driver lives
	Damage error        // of its journal, nil without
}

// Read reads how a loop stands now. With a *journal.CorruptError the loop is
// as good as the journal.
func Read(l *store.Loop) (*Loop, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	s := &Loop{Loop: l, Spec: spec}
	if s.Driver, s.Alive, err = l.Holder(); err != nil {
		return nil, err
	}
	s.Memory, s.Mark, err = record.Load(l)
	if st := &s.Memory.State; s.Alive && st.EndedAt.IsZero() && !st.StartedAt.IsZero() && time.Now().After(st.Now) {
		st.Now = time.Now() // the journal tells of work once it is done: its time runs meanwhile
	}
	return s, err
}

// ReadDamaged is Read for who shows what there is: as far as the journal can be read.
func ReadDamaged(l *store.Loop) (*Loop, error) {
	s, err := Read(l)
	if _, corrupt := errors.AsType[*journal.CorruptError](err); corrupt {
		err = nil
	}
	return s, err
}

// Summary is the loop as scripts see it.
func (s *Loop) Summary() record.Summary {
	sum := record.Summarize(s.Spec, s.Memory)
	sum.State = stateWord(sum, s.Alive)
	sum.MarkClosedIfGone(proc.Alive)
	return sum
}

// InSession reports whether the loop lives in a user's session, whose hooks drive
// it: there nobody drives it most of the time, and it is not orphaned.
func (s *Loop) InSession() bool { return s.Memory.InSession(s.Spec.Policy) }

// HasEnded reports whether the loop has an outcome, and its owner has done what was left to do.
func (s *Loop) HasEnded() bool { return s.Memory.State.Phase == loop.Ended }

// stateWord is the state of a loop, given what its journal says and whether
// somebody drives it.
func stateWord(journalled record.Summary, alive bool) string {
	if !alive && !journalled.InSession && (journalled.State == "running" || journalled.State == "waiting") {
		return Orphaned
	}
	return journalled.State
}

// SessionWords says for people where a loop lives.
func SessionWords(sum record.Summary) string {
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

// StateAt returns the state as the journal had it at a time, as far as it can be read.
func (s *Loop) StateAt(at time.Time) loop.State {
	var m memory.Memory
	for r, err := range s.Records(journal.Mark{}) {
		if err != nil || !r.At.Before(at) {
			break
		}
		if next, err := m.Fold(r.Type, r.Data); err == nil { // the store has records of its own
			m = next
		}
	}
	return m.State
}

// Events are those of the journal, in order; damaged records are left out.
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

// IsStranded reports whether nothing can continue the loop, though it has not ended.
func (s *Loop) IsStranded() bool { return s.Damage != nil && !s.Alive && !s.HasEnded() }

// HasWorkLeft reports whether there is something left to do.
func (s *Loop) HasWorkLeft() bool { return s.Memory.State.HasWorkLeft() }

// IsDriven reports whether a process, or a session, takes what is sent to the loop.
func (s *Loop) IsDriven() bool { return s.Alive || s.InSession() }

// IsAdrift reports whether the loop was about to leave its session when whoever saw to that died.
func (s *Loop) IsAdrift() bool { return s.Memory.State.HandsOverTo() == loop.OwnerRunner && !s.Alive }

// termAge is how old an end by TERM may be for the loop to be resumed. A system that
// shuts down ends its processes so, and may be off for a night.
const termAge = 24 * time.Hour

// EndedByRestart reports whether this is a loop in the background whose process is gone, or was
// ended by TERM recently. A loop that the user paused stays paused; one that is held for something
// to be fixed tries whether it is.
func (s *Loop) EndedByRestart(now time.Time) bool {
	st := s.Memory.State
	byTerm := st.Outcome == loop.CancelledEnd && st.Stop.Cause == loop.ByTerm && now.Sub(st.EndedAt) < termAge
	return (s.Spec.DetachOnHangup || s.Driver.Detached) && !s.Alive && (byTerm || s.Summary().State == Orphaned || st.Phase == loop.Paused && st.Trouble.HoldReason != "")
}

// IsReleased reports whether its runner waits for a session that is to take it.
func (s *Loop) IsReleased() bool {
	return s.Memory.State.HandsOverTo() == loop.OwnerSession && proc.Alive(s.Driver.PID)
}

// Sandbox says what confines a loop, a line each; none where nothing does.
func (s *Loop) Sandbox() []string {
	return s.Spec.EffectiveSandbox(s.Memory).Lines(s.InSession())
}
