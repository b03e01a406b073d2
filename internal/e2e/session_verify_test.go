//go:build unix

package e2e_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// newVerify is a project in which `sh check.sh` succeeds on the fifth try: each
// turn of anybody's adds a line.
func newVerify(t *testing.T, how ...installation) *sessions {
	t.Helper()
	s := newSessions(t, append(how, onPath, liftStopCap)...)
	s.write(map[string]string{"check.sh": `n=$(wc -l < work.txt); echo "$((n)) of 5 lines"; test "$n" -ge 5` + "\n", "work.txt": ""})
	s.git("add", "check.sh", "work.txt")
	s.git("commit", "-q", "-m", "check")
	s.api.Play(addsLine)
	t.Cleanup(s.waitUntilIdle)
	return s
}

// onPath has the client where people have it: Pawl starts it by its name.
func onPath(s *sessions) {
	s.t.Helper()
	dir := filepath.Join(s.home, "bin")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(s.client, filepath.Join(dir, "claude"))); err != nil {
		s.t.Fatal(err)
	}
	s.env["PATH"] += string(os.PathListSeparator) + dir
}

// addsLine is a model that works in each turn that it is given, and says nothing
// that would have to be believed.
func addsLine(r messagesapi.Request) messagesapi.Response {
	if len(r.ToolResults()) > 0 || r.Says("ended VERIFIED") {
		return more
	}
	return messagesapi.Bash("echo line >> work.txt")
}

// clients are the sessions that spoke to the model, in order.
func (s *sessions) clients() []string {
	var ids []string
	for _, r := range s.api.Requests() {
		if !slices.Contains(ids, r.Session) {
			ids = append(ids, r.Session)
		}
	}
	return ids
}

// fifth checks a loop that five tries made, the last two each in a session of its
// own that was told what the others had learned.
func (s *sessions) fifth(p fmt.Stringer) {
	s.t.Helper()
	s.checkState(state{"verified", 5}, p)
	if got := s.read("work.txt"); got != strings.Repeat("line\n", 5) {
		s.t.Errorf("work.txt: %q\n%s", got, s.conversation())
	}
	ids := s.clients()
	if len(ids) != 3 {
		s.t.Fatalf("%d sessions\n%s", len(ids), s.conversation())
	}
	for i, id := range ids[1:] {
		at := slices.IndexFunc(s.api.Requests(), func(r messagesapi.Request) bool { return r.Session == id })
		told := s.api.Requests()[at].News()
		for _, want := range []string{"sh check.sh", "work.txt", fmt.Sprintf("iteration %d", 3+i), fmt.Sprintf("%d of 5 lines", 3+i)} {
			if !strings.Contains(told, want) {
				s.t.Errorf("try %d was not told %q, but:\n%s", 4+i, want, told)
			}
		}
	}
	if n := s.continued(); n > 4 {
		s.t.Errorf("sent on %d times\n%s", n, s.conversation())
	}
}

const (
	stats     = "isolated try: Cost $0.0100 · Duration "
	whileTry  = "The next try is made in a fresh session, beside this one"
	verifyFix = `:: verify:"sh check.sh" max:6 fix it`
)

// A command succeeds on the fifth attempt: three in the session, two isolated ones. An unattended
// session waits for these.
func TestSessionVerifyFifthTry(t *testing.T) {
	s := newVerify(t, installPlugin)
	p := s.print("/pawl:verify sh check.sh")
	s.fifth(p)
	if !p.hasHookMessages(stats, "Turns 2", "not done: sh check.sh") {
		t.Errorf("%s", p)
	}
}

// Text that a program passes to the client was not typed by a user. It starts nothing, and the
// program is told what would.
func TestSessionVerifyWordsFromProgramStartNothing(t *testing.T) {
	s := newVerify(t, installPlugin)
	p := s.print(verifyFix)
	if got := s.now(); got.ID != "" || !p.hasHookMessages("no verify loop was started", "/pawl:verify") || s.continued() != 0 {
		t.Errorf("%+v, %s", got, p)
	}
}

