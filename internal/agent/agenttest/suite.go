// Package agenttest is what every agent must do, as one suite, and what the
// tests of agents need: the real client where there is one, and a scripted API
// for it to talk to (messagesapi below).
package agenttest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// Subject is an agent under test, and how its next turns are arranged.
type Subject struct {
	Agent   agent.Agent
	Options agent.Options // Dir is set
	Says    func(text string)
	Hangs   func()
	// Writes arranges a turn that writes a file by a tool, asking the guard; nil
	// for agents whose tool calls no guard sees.
	Writes func(path, content string)
}

// eventTimeout bounds each step of the suite.
const eventTimeout = 30 * time.Second

// Run checks the contract of agent.Agent and agent.Session. The subject is
// made anew for each part.
func Run(t *testing.T, subject func(t *testing.T) Subject) {
	parts := map[string]func(*testing.T, Subject){
		"a turn ends with what the agent says": turnEnds,
		"turns follow one another":             turnsFollow,
		"cancelling interrupts":                cancelling,
		"a turn may take too long":             timeout,
		"a turn may be silent for too long":    silence,
		"the guard decides":                    guardDecides,
		"a fresh context":                      fresh,
		"closing is idempotent":                closing,
	}
	for name, part := range parts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, subject(t))
		})
	}
}

func (s Subject) start(t *testing.T) agent.Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventTimeout)
	defer cancel()
	session, err := s.Agent.Start(ctx, s.Options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// recorder takes events as the contract promises them: from one goroutine, so
// without a lock.
type recorder []agent.Event

func (r *recorder) emit(e agent.Event) { *r = append(*r, e) }

func (s Subject) turn(ctx context.Context, t *testing.T, session agent.Session, o agent.Turn) (agent.Result, recorder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	var events recorder
	begin := time.Now()
	r, err := session.Turn(ctx, o, events.emit)
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d > eventTimeout-5*time.Second {
		t.Fatalf("the turn took %v", d)
	}
	if r.ContextPercent < -1 || r.ContextPercent > 100 {
		t.Errorf("context percent %d", r.ContextPercent)
	}
	if u := r.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.CostUSD < 0 {
		t.Errorf("negative usage %+v", u)
	}
	if r.SessionID != session.ID() {
		t.Errorf("the result is of session %q, the session is %q", r.SessionID, session.ID())
	}
	return r, events
}

func turnEnds(t *testing.T, s Subject) {
	s.Says("The work is done.\n\n<promise>DONE</promise>")
	r, events := s.turn(t.Context(), t, s.start(t), agent.Turn{Prompt: "work"})
	if r.Failure != nil {
		t.Fatalf("failure %+v", *r.Failure)
	}
	if r.Text != "The work is done.\n\n<promise>DONE</promise>" {
		t.Errorf("text %q", r.Text)
	}
	spoke := false
	for _, e := range events {
		spoke = spoke || e.Kind == agent.KindText
	}
	if !spoke {
		t.Errorf("no text among the events %+v", events)
	}
}

func turnsFollow(t *testing.T, s Subject) {
	session := s.start(t)
	for _, text := range []string{"one", "two"} {
		s.Says(text)
		if r, _ := s.turn(t.Context(), t, session, agent.Turn{Prompt: "go"}); r.Failure != nil || r.Text != text {
			t.Errorf("text %q, failure %+v, want %q", r.Text, r.Failure, text)
		}
	}
}

func cancelling(t *testing.T, s Subject) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	defer time.AfterFunc(2*time.Second, interrupt).Stop()
	s.mustFail(ctx, t, agent.Turn{Prompt: "go"}, loop.Interrupted)
}

func timeout(t *testing.T, s Subject) {
	s.mustFail(t.Context(), t, agent.Turn{Prompt: "go", Timeout: 300 * time.Millisecond}, loop.TimedOut)
}

func silence(t *testing.T, s Subject) {
	s.mustFail(t.Context(), t, agent.Turn{Prompt: "go", IdleTimeout: 500 * time.Millisecond}, loop.Silent)
}

// mustFail runs a turn that never ends by itself.
func (s Subject) mustFail(ctx context.Context, t *testing.T, o agent.Turn, want loop.Class) {
	t.Helper()
	s.Hangs()
	session := s.start(t)
	r, _ := s.turn(ctx, t, session, o)
	if r.Failure == nil || r.Failure.Class != want || r.Failure.Message == "" {
		t.Fatalf("failure %+v, want %s", r.Failure, want)
	}
	s.Says("again")
	r, _ = s.turn(t.Context(), t, session, agent.Turn{Prompt: "go", Timeout: 10 * time.Second})
	if r.Failure == nil && r.Text != "again" {
		t.Errorf("after the failure: text %q", r.Text)
	}
}

func guardDecides(t *testing.T, s Subject) {
	if s.Writes == nil {
		t.Skip("no guard sees the tool calls of this agent")
	}
	name := filepath.Join(s.Options.Dir, "made.txt")
	for _, allow := range []bool{false, true} {
		var asked []toolcall.Call
		s.Options.CheckTool = func(c toolcall.Call) agent.Verdict {
			asked = append(asked, c)
			return agent.Verdict{Allow: allow, Reason: "because"}
		}
		s.Writes(name, "made")
		r, events := s.turn(t.Context(), t, s.start(t), agent.Turn{Prompt: "make it"})
		if len(asked) != 1 || asked[0].Tool != "Write" || asked[0].Path != name || asked[0].Dir == "" {
			t.Errorf("asked %+v", asked)
		}
		_, err := os.Stat(name)
		if made := err == nil; made != allow {
			t.Errorf("made = %v, want %v", made, allow)
		}
		denied := 0
		for _, e := range events {
			if e.Kind == agent.KindDenied && e.Tool == "Write" && e.Text == "because" {
				denied++
			}
		}
		if wantDenied := map[bool]int{true: 0, false: 1}[allow]; r.Denied != wantDenied || denied != wantDenied || r.ToolCalls != 1 {
			t.Errorf("allow %v: %d denied, %d told, %d calls", allow, r.Denied, denied, r.ToolCalls)
		}
	}
}

func fresh(t *testing.T, s Subject) {
	session := s.start(t)
	warm, ok := session.(agent.Warm)
	if !ok {
		t.Skip("this agent has no warm sessions")
	}
	s.Says("one")
	s.turn(t.Context(), t, session, agent.Turn{Prompt: "go"})
	old := session.ID()
	if err := warm.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Says("two")
	if r, _ := s.turn(t.Context(), t, session, agent.Turn{Prompt: "go"}); r.Failure != nil || r.Text != "two" || r.SessionID == old {
		t.Errorf("after Fresh: %+v, the old session was %s", r, old)
	}
}

func closing(t *testing.T, s Subject) {
	session := s.start(t)
	begin := time.Now()
	for range 2 {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
	if d := time.Since(begin); d > eventTimeout {
		t.Errorf("closing took %v", d)
	}
}
