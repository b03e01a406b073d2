//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const verifyState = "runtime-state/verify-active.json"

// verifyActive is the file as the server of claude-prompts writes it.
const verifyActive = `{
  "sessionId": "chain-lines#1",
  "config": {
    "command": "sh check.sh",
    "timeout": 60000,
    "maxIterations": 7,
    "preset": "full",
    "originalGoal": ">>write :: verify:\"sh check.sh\" loop:true"
  },
  "state": {
    "iteration": 0,
    "lastResult": null,
    "startedAt": "2026-01-02T03:04:05.678Z"
  }
}
`

// writesState is a model that writes the state file when it is told to, and works
// when it is told what fails.
func (s *sessions) writesState(counted *[]string) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Response {
		switch {
		case strings.Contains(r.News(), "begin the chain"):
			s.write(map[string]string{verifyState: verifyActive})
			return more
		case strings.Contains(r.News(), "what now"), strings.Contains(r.News(), "PASSED on"):
			return more
		case len(r.ToolResults()) == 0:
			_, rest, _ := strings.Cut(s.read(verifyState), `"iteration": `)
			n, _, _ := strings.Cut(rest, ",")
			*counted = append(*counted, n)
		}
		return addsLine(r)
	}
}

// A command from a file runs only once the user has trusted it.
func TestSessionVerifyFile(t *testing.T) {
	s := newVerify(t, installSettings)
	var counted []string
	s.api.Play(s.writesState(&counted))
	s.write(map[string]string{"check.sh": "touch " + s.home + "/ran; " + s.read("check.sh")})
	p := s.print("begin the chain")
	if !p.hasHookMessages(verifyState, "pawl trust") || s.now().ID != "" || exists(s.home+"/ran") {
		t.Fatalf("%+v, %s\n%s", s.now(), p, s.conversation())
	}
	s.trusts()
	p = s.print("what now", "--resume", p.session)
	s.chained(p, counted)
	for i, want := range []string{"Shell Verification FAILED (Iteration 1/7)", "Shell Verification FAILED (Iteration 2/7)", "[Verify] PASSED on iteration 6!", stats} {
		if !p.hasHookMessages(want) {
			t.Errorf("%d: %q was not told: %s", i, want, p)
		}
	}
}

// trusts has the user allow the command of the file.
func (s *sessions) trusts() {
	s.t.Helper()
	if r := s.pawl("trust", "--yes"); r.code != 0 || !r.contains("sh check.sh") {
		s.t.Fatalf("trust: %s", r)
	}
}

// chained checks a loop whose first check failed before anybody had worked: three
// tries in the session, three beside it.
func (s *sessions) chained(p fmt.Stringer, counted []string) {
	s.t.Helper()
	s.checkState(state{"verified", 6}, p)
	if ids := s.clients(); len(ids) != 4 {
		s.t.Errorf("%d sessions\n%s", len(ids), s.conversation())
	}
	if got := strings.Join(counted, " "); got != "1 2 3 4 5" {
		s.t.Errorf("the file counted %s", got)
	}
	if exists(s.path(verifyState)) {
		s.t.Errorf("the file is left over: %s", s.read(verifyState))
	}
}

// On a terminal the session is woken with the result of the last attempt.
func TestTerminalVerifyFile(t *testing.T) {
	s := newVerify(t, installPlugin)
	s.write(map[string]string{verifyState: verifyActive})
	s.trusts()
	if err := os.Remove(s.path(verifyState)); err != nil {
		t.Fatal(err)
	}
	var counted []string
	s.api.Play(s.writesState(&counted))
	c := s.open()
	c.Type("begin the chain")
	c.Shows("in a separate session", turnMost)
	c.Shows("[Verify] PASSED on iteration 6!", turnMost)
	s.chained(c, counted)
}
