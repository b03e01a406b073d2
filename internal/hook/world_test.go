package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// fixture is a home of Pawl, a project, and a client with a session s1.
type fixture struct {
	t    testing.TB
	home string
	root string
	env  environment.Environment
	loop *store.Loop // nil before begin
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureIn(t, t.TempDir())
}

func newFixtureIn(t testing.TB, dir string) *fixture {
	t.Helper()
	w := &fixture{t: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "root")}
	for _, d := range []string{w.home, w.root} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = environment.Environment{
		Home: dir, PawlHome: w.home,
		Vars:    []string{role + "=" + asTool, "PAWL_HOME=" + w.home, "HOME=" + dir, "SystemRoot=" + os.Getenv("SystemRoot")},
		Session: environment.Session{Inside: true, ID: "s1", Client: os.Getpid(), Project: w.root},
	}
	return w
}

// usualSpec is the specification of most loops in these tests.
func usualSpec() record.Spec {
	return record.Spec{
		Request:     record.Request{Prompt: "do it", Tasks: []loop.Task{{ID: loop.GoalTask, Title: "do it", Status: loop.Open}}},
		TurnOptions: record.TurnOptions{Promise: "DONE"},
		Repository:  record.Repository{NoCommit: true},
		Policy: loop.Policy{
			Kind: loop.Change, Limits: loop.Limits{Iterations: 25}, Session: loop.Continue, Gates: true, InSession: true,
		},
	}
}

