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

// boundLoop is the session's loop at the time of the call.
type boundLoop struct {
	*loopinfo.Loop
	vars []string // NAME=value, some of which are secret
}

// errNoLoop means that the session has no loop.
var errNoLoop = errors.New("no loop runs in this session")

const noLoopText = "No loop runs in this session, so there is nothing to do here. The user starts one with  /pawl:loop GOAL . The tool verify still runs the project's gates."

// findBound returns the loop of the session.
func (s *Server) findBound() (*boundLoop, error) {
	id := s.Loop
	if id == "" {
		b, err := session.Open(s.Env.PawlHome).FindByClient(s.Env.Session.ID, s.Client)
		switch {
		case errors.Is(err, session.ErrNone) || err == nil && (b.Loop == "" || b.LoopMoved || !s.isOwnBinding(b)):
			return nil, failure.New(failure.Usage, "without one there is nothing to record; the user starts one with  /pawl:loop GOAL", "%w", errNoLoop)
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

// isOwnBinding reports whether a binding belongs to our session. A binding found by process id may
// be of an earlier process with the same id.
func (s *Server) isOwnBinding(b session.Binding) bool {
	rel, err := filepath.Rel(b.Root, s.Dir)
	return b.Session == s.Env.Session.ID || err == nil && filepath.IsLocal(rel)
}

// requireTurn returns the session's loop while a turn runs, else an error: between turns, Pawl runs
// the gates.
func (s *Server) requireTurn() (*boundLoop, error) {
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

// requireTurnAndText is requireTurn with a text of the agent, which must not be empty.
func (s *Server) requireTurnAndText(name, text string, most int) (*boundLoop, string, error) {
	text, err := checkText(name, text, most)
	if err != nil {
		return nil, "", err
	}
	at, err := s.requireTurn()
	return at, text, err
}

// task returns an open task by its id; "" means the current one.
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
		return t, failure.New(failure.Usage, "leave out the id for the current task, "+st.Current+"; open are: "+at.openTasks(), "there is no task %q", cutMiddle(id, 100))
	}
	return t, nil
}

const maxListedTasks = 20

func (at *boundLoop) openTasks() string {
	return plan.Few(at.Memory.State.Tasks.IDs(func(t loop.Task) bool { return t.Status == loop.Open }), maxListedTasks)
}

// post leaves a message for the loop's owner, without secrets.
func (at *boundLoop) post(m record.Message) error {
	m.Text = at.redacted(m.Text)
	return at.Post(m.NewID(), m)
}

func (at *boundLoop) redacted(text string) string { return redact.New(at.vars).String(text) }
