//go:build unix

package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/mcpserver"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

const sessionID = "0d1f2a3b-0000-4000-8000-000000000001"

// world is a project with git, a home of Pawl's, and a session.
type world struct {
	t    *testing.T
	root string
	env  environment.Environment
	o    mcpserver.Options
	loop *store.Loop
}

// newWorld has a gate that says which tests fail: those whose file's name ends in
// .red.go, which are there from the beginning or not.
func newWorld(t *testing.T, files ...string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	w := &world{t: t, root: root}
	w.write("check.sh", "echo ran >> .ran\nif ls *.red.go >/dev/null 2>&1; then echo FAIL; for f in *.red.go; do echo \"--- FAIL: Test_${f%.red.go} (0.00s)\"; done; exit 1; fi\n")
	w.write(".gitignore", ".ran\n")
	for _, f := range files {
		w.write(f, f+"\n")
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "start"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@x")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	w.env, err = environment.Of([]string{
		"HOME=" + home, "PAWL_HOME=" + filepath.Join(home, "pawl"), "PATH=" + os.Getenv("PATH"),
		"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=" + sessionID, "CLAUDE_PID=4242",
	})
	if err != nil {
		t.Fatal(err)
	}
	w.o = mcpserver.Options{Env: w.env, Version: "test"}
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// begin starts a loop in the session, up to its first turn.
func (w *world) begin(flags map[string]any) {
	w.t.Helper()
	if flags == nil {
		flags = map[string]any{"gates": []string{"sh ./check.sh"}}
	}
	p, err := launch.PrepareInSession(w.t.Context(), launch.SessionRequest{
		Request: launch.Request{Dir: w.root, Words: []string{"add a"}, Flags: flags, Env: w.env},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	in := launch.UserSession{Session: sessionID, Client: 4242, Prompt: "p1", Responder: "plugin"}
	a, err := p.BeginInSession(w.t.Context(), launch.SessionOptions{Session: in, GateTimeout: time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	w.loop = a.Loop
}

// connect gives a client of the server.
func (w *world) connect() *mcp.ClientSession {
	w.t.Helper()
	return connect(w.t, w.o)
}

// call calls a tool and gives its words, and whether they are an error's.
func call(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return words(t, r), r.IsError
}

func words(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("%d parts", len(r.Content))
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if len(text) > 10_000 {
		t.Errorf("an answer of %d bytes", len(text))
	}
	return text
}

// says calls a tool whose words must hold all of these.
func (w *world) says(s *mcp.ClientSession, name string, args map[string]any, want ...string) {
	w.t.Helper()
	text, isError := call(w.t, s, name, args)
	if isError {
		w.t.Errorf("%s: error: %s", name, text)
	}
	holds(w.t, name, text, want)
}

// refuses calls a tool whose words are an error and hold all of these.
func (w *world) refuses(s *mcp.ClientSession, name string, args map[string]any, want ...string) {
	w.t.Helper()
	text, isError := call(w.t, s, name, args)
	if !isError {
		w.t.Errorf("%s: no error: %s", name, text)
	}
	holds(w.t, name, text, want)
}

func holds(t *testing.T, name, text string, want []string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not say %q:\n%s", name, part, text)
		}
	}
}

// left are the messages in the loop's inbox.
func (w *world) left() []record.Message {
	w.t.Helper()
	msgs, err := w.loop.Peek()
	if err != nil {
		w.t.Fatal(err)
	}
	var out []record.Message
	for _, m := range msgs {
		var body record.Message
		if err := json.Unmarshal(m.Body, &body); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, body)
	}
	return out
}

// ran counts the gate's runs since it was last asked.
func (w *world) ran() int {
	w.t.Helper()
	path := filepath.Join(w.root, ".ran")
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	_ = os.Remove(path)
	return strings.Count(string(data), "\n")
}

// passing stands in for the gates of a project.
func passing(context.Context) ([]gate.Result, error) {
	return []gate.Result{{Gate: "make test", Status: gate.Pass}}, nil
}

// pipe is one direction of a dialogue.
type pipe struct {
	r *os.File
	w *os.File
}

func newPipes() (in, out pipe) {
	var err error
	if in.r, in.w, err = os.Pipe(); err == nil {
		out.r, out.w, err = os.Pipe()
	}
	if err != nil {
		panic(err)
	}
	return in, out
}

func (w *world) serve(ctx context.Context, in, out pipe) {
	_ = mcpserver.New(w.o).Serve(ctx, &mcp.IOTransport{Reader: in.r, Writer: out.w})
}