// begin starts a loop in this session.
func (w *fixture) begin(spec record.Spec) {
	w.t.Helper()
	l, err := beginIn(context.Background(), w.home, spec, session.Binding{
		Session: "s1", Root: w.root, Client: w.env.Session.Client, LoopPrompt: "p1", CompatFile: spec.CompatFile, Unattended: spec.Unattended,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.loop = l
}

func beginIn(ctx context.Context, home string, spec record.Spec, b session.Binding) (*store.Loop, error) {
	l, err := store.Open(home).Create(b.Root, spec)
	if err != nil {
		return nil, err
	}
	owner, err := l.Own(ctx)
	if err != nil {
		return nil, err
	}
	_, err = owner.Append(journal.Entry{Type: memory.TypeBound, Data: memory.BoundSession{Session: b.Session, Agent: "claude", Client: b.Client}})
	b.Loop, b.Epoch, b.Since = l.ID, owner.Epoch(), time.Now()
	if err := errors.Join(err, owner.Close(), drive(ctx, home, l.ID)); err != nil {
		return nil, err
	}
	m, _, err := record.Load(l)
	if err != nil {
		return nil, err
	}
	b.GivenTurns = m.TurnsBegun
	return l, session.Open(home).Bind(ctx, b)
}

// beginFor stands for `pawl session begin`.
func beginFor(ctx context.Context, home string, q session.BeginRequest) session.BeginResult {
	if strings.Contains(q.Args, "--bad") {
		return session.BeginResult{Error: "no such flag: --bad", Hint: "see pawl help"}
	}
	spec := usualSpec()
	if q.Adopt != "" {
		spec.CompatFile, spec.CompatFormat = statefile.DisplayPath(q.Root, q.Adopt), q.Format
	}
	if other, err := session.Open(home).Find("s1"); err == nil && q.Session != "s1" && spec.CompatFile != "" && other.CompatFile == spec.CompatFile {
		return session.BeginResult{Message: "loop " + other.Loop + " follows it"}
	}
	b := session.Binding{Session: q.Session, Root: q.Root, Client: q.Client, LoopPrompt: q.PromptID, CompatFile: spec.CompatFile, Unattended: q.Unattended, Responder: q.Responder}
	l, err := beginIn(ctx, home, spec, b)
	if err != nil {
		return session.BeginResult{Error: err.Error()}
	}
	message := fmt.Sprintf("%s begun by %s %q", l.ID, q.Command, q.Args)
	if q.Adopt != "" {
		message = "loop " + l.ID + " begun from " + spec.CompatFile
	}
	if q.ByAgent {
		message += ", which the agent wrote"
	}
	return session.BeginResult{Loop: l.ID, Message: message, Context: "the first prompt"}
}

// sendMessage stands for pawl stop, pawl tell and others: it sends a message and performs it at once.
func (s streams) sendMessage(ctx context.Context, home, id string, m record.Message) error {
	l := store.Open(home).Loop(id)
	if err := l.Post(fmt.Sprintf("m%d", time.Now().UnixNano()), m); err != nil {
		return err
	}
	fmt.Fprintln(s.out, m.Kind, "of", id)
	return drive(ctx, home, id)
}

// binding returns what the session's hooks know of its loop.
func (w *fixture) binding(id string) session.Binding {
	b := session.Binding{Session: "s1", Loop: id}
	for r, err := range store.Open(w.home).Loop(id).Records(journal.Mark{}) {
		if err == nil {
			b.Epoch = r.Epoch
		}
	}
	return b
}

// drive stands for `pawl session drive`: it performs actions with scripted gate results
// ($PAWL_HOME/script, one word for each run), until the session's next turn is due.
func drive(ctx context.Context, home, id string) error {
	w := fixture{home: home}
	h := &handler{Call: Call{Env: environment.Environment{PawlHome: home}}}
	s, err := h.acquire(ctx, w.binding(id))
	if err != nil {
		return err
	}
	err = receiveMessages(s)
	for err == nil {
		var e loop.Event
		if e, err = w.performAction(s); err != nil || e.Kind() == "" {
			break
		}
		if err = s.step(e); err == nil {
			err = s.flush()
		}
	}
	handing := s.mem.State.Phase == loop.HandingOver
	if err := errors.Join(err, s.release()); err != nil || !handing {
		return err
	}
	return w.runScriptedHandover(ctx, s.loop)
}

// runScriptedHandover stands for `pawl session run`, which takes the loop over. If the script says
// that it fails to start, the loop stays.
func (w fixture) runScriptedHandover(ctx context.Context, l *store.Loop) error {
	h := loop.HandedOver{To: loop.OwnerRunner}
	own := l.Own
	word, err := w.nextScriptWord()
	if err != nil {
		return err
	}
	if word == "stays" {
		h = loop.HandedOver{To: loop.OwnerSession, Failed: true, Why: "no client"}
		own = func(ctx context.Context) (*store.Owner, error) { return l.Rejoin(ctx, w.binding(l.ID).Epoch) }
	}
	o, err := own(ctx)
	if err != nil {
		return err
	}
	m, _, err := record.Load(l)
	s := &lease{loop: l, clock: &record.Clock{}, owner: o, mem: m, redact: func(text string) string { return text }}
	if err == nil {
		err = s.step(loop.Event{Payload: h})
	}
	if err == nil && h.To == loop.OwnerSession {
		err = writeTurn(s)
	}
	return errors.Join(err, s.release())
}

// performAction performs the pending action. It returns no event if there is none.
func (w fixture) performAction(s *lease) (loop.Event, error) {
	st := s.mem.State
	switch st.Phase {
	case loop.New, "":
		return loop.Event{Payload: loop.Started{Policy: s.spec.Policy, Tasks: s.spec.Tasks}}, nil
	case loop.Checkpointing:
		return loop.Event{Payload: loop.Checkpointed{Tree: "t0"}}, nil
	case loop.Baseline:
		return loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: st.Gates.Purpose, Tree: "t0", Status: gate.Fail, Reason: "red before"}}}, nil
	case loop.Inspecting:
		return loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, nil
	case loop.Judging:
		g, err := w.runScriptedGates(st)
		return loop.Event{Payload: loop.GatesFinished{Gates: g}}, err
	case loop.Committing:
		return loop.Event{Payload: loop.Committed{Tree: "t1"}}, nil
	case loop.Finishing:
		return loop.Event{Payload: loop.Concluded{}}, nil
	case loop.Restoring:
		return loop.Event{Payload: loop.Restored{Tree: "t0"}}, nil
	case loop.Waiting:
		if (&handler{}).isWaitOver(st) {
			return loop.Event{Payload: loop.TimerFired{}}, nil
		}
	case loop.Turning:
		return loop.Event{}, writeTurn(s)
	case loop.TurningIsolated:
		return loop.Event{Payload: loop.TurnEnded{Isolated: true, Turn: loop.Turn{ToolCalls: 1, Rounds: 2, Usage: loop.Usage{Input: 10, CostUSD: 0.25}}}}, nil
	case loop.HandingOver, loop.Paused, loop.Ended:
	}
	return loop.Event{}, nil
}