// On a terminal the stop is allowed during an isolated attempt, the user may type meanwhile, and the
// session is woken with the result of the last one.
func TestTerminalVerifyFifthTry(t *testing.T) {
	s := newVerify(t, installSettings)
	person := ""
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		person = cmp.Or(person, r.Session)
		switch {
		case strings.Contains(r.News(), "what takes so long"):
			return messagesapi.Text("A try.")
		case r.Session != person && len(r.ToolResults()) == 0:
			return addsLine(r).After(2 * time.Second)
		}
		return addsLine(r)
	})
	c := s.open()
	c.shell("pawl start --verify 'sh check.sh'")
	c.Shows("in a separate session", turnMost)
	c.typeLine("what takes so long")
	c.Shows("A try.", turnMost)
	c.waitForModelInput(stats)
	s.fifth(c)
}

// If the user types the words, the loop starts with that turn.
func TestTerminalVerifyTypedStartsLoop(t *testing.T) {
	s := newVerify(t, installPlugin)
	c := s.open()
	c.Type(verifyFix)
	c.waitForModelInput(stats)
	s.fifth(c)
	if told := s.requestWith("fix it").News(); !strings.Contains(told, "Pawl runs  sh check.sh  after each turn") {
		t.Errorf("the agent was told %s", told)
	}
}

// A message of another session looks the same to a hook, and starts nothing. Neither does the
// client's message about a background command.
func TestTerminalVerifyNotTypedStartsNothing(t *testing.T) {
	s := newVerify(t, installPlugin)
	s.write(map[string]string{"../.claude/settings.json": `{"permissions": {"defaultMode": "default", "allow": ["Bash", "Write"]},
		"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "env > ` + s.home + `/hook.env"}]}]}}`})
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch news := r.News(); {
		case strings.Contains(news, "wait for it"):
			return messagesapi.Tool("Bash", map[string]any{"command": "true", "description": verifyFix, "run_in_background": true})
		case strings.Contains(news, "<task-notification>"):
			return messagesapi.Text("It has ended.")
		case strings.Contains(news, "fix it from afar"):
			return messagesapi.Text("Hello, other session.")
		}
		return more
	})
	c := s.open()
	c.typeLine("wait for it")
	c.Shows("It has ended.", turnMost)
	s.peer(verifyFix + " from afar")
	c.Shows("Hello, other session.", turnMost)
	c.Type("/exit")
	c.Gone(turnMost)
	if got := s.now(); got.ID != "" {
		t.Errorf("a loop was begun: %+v\n%s", got, s.conversation())
	}
	if n := s.continued(); n != 0 {
		t.Errorf("sent on %d times\n%s", n, s.conversation())
	}
}

// peer says something to the client as another session would.
func (s *sessions) peer(text string) {
	s.t.Helper()
	env := map[string]string{}
	for line := range strings.Lines(s.read("../hook.env")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	conn, err := net.Dial("unix", env["CLAUDE_CODE_MESSAGING_SOCKET"])
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	out := json.NewEncoder(conn)
	err = errors.Join(
		out.Encode(map[string]any{"type": "auth", "token": env["CLAUDE_CODE_MESSAGING_TOKEN"]}),
		out.Encode(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}}))
	if err != nil {
		s.t.Fatal(err)
	}
	s.eventually("word of the other session", func() bool {
		return slices.ContainsFunc(s.api.Requests(), func(r messagesapi.Request) bool { return strings.Contains(r.News(), text) })
	})
}

// If the client cannot be started for an isolated attempt, the session continues with its own
// attempts and says why.
func TestSessionVerifyWithoutIsolation(t *testing.T) {
	s := newVerify(t, installPlugin)
	s.options(`agent_command = "no-such-client"`)
	p := s.print("/pawl:verify sh check.sh")
	s.checkState(state{"verified", 5}, p)
	if ids := s.clients(); len(ids) != 1 {
		t.Errorf("%d sessions\n%s", len(ids), s.conversation())
	}
	if !p.hasHookMessages("4/25 · not done: sh check.sh", "an isolated try could not start", "no-such-client") || p.hasHookMessages("Cost $") {
		t.Errorf("%s", p)
	}
}
