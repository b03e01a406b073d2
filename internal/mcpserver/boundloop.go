package mcpserver

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/session"
)

// boundLoop is the loop that a call is about, as it stands at that moment.
type boundLoop struct {
	*loopinfo.Loop
	vars []string // NAME=value, some of which are secret
}

// errNone: no loop lives in the session.
var errNone = errors.New("no loop runs in this session")

const noneText = "No loop runs in this session, so there is nothing to do here. The user starts one with  /pawl:loop GOAL . The tool verify still runs the project's gates."

// findBound finds the loop.
func (s *Server) findBound() (*boundLoop, error) {
	id := s.Loop
	if id == "" {
		b, err := session.Open(s.Env.PawlHome).FindByClient(s.Env.Session.ID, s.Client)
		switch {
		case errors.Is(err, session.ErrNone) || err == nil && (b.Loop == "" || b.LoopMoved || !s.answersHere(b)):
			return nil, failure.New(failure.Usage, "without one there is nothing to record; the user starts one with  /pawl:loop GOAL", "%w", errNone)
		case err != nil:
			return nil, err
		}
		id = b.Loop
	}
	l, err := loopinfo.ReadDamaged(s.store.Loop(id)) // its owner says that its journal is damaged
	if err != nil {
		return nil, err
	}
	return &boundLoop{l, s.Env.Vars}, nil
}

// answersHere reports whether a binding is that of our session. One that was found by the
// client's process may be of a process that had the same number long ago.
func (s *Server) answersHere(b session.Binding) bool {
	rel, err := filepath.Rel(b.Root, s.Dir)
	return b.Session == s.Env.Session.ID || err == nil && filepath.IsLocal(rel)
}

// inTurn is sit for what belongs to a turn of the loop: between turns Pawl judges,
// and nobody else has a say.
func (s *Server) inTurn() (*boundLoop, error) {
	at, err := s.findBound()
	if err != nil {
		return nil, err
	}
	switch st := at.Memory.State; {
	case st.Phase == loop.Ended:
		return nil, failure.New(failure.Usage, "nothing more can be recorded: tell the user instead", "loop %s has ended: %s", at.ID, st.Outcome)
	case !at.Memory.IsInTurn(at.Memory.TurnsBegun):
		return nil, failure.New(failure.Usage, "end your turn, or wait for Pawl", "loop %s has no turn now: Pawl is working", at.ID)
	}
	return at, nil
}

// said is inTurn with a text of the agent's, which must say something.
func (s *Server) said(name, text string, most int) (*boundLoop, string, error) {
	text, err := given(name, text, most)
	if err != nil {
		return nil, "", err
	}
	at, err := s.inTurn()
	return at, text, err
}

// task finds an open task by its id, "" for the one at work.
func (at *boundLoop) task(id string) (loop.Task, error) {
	st := at.Memory.State
	if id = strings.TrimSpace(id); id == "" {
		id = st.Current
	}
	t, ok := st.Task(id)
	if ok && t.Status == loop.Done {
		return t, failure.New(failure.Usage, "next_task shows the next one", "task %s is done already", id)
	}
	if !ok {
		return t, failure.New(failure.Usage, "leave out the id for the current task, "+st.Current+"; open are: "+at.openTasks(), "there is no task %q", bounded(id, 100))
	}
	return t, nil
}

const tasksShown = 20

func (at *boundLoop) openTasks() string {
	return plan.Few(at.Memory.State.Tasks.IDs(func(t loop.Task) bool { return t.Status == loop.Open }), tasksShown)
}

// post leaves a message for the loop's owner, without secrets: it is kept.
func (at *boundLoop) post(m record.Message) error {
	m.Text = at.redacted(m.Text)
	return at.Post(m.NewID(), m)
}

func (at *boundLoop) redacted(text string) string { return redact.New(at.vars).String(text) }