// nextScriptWord returns and removes the next word of the script.
func (w fixture) nextScriptWord() (string, error) {
	path := filepath.Join(w.home, "script")
	data, _ := os.ReadFile(path) // none is an empty one
	words := strings.Fields(string(data))
	if len(words) == 0 {
		return "red", nil
	}
	return words[0], os.WriteFile(path, []byte(strings.Join(words[1:], " ")), 0o600)
}

var errKilled = errors.New("killed, as the script says")

// runScriptedGates returns the gate result of the next script word; without one the gates fail.
func (w fixture) runScriptedGates(st loop.State) (loop.Gates, error) {
	said, err := w.nextScriptWord()
	if err != nil {
		return loop.Gates{}, err
	}
	word, slow, _ := strings.Cut(said, ":")
	if d, err := time.ParseDuration(slow); err == nil {
		time.Sleep(d)
	}
	g := loop.Gates{Purpose: st.Gates.Purpose, Tree: "t1"}
	switch word {
	case "dies":
		return g, errKilled
	case "green":
		g.Status, g.Green, g.Evidence, g.Reason = gate.Pass, true, gate.Proven, "check passes now"
	case "unknown":
		g.Status, g.Reason = gate.Unknown, "check timed out"
	default:
		g.Status, g.Reason, g.Fingerprint = gate.Fail, "check: exit 1 in iteration "+fmt.Sprint(st.Iteration), fmt.Sprint(st.Turns)
	}
	return g, nil
}

// writeTurn writes the agent's prompt, and the next one.
func writeTurn(s *lease) error {
	a, _ := loop.FindAction[loop.BeginTurn](s.mem.State.Pending)
	var text bytes.Buffer
	fmt.Fprintf(&text, "PROMPT of iteration %d, %s\n", a.Iteration, a.Situation)
	if f := s.mem.State.Failing; f != nil {
		fmt.Fprintf(&text, "failed: %s\n", f.Reason)
	}
	for _, note := range a.Notes {
		fmt.Fprintf(&text, "note: %s\n", note)
	}
	if strings.Contains(s.spec.Prompt, "long") {
		text.WriteString(strings.Repeat("ü𝕏", 4000))
	}
	path := record.PromptPath(s.loop, s.mem)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if a.Situation != loop.NoClaim && a.Situation != loop.GatesFailed {
		if err := os.WriteFile(record.FullPromptPath(s.loop), text.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(os.WriteFile(path, text.Bytes(), 0o600), os.WriteFile(record.ContinuePromptPath(s.loop), []byte("CONTINUE\n"), 0o600))
}

// finish ends the loop as another owner.
func (w *fixture) finish() error {
	o, err := w.loop.Own(w.t.Context())
	if err != nil {
		return err
	}
	m, _, err := record.Load(w.loop)
	s := &lease{loop: w.loop, clock: &record.Clock{}, owner: o, mem: m, outbox: &notify.Outbox{}, redact: func(text string) string { return text }}
	if err == nil {
		err = s.step(loop.Event{Payload: loop.Cancelled{Cause: loop.ByTerm}})
	}
	if err == nil {
		err = s.step(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Interrupted}}})
	}
	if err == nil {
		err = s.step(loop.Event{Payload: loop.Concluded{}})
	}
	return errors.Join(err, s.release())
}

// startChild starts a process whose end is awaited without a clock, because some tests have a fake
// one.
func startChild(cmd *exec.Cmd) (wait func() error, err error) { return cmd.Wait, cmd.Start() }
