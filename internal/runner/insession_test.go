package runner_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// sessionLoop is a loop in a user's session. The test stands for the session, its hooks, and the
// user.
type sessionLoop struct {
	*bench
	s     loop.State
	posts int
	agent agent.Agent // agent of isolated attempts
}

// beginInSession starts a loop in a session, up to its first turn.
func beginInSession(t *testing.T, files map[string]string, q launch.SessionRequest) *sessionLoop {
	t.Helper()
	return newBench(t, files).beginInSession(q)
}

func (b *bench) beginInSession(q launch.SessionRequest) *sessionLoop {
	b.t.Helper()
	st, p := b.prepareInSession(&q)
	a, err := p.BeginInSession(b.t.Context(), launch.SessionOptions{Session: q.Session, Observer: logObserver{b.t}, GateTimeout: time.Hour})
	if err != nil {
		b.t.Fatal(err)
	}
	st.loop, st.s = a.Loop, a.Memory.State
	return st
}

func (b *bench) prepareInSession(q *launch.SessionRequest) (*sessionLoop, *launch.Prepared) {
	b.t.Helper()
	q.Dir, q.Env = b.root, b.env
	if q.Words == nil {
		q.Words = []string{"have every word"}
	}
	q.Session = launch.UserSession{Session: cmp.Or(q.Session.Session, "6f1c"), Client: q.Session.Client}
	b.script = filepath.Join(b.t.TempDir(), "script.txtar")
	b.rewrite("")
	flags := map[string]any{"agent": "scripted", "agent_command": b.script} // agent of sessions other than the user's
	maps.Copy(flags, q.Flags)
	q.Flags = flags
	p, err := launch.PrepareInSession(b.t.Context(), *q)
	if err != nil {
		b.t.Fatal(err)
	}
	return &sessionLoop{bench: b}, p
}

func requestWithGate(more map[string]any) launch.SessionRequest {
	return launch.SessionRequest{Request: launch.Request{Flags: withGate(more)}}
}

// runDriver runs one driver process from its start to its end.
func (st *sessionLoop) runDriver() loop.State {
	st.t.Helper()
	s, err := st.runDriverWith(st.t.Context(), logObserver{st.t})
	if err != nil {
		st.t.Fatal(err)
	}
	return s
}

func (st *sessionLoop) runDriverWith(ctx context.Context, o runner.Observer) (loop.State, error) {
	st.t.Helper()
	d, err := launch.Rejoin(ctx, st.loop, st.env, time.Second)
	if err != nil {
		st.t.Fatal(err)
	}
	d.Observer, d.Agent = o, st.agent
	st.s, err = d.RunInSession(ctx)
	if closed := d.Close(); closed != nil {
		st.t.Fatal(closed)
	}
	return st.s, err
}

// journalEvent records an event as a hook does, without performing the actions that follow.
func (st *sessionLoop) journalEvent(e loop.Event) {
	st.t.Helper()
	h, _, err := st.loop.Holder()
	if err != nil {
		st.t.Fatal(err)
	}
	o, err := st.loop.Rejoin(st.t.Context(), h.Epoch)
	if err != nil {
		st.t.Fatal(err)
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	if _, err := o.Append(journal.Entry{Type: memory.TypeEvent, Data: e}); err != nil {
		st.t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		st.t.Fatal(err)
	}
}

// endTurn ends a turn of the loop and runs the driver.
func (st *sessionLoop) endTurn(t loop.Turn) loop.State {
	st.t.Helper()
	t.ToolCalls = max(t.ToolCalls, 1)
	st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: t}})
	return st.runDriver()
}

func (st *sessionLoop) endTurnWithClaim() loop.State {
	st.t.Helper()
	return st.endTurn(loop.Turn{Claim: &loop.Claim{}})
}

// recordCalls records tool calls as the session's hook does.
func (st *sessionLoop) recordCalls(calls ...authorship.Call) {
	st.t.Helper()
	f, err := os.OpenFile(record.ToolCallsPath(st.loop), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		st.t.Fatal(err)
	}
	enc := json.NewEncoder(f)
	for _, c := range calls {
		if err := enc.Encode(c); err != nil {
			st.t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		st.t.Fatal(err)
	}
}

// editAsAgent writes a file as the agent's editing tool does.
func (st *sessionLoop) editAsAgent(name, text string) {
	st.t.Helper()
	st.write(name, text)
	st.recordCalls(authorship.Call{Tool: "Edit", Kind: toolcall.Edit, Path: filepath.Join(st.root, name)})
}

// sendMessage puts a message into the loop's inbox.
func (st *sessionLoop) sendMessage(kind, text string) {
	st.t.Helper()
	st.posts++
	if err := st.loop.Post(fmt.Sprint("m", st.posts), record.Message{Kind: kind, Text: text}); err != nil {
		st.t.Fatal(err)
	}
}

// prompt returns the prompt that the session gets now.
func (st *sessionLoop) prompt() string {
	st.t.Helper()
	m, _, err := record.Load(st.loop)
	if err != nil {
		st.t.Fatal(err)
	}
	data, err := os.ReadFile(record.PromptPath(st.loop, m))
	if err != nil {
		st.t.Fatal(err)
	}
	return string(data)
}

// checkHistoryUnchanged fails if the commits, branches or index have changed.
func (st *sessionLoop) checkHistoryUnchanged() {
	st.t.Helper()
	if got := st.git("log", "--format=%s"); got != "start" {
		st.t.Errorf("commits: %s", got)
	}
	if got := st.git("branch", "--format=%(refname:short)"); got != "main" {
		st.t.Errorf("branches: %s", got)
	}
	if got := st.git("diff", "--cached", "--name-only"); got != "" {
		st.t.Errorf("in the index: %s", got)
	}
}

func TestLoopInSessionReachesVerifiedEnd(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithGate(nil))
	if st.s.Phase != loop.Turning || st.s.Iteration != 1 {
		t.Fatalf("%s in iteration %d: %s", st.s.Phase, st.s.Iteration, st.s.Reason)
	}
	first := st.prompt()
	if !strings.Contains(first, "have every word") || !strings.Contains(first, "sh check.sh") {
		t.Errorf("first prompt:\n%s", first)
	}
	if ahead := st.file("continue.md"); !strings.Contains(ahead, "<promise>DONE</promise>") || strings.Contains(ahead, "iteration") {
		t.Errorf("written ahead:\n%s", ahead)
	}
	if st.endTurnWithClaim(); st.s.Phase != loop.Turning || st.s.Refusals != 1 {
		t.Fatalf("a claim without a change: %s after %d refusals", st.s.Phase, st.s.Refusals)
	}
	st.editAsAgent("notes.txt", "nothing yet\n")
	if st.endTurnWithClaim(); st.s.Phase != loop.Turning || !strings.Contains(st.prompt(), "missing two") {
		t.Fatalf("a false claim: %s, told\n%s", st.s.Phase, st.prompt())
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified || st.s.Tasks[0].Commit != "" {
		t.Fatalf("%s %s: %s (%+v)", st.s.Phase, st.s.Outcome, st.s.Reason, st.s.Tasks)
	}
	st.checkHistoryUnchanged()
	if got := st.git("status", "--porcelain"); got != "M have.txt\n?? notes.txt" {
		t.Errorf("the tree: %s", got)
	}
}
