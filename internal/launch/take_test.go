package launch_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

const otherSession = "0d1f2a3b-0000-4000-8000-000000000002"

// configureScriptAgent writes a configuration in which a shell script is the agent.
func configureScriptAgent(t *testing.T, env environment.Environment, script string) {
	t.Helper()
	path := filepath.Join(env.ConfigHome, "pawl", "agent.sh")
	write(t, filepath.Join(env.ConfigHome, "pawl", "config.toml"), "agent = \"command\"\nagent_command = \""+filepath.ToSlash(path)+"\"\n")
	write(t, path, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// beginTestLoop starts a loop in a session with a gate that fails, and returns it.
func beginTestLoop(t *testing.T, root string, env environment.Environment, change func(*launch.SessionRequest)) *launch.SessionLoop {
	t.Helper()
	q := sessionRequestIn(root, env, map[string]any{"gates": []string{"test -f done.txt"}})
	q.Session.Client = os.Getpid() // a running client
	if change != nil {
		change(&q)
	}
	a, err := beginInSession(t, q, launch.SessionOptions{GateTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func loadMemory(t *testing.T, l *store.Loop) memory.Memory {
	t.Helper()
	m, _, err := record.Load(l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func take(t *testing.T, l *store.Loop, env environment.Environment, id string) (*launch.SessionLoop, error) {
	t.Helper()
	return launch.TakeIntoSession(t.Context(), l, env, launch.SessionOptions{Session: launch.UserSession{Session: id, Client: os.Getpid()}, GateTimeout: time.Hour})
}

// A loop that leaves its session continues in fresh ones, in the user's current work tree. It returns
// with its whole state.
func TestHandoverAndTake(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	configureScriptAgent(t, env, `echo "more to come"; touch "`+root+`/turned"; sleep 20`)
	a := beginTestLoop(t, root, env, func(q *launch.SessionRequest) { q.Handover = true })
	d, err := launch.Resume(t.Context(), a.Loop, env, launch.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { _, err := d.Run(t.Context()); stopped <- errors.Join(err, d.Close()) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(root, "turned")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no turn begins")
		}
	}
	if _, err := take(t, a.Loop, env, otherSession); err == nil {
		t.Fatal("it was taken from a runner that has it")
	}
	if err := a.Loop.Post("take", record.Message{Kind: record.MessageToSession}); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	back, err := take(t, a.Loop, env, otherSession)
	if err != nil {
		t.Fatal(err)
	}
	m := loadMemory(t, a.Loop)
	if !m.State.InSession || m.State.Phase != loop.Turning || back.GatesRunning || !strings.Contains(back.Prompt, "do it") {
		t.Errorf("it continues: %+v, told %q", m.State.Phase, back.Prompt)
	}
	if m.Bound.Session != otherSession {
		t.Errorf("bound: %+v", m.Bound)
	}
	sessions := session.Open(env.PawlHome)
	if _, err := sessions.Find(sessionID); !errors.Is(err, session.ErrNone) {
		t.Errorf("the session that it lived in: %v", err)
	}
	b, err := sessions.Find(otherSession)
	if err != nil || b.Loop != a.Loop.ID || b.Epoch != 3 || b.GivenTurns != m.TurnsBegun {
		t.Errorf("the session that has it: %+v, %v", b, err)
	}
}

// A loop does not leave its session if the agent is not installed.
func TestHandoverWithoutAgent(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	script := filepath.Join(env.ConfigHome, "pawl", "agent.txtar")
	write(t, filepath.Join(env.ConfigHome, "pawl", "config.toml"), "agent = \"scripted\"\nagent_command = \""+filepath.ToSlash(script)+"\"\n")
	write(t, script, "-- 1/reply --\nnothing\n")
	a := beginTestLoop(t, root, env, nil)
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if d, err := launch.Resume(t.Context(), a.Loop, env, launch.ResumeOptions{}); err == nil {
		t.Fatalf("it continues: %v", d.Close())
	}
	if last, _, err := a.Loop.Holder(); err != nil || last.Epoch != 1 {
		t.Errorf("owner %+v, %v", last, err)
	}
}

func TestTakeIsRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, session, want string
		change              func(t *testing.T, a *launch.SessionLoop, env environment.Environment)
	}{
		{name: "it lives here", session: sessionID, want: "is already in this session"},
		{name: "it lives elsewhere", session: otherSession, want: "runs in session 0d1f2a3b"},
		{
			name: "another lives here", session: otherSession, want: "a loop runs in this session: other",
			change: func(t *testing.T, a *launch.SessionLoop, env environment.Environment) {
				t.Helper()
				journalSessionClosed(t, a)
				bindOther(t, env, a)
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, env := newProject(t)
			a := beginTestLoop(t, root, env, nil)
			if c.change != nil {
				c.change(t, a, env)
			}
			err := launch.RefuseTake(t.Context(), a.Loop, env, launch.UserSession{Session: c.session})
			if err == nil || !strings.Contains(err.Error(), c.want) || failure.CodeOf(err) != failure.Usage {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// journalSessionClosed journals that the loop's session was closed.
func journalSessionClosed(t *testing.T, a *launch.SessionLoop) {
	t.Helper()
	owner, err := a.Loop.Rejoin(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := record.Encode(memory.BoundSession{Session: sessionID, Agent: "claude", Closed: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = owner.Append(eventEntry(memory.TypeBound, data))
	if err := errors.Join(err, owner.Close()); err != nil {
		t.Fatal(err)
	}
}

// bindOther binds another loop to the session that shall take this one.
func bindOther(t *testing.T, env environment.Environment, a *launch.SessionLoop) {
	t.Helper()
	st := store.Open(env.PawlHome)
	from, to := a.Loop.Dir, filepath.Join(filepath.Dir(a.Loop.Dir), "other")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if m := loadMemory(t, st.Loop("other")); !m.State.InSession {
		t.Fatal("the other loop is none")
	}
	if err := session.Open(env.PawlHome).Bind(t.Context(), session.Binding{Session: otherSession, Loop: "other", Epoch: 1}); err != nil {
		t.Fatal(err)
	}
}

// A loop can be taken from a closed session at once.
func TestLoopIsTakenFromClosedSessionAtOnce(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	a := beginTestLoop(t, root, env, nil)
	journalSessionClosed(t, a)
	if err := a.Loop.Post("pause", record.Message{Kind: record.MessagePause}); err != nil {
		t.Fatal(err)
	}
	if _, err := take(t, a.Loop, env, otherSession); err != nil {
		t.Fatal(err)
	}
	m := loadMemory(t, a.Loop)
	if diff := cmp.Diff(memory.BoundSession{Session: otherSession, Agent: "claude", Client: os.Getpid()}, m.Bound); diff != "" {
		t.Error(diff)
	}
	if !m.State.InSession || m.State.Iteration != 1 {
		t.Errorf("%+v", m.State)
	}
}

// If the process that moved a loop into a session was killed, the session does not know the loop and
// takes it again.
func TestTakeIsRepeatedAfterKilledTake(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	a := beginTestLoop(t, root, env, nil)
	sessions := session.Open(env.PawlHome)
	if _, err := sessions.Release(t.Context(), sessionID, a.Loop.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := take(t, a.Loop, env, sessionID); err != nil {
		t.Fatal(err)
	}
	m := loadMemory(t, a.Loop)
	if b, err := sessions.Find(sessionID); err != nil || b.Epoch != 2 || b.GivenTurns != m.TurnsBegun || m.State.Iteration != 1 {
		t.Errorf("%+v, %v, iteration %d", b, err, m.State.Iteration)
	}
	if _, err := take(t, a.Loop, env, sessionID); err == nil {
		t.Error("it was taken twice")
	}
}

// If the new owner of a loop died, the loop stays in its session, and the session's binding is
// updated.
func TestLoopOfDeadOwnerStaysInSession(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	a := beginTestLoop(t, root, env, func(q *launch.SessionRequest) { q.Handover = true })
	appendEvent(t, a.Loop, loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerRunner, Why: "a user asked for it"}})
	appendEvent(t, a.Loop, loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ContextPercent: -1}}})
	appendEvent(t, a.Loop, loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}})
	if m := loadMemory(t, a.Loop); m.State.Phase != loop.HandingOver {
		t.Fatalf("it is %s", m.State.Phase)
	}
	owner, err := a.Loop.Own(t.Context())
	if err := errors.Join(err, owner.Close()); err != nil {
		t.Fatal(err)
	}
	if err := launch.KeepInSession(t.Context(), a.Loop, env, "there is no client"); err != nil {
		t.Fatal(err)
	}
	m := loadMemory(t, a.Loop)
	if !m.State.InSession || m.State.Phase != loop.Turning || !m.State.Handover.Failed {
		t.Errorf("%+v", m.State)
	}
	if _, err := os.Stat(record.PromptPath(a.Loop, m)); err != nil {
		t.Error(err)
	}
	sessions := session.Open(env.PawlHome)
	if b, err := sessions.Find(sessionID); err != nil || b.Epoch != 2 || b.GivenTurns != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	// Its hooks may have removed the binding because of the other owner.
	if _, err := sessions.Release(t.Context(), sessionID, a.Loop.ID); err != nil {
		t.Fatal(err)
	}
	if err := launch.KeepInSession(t.Context(), a.Loop, env, "there is no client"); err != nil {
		t.Fatal(err)
	}
	if b, err := sessions.Find(sessionID); err != nil || b.Loop != a.Loop.ID || b.Epoch != 2 || !b.WaitingForTurn {
		t.Errorf("%+v, %v", b, err)
	}
}

// appendEvent appends an event as the session's hooks do.
func appendEvent(t *testing.T, l *store.Loop, e loop.Event) {
	t.Helper()
	last, _, err := l.Holder()
	if err != nil {
		t.Fatal(err)
	}
	owner, err := l.Rejoin(t.Context(), last.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	e.At = time.Now()
	_, data, err := record.Event(e, nil)
	if err == nil {
		_, err = owner.Append(eventEntry(memory.TypeEvent, data))
	}
	if err := errors.Join(err, owner.Close()); err != nil {
		t.Fatal(err)
	}
}

func eventEntry(kind string, data json.RawMessage) journal.Entry {
	return journal.Entry{Type: kind, Data: data}
}
