package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/session"
)

// runToolInProcess runs the tool's work in this process.
func (w *fixture) runToolInProcess(cmd *exec.Cmd) (wait func() error, err error) {
	err = tool(w.env, cmd.Args[len(w.toolArgs()):], streams{cmd.Stdin, cmd.Stdout})
	return func() error { return err }, nil
}

func (w *fixture) toolArgs() []string { return os.Args[:1] }

// asked are the bits of a fuzzed call's environment.
const (
	asPlugin = 1 << iota
	asUnattended
	asCapped
	asVerify // the loop is to make a command succeed
)

// fuzzFixture is a home with a loop in session s1. It is created again when it has no live loop.
type fuzzFixture struct {
	*fixture
	calls int
	dir   string
}

func (a *fuzzFixture) ready(t *testing.T, how byte) {
	a.calls++
	if a.fixture != nil && a.calls%1000 > 0 {
		a.t = t
		if _, err := session.Open(a.home).Find("s1"); err == nil {
			return
		}
	}
	if err := os.RemoveAll(a.dir); err != nil {
		t.Fatal(err)
	}
	a.fixture = newFixtureIn(t, a.dir)
	spec := usualSpec()
	spec.Policy.Verify = how&asVerify > 0
	spec.Policy.Limits.Iterations = 0
	a.begin(spec)
}

func FuzzHook(f *testing.F) {
	for i, payload := range payloads(f) {
		f.Add(payload, byte(0))
		f.Add(payload, byte(i%16))
	}
	a := &fuzzFixture{dir: f.TempDir()}
	f.Fuzz(func(t *testing.T, payload []byte, how byte) {
		a.ready(t, how)
		s := &a.env.Session
		s.Plugin, s.Unattended, s.Cap = "", how&asUnattended > 0, ""
		if how&asPlugin > 0 {
			s.Plugin = a.root
		}
		if how&asCapped > 0 {
			s.Cap = "1"
		}
		p, isEvent := codec.ReadEvent(bytes.NewReader(payload))
		_, none := session.Open(a.home).Find(p.Session)
		waiting := fileExists(filepath.Join(a.home, "sessions", "waiting.json"))
		before := a.boundTo()

		var out, problem bytes.Buffer
		code := Run(context.Background(), Call{
			Args: []string{"claude"}, In: bytes.NewReader(payload), Out: &out, Err: &problem, Env: a.env,
			Tool: a.toolArgs(), Parent: os.Getpid(), Version: "test", start: a.runToolInProcess,
		})
		last := p.Event == codec.SessionEnd && problem.Len() > 0 // such words are shown of a hook that fails
		if code != exitOK && !last || strings.Contains(problem.String(), "panic:") {
			t.Errorf("exit %d: %s", code, problem.String())
		}
		if bad := answerFaults(p.Event, out.Bytes()); bad != nil || !isEvent && out.Len() > 0 {
			t.Errorf("%q\n%s", bad, out.String())
		}
		if p.Session != "s1" && !bytes.Equal(before, a.boundTo()) {
			t.Errorf("an event of session %q changed s1", p.Session)
		}
		begins := p.Event == codec.UserPromptExpansion || p.Event == codec.UserPromptSubmit && strings.Contains(p.Prompt, "verify:")
		if errors.Is(none, session.ErrNone) && !waiting && !begins && out.Len() > 0 {
			t.Errorf("said in a session of no loop: %s", out.String())
		}
	})
}

func (a *fuzzFixture) boundTo() []byte {
	data, _ := os.ReadFile(filepath.Join(a.home, "sessions", "s1.json")) // nothing where it is let go
	return data
}

// payloads returns the events of all dialogues.
func payloads(f *testing.F) [][]byte {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no dialogues", err)
	}
	var all [][]byte
	d := &dialogue{fixture: &fixture{t: f, root: "/project"}}
	for _, path := range files {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(a.Files[0].Data)) {
			if _, event, ok := strings.Cut(strings.TrimSpace(line), "> "); ok && !strings.HasPrefix(line, "<") && !strings.HasPrefix(line, "=") {
				all = append(all, d.payload(event))
			}
		}
		for _, file := range a.Files[1:] {
			all = append(all, file.Data)
		}
	}
	return all
}

// A reply is valid for the client, whatever bytes and length its texts have.
func FuzzReply(f *testing.F) {
	for i := range events {
		f.Add(byte(i), "continue", "context", "message", "refuse")
		f.Add(byte(i), strings.Repeat("𝕏ü", 6000), strings.Repeat("a", 20_000), "\x1b]0;x\a", "\xff")
	}
	f.Fuzz(func(t *testing.T, event byte, goOn, more, message, refuse string) {
		name := events[int(event)%len(events)]
		var out bytes.Buffer
		if err := (reply{Continue: goOn, Context: more, Message: message, Refuse: refuse}).Print(&out, name); err != nil {
			t.Fatal(err)
		}
		if bad := answerFaults(name, out.Bytes()); bad != nil {
			t.Errorf("%q\n%s", bad, out.Bytes())
		}
		var o struct {
			Reason   string `json:"reason"`
			Specific struct {
				Context string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		if out.Len() > 0 && json.Unmarshal(out.Bytes(), &o) != nil {
			t.Errorf("not read back: %s", out.Bytes())
		}
		if name == codec.Stop && goOn == strings.ToValidUTF8(goOn, "\ufffd") && goOn != o.Reason && goOn != o.Specific.Context {
			t.Errorf("%q became %s", goOn, out.Bytes())
		}
	})
}

var events = []string{
	codec.Stop, codec.StopFailure, codec.SessionStart, codec.SessionEnd, codec.UserPromptSubmit, codec.UserPromptExpansion, codec.PreCompact,
	codec.PreToolUse, codec.PostToolUse, codec.PostToolUseFailure, codec.PermissionRequest,
}
