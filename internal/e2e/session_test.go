//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// sessions is a project in which people run the real client themselves, with
// Pawl's hooks installed; a script plays the model.
type sessions struct {
	*clientBench
	args   []string  // of every client
	looked time.Time // at the loop
}

// How Pawl is installed.
type installation func(*sessions)

// installSettings puts the hooks into the project's settings and lifts the client's stop cap.
func installSettings(s *sessions) { s.install("--yes") }

// installWithStopCap leaves the client's stop cap as it is.
func installWithStopCap(s *sessions) { s.install() }

func (s *sessions) install(more ...string) {
	s.t.Helper()
	if r := s.pawl(append([]string{"install", "claude", "--scope", "project"}, more...)...); r.code != 0 {
		s.t.Fatalf("install: %s", r)
	}
}

// installPlugin exports the plugin and makes the client load it.
func installPlugin(s *sessions) {
	s.t.Helper()
	dir := filepath.Join(s.home, "marketplace")
	if r := s.pawl("plugin", "export", dir); r.code != 0 {
		s.t.Fatalf("export the plugin: %s", r)
	}
	s.args = append(s.args, "--plugin-dir", filepath.Join(dir, "pawl"))
}

// liftStopCap lifts the client's stop cap in this home.
func liftStopCap(s *sessions) {
	s.env["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "0"
}

// newSessions makes a project of words with Pawl installed. The client has leave
// to use the tools that the scripts use; its auto mode would ask a server.
func newSessions(t *testing.T, how ...installation) *sessions {
	t.Helper()
	return sessionsWith(t, wordShop(map[string]string{"words.sh": checkWords + "\n"}), how...)
}

// sessionsWith is newSessions with other files.
func sessionsWith(t *testing.T, files map[string]string, how ...installation) *sessions {
	t.Helper()
	s := &sessions{clientBench: newClientBench(t, files)}
	s.env["PATH"] = filepath.Dir(s.binary) + string(os.PathListSeparator) + s.env["PATH"]
	s.env["LANG"] = "C.UTF-8"
	delete(s.env, "LC_ALL")
	s.write(map[string]string{
		".git/info/exclude":        ".claude/\n",
		"../.claude/settings.json": `{"permissions": {"defaultMode": "default", "allow": ["Bash", "Write", "Edit"]}}`,
	})
	agenttest.Onboard(t, s.env, s.root)
	for _, install := range how {
		install(s)
	}
	return s
}

// printed is what a run of `claude -p` left.
type printed struct {
	code    int
	said    string   // its last word
	failed  bool     // it says so itself
	session string   // id
	shown   []string // what hooks told the person
	err     string   // standard error
}

func (p printed) String() string {
	return fmt.Sprintf("exit %d, failed: %t, said: %q\nshown:\n%s\n%s", p.code, p.failed, p.said, strings.Join(p.shown, "\n"), p.err)
}

// hasHookMessages reports whether hooks showed the user each of the texts.
func (p printed) hasHookMessages(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		return !slices.ContainsFunc(p.shown, func(line string) bool { return strings.Contains(line, text) })
	})
}

// sessionTimeout bounds a run of the client.
const sessionTimeout = 5 * time.Minute

// print runs the client without a user: `claude -p`.
func (s *sessions) print(prompt string, more ...string) printed {
	s.t.Helper()
	args := append([]string{"-p", prompt, "--output-format", "stream-json", "--verbose"}, s.args...)
	ctx, cancel := context.WithTimeout(s.t.Context(), sessionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.client, append(args, more...)...)
	cmd.Dir, cmd.Env = s.root, s.environ()
	var out, problem lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	p := printed{code: cmd.ProcessState.ExitCode(), err: problem.String()}
	p.read(out.String())
	if ctx.Err() != nil {
		s.t.Fatalf("the client is still running after %v: %v\n%s\n%s", sessionTimeout, err, p, s.conversation())
	}
	return p
}

// read takes in what the client printed, one JSON object a line.
func (p *printed) read(stream string) {
	for line := range strings.Lines(stream) {
		var e struct {
			Type, Subtype, Content, Result string

			Failed  bool   `json:"is_error"`
			Session string `json:"session_id"`
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		p.session = e.Session
		switch {
		case e.Type == "result":
			p.said, p.failed = e.Result, e.Failed
		case e.Type == "system" && e.Subtype == "informational":
			p.shown = append(p.shown, e.Content)
		}
	}
}

// conversation returns the conversation so far, for failure messages.
func (s *sessions) conversation() string {
	var b strings.Builder
	for _, r := range s.api.Requests() {
		fmt.Fprintf(&b, "#%d %.8s ", r.Number, r.Session)
		for _, t := range r.ToolResults() {
			fmt.Fprintf(&b, " tool: %.300q", t.Text)
		}
		for text := range strings.SplitSeq(r.News(), "<system-reminder>") {
			if text = strings.TrimSpace(text); text != "" {
				fmt.Fprintf(&b, " told: %.300q", text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// startLoopCall returns the model's call of `pawl start`, and the steps after it.
func startLoopCall(args string, steps ...messagesapi.Response) []messagesapi.Response {
	return append([]messagesapi.Response{messagesapi.Bash("pawl start " + args)}, steps...)
}

// words is the gate of the project, as an argument in a shell.
const words = "--gate 'sh words.sh'"

// state is what the newest loop must have come to.
type state struct {
	outcome   string // "" = it continues
	iteration int
}

// checkState checks the state of the newest loop.
func (s *sessions) checkState(want state, p fmt.Stringer) {
	s.t.Helper()
	got := s.status()
	if (state{got.Outcome, got.Iteration}) != want {
		s.t.Errorf("the loop: %+v, want %+v\n%s\n%s\n%s", got, want, p, s.conversation(), s.pawl("log", ".").out)
	}
	s.checkJournalChain()
}

// glance is between two looks at a loop: each starts a process, and takes time from
// what it waits for.
const glance = 250 * time.Millisecond

// now is how the newest loop stands; nothing where there is none yet.
func (s *sessions) now() status {
	time.Sleep(time.Until(s.looked.Add(glance)))
	s.looked = time.Now()
	var now status
	r := s.pawl("status", ".", "--json")
	if err := json.Unmarshal([]byte(r.out), &now); err != nil && !r.contains("there is no loop here") {
		s.t.Fatalf("pawl status --json: %v\n%s", err, r)
	}
	return now
}

// prompt is that of the newest loop.
func (s *sessions) prompt() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.env["PAWL_HOME"], "loops", s.status().ID, "spec.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var kept struct{ Spec struct{ Prompt string } }
	if err := json.Unmarshal(data, &kept); err != nil {
		s.t.Fatal(err)
	}
	return kept.Spec.Prompt
}

// sentOn reports whether a hook sent the model on when it wanted to stop.
func sentOn(r messagesapi.Request) bool {
	return len(r.ToolResults()) == 0 && strings.Contains(r.News(), "Stop hook additional context: ")
}

// continued counts how often the model was sent on by a stop.
func (s *sessions) continued() int {
	n := 0
	for _, r := range s.api.Requests() {
		if sentOn(r) {
			n++
		}
	}
	return n
}

// eventually waits until something is so.
func (s *sessions) eventually(what string, so func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(sessionTimeout); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("no %s within %v\n%s", what, sessionTimeout, s.conversation())
		}
	}
}
