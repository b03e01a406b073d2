package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// lease holds a loop's lock, with its journal open for appending. Release it when done.
type lease struct {
	loop     *store.Loop
	owner    *store.Owner
	spec     record.Spec
	files    statefile.Files // another tool's files, which the loop keeps up to date
	mem      memory.Memory
	clock    *record.Clock
	redact   func(string) string
	outbox   *notify.Outbox
	notices  []notice.Notice // to be sent once their events are in the journal
	hasEnded bool            // a pending event ended the loop; its telemetry is to be sent

	pending        []journal.Entry // applied, but not yet written to the journal
	actions        []loop.Action   // of the last event
	failingBefore  *loop.Failing   // what was failing when the lease was acquired
	userTurn       bool            // the turn that ended was the user's
	journalDamaged bool            // and the snapshot does not say so yet
	deferSync      bool            // losing the pending entries in a power failure does no harm
}

// errNotOwner means that another owner drives the loop.
var errNotOwner = errors.New("this session no longer runs it")

// acquire takes the loop's lock and reads its state. It returns a *store.HeldError if
// another process holds the lock, and errNotOwner if another owner has taken over the
// loop or its folder is gone.
func (h *handler) acquire(ctx context.Context, b session.Binding) (*lease, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	spec, err := record.ReadSpec(l)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("its folder is gone: %w", errNotOwner)
	}
	if err != nil {
		return nil, err
	}
	s := &lease{loop: l, clock: &h.clock, redact: h.redact(), spec: spec, files: statefile.FilesOf(b.Root, l.Dir, spec)}
	s.outbox = &notify.Outbox{Dir: l.Dir, Loop: l.ID, Settings: s.spec.Notify, Tool: h.Tool, Vars: h.Env.Vars, Start: h.startProcess}
	s.owner, err = l.Rejoin(ctx, b.Epoch)
	if held, ok := errors.AsType[*store.HeldError](err); errors.Is(err, store.ErrOwnershipLost) || ok && held.Epoch > b.Epoch {
		return nil, errNotOwner
	}
	if err != nil {
		return nil, err
	}
	var corrupt *journal.CorruptError
	if s.mem, _, err = record.Load(l); err != nil && !errors.As(err, &corrupt) {
		return nil, errors.Join(err, s.owner.Close())
	}
	s.failingBefore, s.userTurn = s.mem.State.Failing, h.userTurn
	if s.journalDamaged = corrupt != nil; s.journalDamaged {
		s.note(loop.Anomaly, "the journal is damaged; Pawl uses the part before the damage: "+corrupt.Error())
	}
	return s, nil
}

// HasNoRunningLoop reports whether a session has no running loop: it has none, or its loop has
// ended, which the next event reports.
func HasNoRunningLoop(home, id string) bool {
	b, err := session.Open(home).Find(id)
	if err != nil || b.Loop == "" {
		return errors.Is(err, session.ErrNone)
	}
	m, _, err := record.Load(store.Open(home).Loop(b.Loop))
	return err == nil && m.State.Phase == loop.Ended
}

// redact returns the function that removes secrets from text.
func (h *handler) redact() func(string) string {
	if h.Redact != nil {
		return h.Redact
	}
	return redact.New(h.Env.Vars).String
}

// step applies one event to the state machine. flush writes it to the journal, before any
// action is performed.
func (s *lease) step(e loop.Event) error {
	s.clock.AdvanceTo(s.mem.State.Now)
	e, data, err := record.Event(s.clock.Stamp(e), s.redact)
	if err != nil {
		return fmt.Errorf("encode %s: %w", e.Kind(), err)
	}
	s.pending = append(s.pending, journal.Entry{Type: memory.TypeEvent, Data: data})
	before := s.mem.State.Phase
	s.actions = s.mem.Apply(e)
	s.hasEnded = s.hasEnded || before != loop.Ended && s.mem.State.Phase == loop.Ended
	s.notices = append(s.notices, s.mem.Notices...)
	for _, a := range s.actions {
		if n, ok := a.Payload.(loop.Note); ok {
			s.note(n.Level, n.Text)
		}
	}
	return nil
}

// endAction applies the event that ends the pending action.
func (s *lease) endAction(p loop.EventPayload) error {
	return s.step(loop.Event{ActionID: s.mem.State.LastAction, Payload: p})
}

// note journals a message.
func (s *lease) note(level loop.Level, text string) {
	s.appendNote(memory.Note{Level: level, Text: text})
}

// recordVerdict journals what the guard decided, unless it simply allowed the call.
func (s *lease) recordVerdict(v memory.GuardVerdict) {
	if s.mem.GuardLog.IsNew(v) {
		s.mem.ApplyNote(v.Note())
		s.appendNote(v.Note())
	}
}

// appendNote adds a note to the pending journal entries.
func (s *lease) appendNote(n memory.Note) {
	data, err := record.Encode(n, s.redact)
	if err == nil { // strings always encode
		s.pending = append(s.pending, journal.Entry{Type: memory.TypeNote, Data: data})
	}
}

// recordBinding journals the loop's session, and whether it rests.
func (s *lease) recordBinding(b session.Binding, is memory.BoundSession) {
	s.mem.Bound = memory.BoundSession{Session: b.Session, Agent: "claude", Client: b.Client, Closed: is.Closed, Capped: is.Capped}
	s.pending = append(s.pending, journal.Entry{Type: memory.TypeBound, Data: s.mem.Bound})
}

// flush writes the applied events to the journal, all or none.
func (s *lease) flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	write := s.owner.Append
	if s.deferSync {
		write = s.owner.AppendSoon
	}
	mark, err := write(s.pending...)
	if err != nil {
		return err
	}
	s.pending = nil
	for _, n := range s.notices {
		s.outbox.Post(n.ForLoop(s.loop.ID, s.spec.Goal(), s.spec.Root))
	}
	s.notices = nil
	if s.hasEnded && s.spec.SendsTelemetry(s.outbox.Vars) {
		s.outbox.PostTelemetry()
	}
	s.hasEnded = false
	if s.deferSync && s.mem.State.Turns%snapshotEvery != 0 {
		return nil
	}
	return s.owner.SaveState(mark, s.mem)
}

// snapshotEvery is how many turns without a claim the snapshot may lag behind the
// journal: reading their records takes less time than replacing a file.
const snapshotEvery = 10

// release writes pending events to the journal and unlocks the loop.
func (s *lease) release() error { return errors.Join(s.flush(), s.owner.Close()) }

// noteIfFree journals a note if nobody else holds the loop.
func (h *handler) noteIfFree(ctx context.Context, b session.Binding, text string) error {
	return h.withLease(ctx, b, func(s *lease) error {
		s.note(loop.Info, text)
		return nil
	})
}
