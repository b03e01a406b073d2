package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// seat is a loop with its journal open: we are its owner until rise.
type seat struct {
	loop   *store.Loop
	owner  *store.Owner
	spec   record.Spec
	mem    record.Memory
	redact func(string) string

	pending  []journal.Entry // stepped, and not in the journal yet
	acts     []loop.Action   // of the last step
	failing  *loop.Failing   // what failed last, when we sat down
	byPerson bool            // the turn that ended was the person's own
	damaged  bool            // the journal is, and the snapshot does not say so yet
	light    bool            // nothing is lost that counts should the power fail now
}

// gone: the loop is not ours to drive any more.
var errGone = errors.New("it is not this session's to drive any more")

// busy: something drives the loop for this session now.
func busy(err error) bool { return errors.As(err, new(*store.HeldError)) }

// sit takes the loop's lock and reads where it stands. It returns a
// *store.HeldError while something drives the loop for this session, and errGone
// where another owner has taken it over or its folder is not there.
func (h *hook) sit(ctx context.Context, b session.Binding) (*seat, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	kept, err := l.Spec()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("its folder is gone: %w", errGone)
	}
	if err != nil {
		return nil, err
	}
	s := &seat{loop: l, redact: h.redact()}
	if s.spec, err = record.Asked(kept); err != nil {
		return nil, err
	}
	s.owner, err = l.Rejoin(ctx, b.Epoch)
	if held, ok := errors.AsType[*store.HeldError](err); errors.Is(err, store.ErrLostOwnership) || ok && held.Epoch > b.Epoch {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	var corrupt *journal.CorruptError
	if s.mem, _, err = record.Remember(l); err != nil && !errors.As(err, &corrupt) {
		return nil, errors.Join(err, s.owner.Close())
	}
	s.failing, s.byPerson = s.mem.State.Failing, h.person
	if s.damaged = corrupt != nil; s.damaged {
		s.note(loop.Anomaly, "the journal is damaged and read as far as it goes: "+corrupt.Error())
	}
	return s, nil
}

// Ended tells whether no loop goes on in a session: none lives there, or the one that
// does has ended, of which the session's next event will tell.
func Ended(home, id string) bool {
	b, err := session.Open(home).Find(id)
	if err != nil || b.Loop == "" {
		return errors.Is(err, session.ErrNone)
	}
	m, _, err := record.Remember(store.Open(home).Loop(b.Loop))
	return err == nil && m.State.Phase == loop.Ended
}

// redact takes secrets out of text.
func (h *hook) redact() func(string) string {
	if h.Redact != nil {
		return h.Redact
	}
	return redact.New(h.Env.Vars).String
}

// step takes one event. It reaches the journal with flush, before anything is
// done about it.
func (s *seat) step(e loop.Event) error {
	e.At = time.Now()
	e, data, err := record.Event(e, s.redact)
	if err != nil {
		return fmt.Errorf("encode %s: %w", e.Kind, err)
	}
	s.pending = append(s.pending, journal.Entry{Type: record.TypeEvent, Data: data})
	s.acts = s.mem.Apply(e)
	for _, a := range s.acts {
		if a.Do == loop.Notify {
			s.note(a.Level, a.Text)
		}
	}
	return nil
}

// note journals something worth knowing.
func (s *seat) note(level loop.Level, text string) { s.add(record.Note{Level: level, Text: text}) }

// judged journals what the guard did not just say yes to.
func (s *seat) judged(j record.Judged) {
	if s.mem.Guarded.News(j) {
		s.mem.Take(j.Note())
		s.add(j.Note())
	}
}

func (s *seat) add(n record.Note) {
	data, err := record.Encode(n, s.redact)
	if err == nil { // strings always encode
		s.pending = append(s.pending, journal.Entry{Type: record.TypeNote, Data: data})
	}
}

// bound journals the session that the loop lives in, and whether it is closed.
func (s *seat) bound(b session.Binding, closed bool) {
	s.mem.Bound = record.Bound{Session: b.Session, Agent: "claude", Client: b.Client, Closed: closed}
	s.pending = append(s.pending, journal.Entry{Type: record.TypeBound, Data: s.mem.Bound})
}

// asks tells whether the last step asked for something.
func (s *seat) asks(do loop.ActionKind) bool {
	return slices.ContainsFunc(s.acts, func(a loop.Action) bool { return a.Do == do })
}

// flush writes what was stepped to the journal, all or none.
func (s *seat) flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	append := s.owner.Append
	if s.light {
		append = s.owner.AppendSoon
	}
	mark, err := append(s.pending...)
	if err != nil {
		return err
	}
	s.pending = nil
	if s.light && s.mem.State.Turns%snapshotEvery != 0 {
		return nil
	}
	return s.owner.SaveState(mark, s.mem)
}

// snapshotEvery is how many turns that claimed nothing the snapshot may be behind
// the journal: their records are read in less time than a file is replaced in.
const snapshotEvery = 10

// rise lets go of the loop. What was stepped is in the journal then.
func (s *seat) rise() error { return errors.Join(s.flush(), s.owner.Close()) }

// remark journals a note on a loop that nobody drives at the moment. Where
// something does, the note is not worth waiting for.
func (h *hook) remark(ctx context.Context, b session.Binding, text string) error {
	return h.quietly(ctx, b, func(s *seat) error {
		s.note(loop.Info, text)
		return nil
	})
}
