//go:build linux

package claude_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/proc"
)

// background makes the client run a command in the background.
func background(command, description string) messagesapi.Response {
	return messagesapi.Tool("Bash", map[string]any{
		"command": command, "description": description, "run_in_background": true,
	})
}

// Background work that ends wakes the client, which speaks again: the turn ends
// after that, and all of it is one turn's cost.
func TestClientBackgroundWorkIsAwaited(t *testing.T) {
	r := newRig(t, background("sleep 2; echo woke", "a build"), messagesapi.Text("started"), messagesapi.Text("it is built"))
	s := r.start()
	res := r.turn(s, "build")
	mustEnd(t, res)
	if res.Text != "it is built" || len(res.Background) != 0 {
		t.Errorf("result %+v", res)
	}
	if res.Usage.Input != 3000 {
		t.Errorf("usage %+v, want three requests", res.Usage)
	}
}

// A server that stays is waited for once, and named.
func TestClientBackgroundWorkThatStays(t *testing.T) {
	r := newRig(t, background("while :; do sleep 1; done", "the server"), messagesapi.Text("serving"), messagesapi.Text("second"))
	s := r.start()
	res := r.turnOf(t.Context(), s, agent.Turn{Prompt: "serve", BackgroundWait: time.Second})
	mustEnd(t, res)
	if diff := cmp.Diff([]string{"the server"}, res.Background); diff != "" {
		t.Error(diff)
	}
	// Were it new, this would wait for ten minutes.
	begin := time.Now()
	res = r.turn(s, "again")
	mustEnd(t, res)
	if res.Text != "second" || len(res.Background) != 0 || time.Since(begin) > soon {
		t.Errorf("second turn: %+v after %v", res, time.Since(begin))
	}
	if err := s.(agent.Warm).Fresh(t.Context()); err == nil {
		t.Error("a fresh context while the server runs")
	}
}

// A message that claims something is judged at once, whatever still runs.
func TestClientFinalMessageDoesNotWait(t *testing.T) {
	r := newRig(t, background("while :; do sleep 1; done", "the server"), messagesapi.Text("<promise>DONE</promise>"))
	begin := time.Now()
	res := r.turnOf(t.Context(), r.start(), agent.Turn{
		Prompt: "serve", Final: func(text string) bool { return strings.Contains(text, "<promise>") },
	})
	mustEnd(t, res)
	if d := time.Since(begin); d > soon || len(res.Background) != 1 {
		t.Errorf("after %v: %+v", d, res)
	}
}

// What a shell command leaves behind (the client refuses one that begins with
// sleep), in the client's sessions or in its own,
// ends with the session.
func TestClientNothingIsLeftBehind(t *testing.T) {
	r := newRig(t)
	pids := r.path("pids")
	r.api.Play(messagesapi.Steps(
		messagesapi.Bash("true; sleep 1000 & echo $! >> "+pids),
		messagesapi.Bash("setsid sleep 1000 & echo $! >> "+pids),
		messagesapi.Bash("env -i setsid sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! >> "+pids+"; sleep 0.2"),
		background("while :; do sleep 1; done", "a server"),
		messagesapi.Text("done"),
	))
	s := r.start()
	mustEnd(t, r.turnOf(t.Context(), s, agent.Turn{Prompt: "leak", BackgroundWait: time.Second}))
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	left := strings.Fields(string(b))
	if len(left) != 3 {
		t.Fatalf("pids %q, want three; the client said %+v", b, r.api.Requests()[1].ToolResults())
	}
	begin := time.Now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d > soon {
		t.Errorf("closing took %v", d)
	}
	for _, f := range left {
		pid, _ := strconv.Atoi(f)
		if proc.Alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if n := marked(t, r.o.Marker); n > 0 {
		t.Errorf("%d processes carry the marker still", n)
	}
}

// At the end of a turn its commands' leftovers go, while a gate may want the
// port; the helpers of the client stay for the next turn.
func TestClientTurnLeavesOnlyHelpers(t *testing.T) {
	r := newRig(t)
	left, helper := r.path("left"), r.path("helper")
	r.api.Play(messagesapi.Steps(messagesapi.Bash("true; sleep 1000 & echo $! > "+left), messagesapi.Text("done")))
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"x": map[string]any{"command": os.Args[0], "env": map[string]string{"TEST_MCP": helper}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.o.Args = []string{"--mcp-config", string(config)}
	s := r.start()
	mustEnd(t, r.turn(s, "leak"))
	if pid := pidIn(t, left); proc.Alive(pid) {
		t.Errorf("the command's child %d is still there", pid)
	}
	server := pidIn(t, helper)
	if !proc.Alive(server) {
		t.Error("the MCP server is gone")
	}
	_ = s.Close()
	if proc.Alive(server) {
		t.Error("the MCP server outlived the session")
	}
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// A Pawl that is killed can end nothing, yet neither the client nor its tool go
// on working.
func TestClientKilledSupervisorLeavesNothing(t *testing.T) {
	r := newRig(t, messagesapi.Bash("touch started; while :; do sleep 1; done"), messagesapi.Text("never"))
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir, cmd.Stderr = r.o.Dir, os.Stderr
	cmd.Env = append(cmd.Env, "TEST_SUPERVISOR="+r.agent.Command)
	for name, value := range r.o.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the tool to start", func() bool { _, err := os.Stat(r.path("started")); return err == nil })
	if marked(t, r.o.Dir) < 2 {
		t.Error("the client and its shell do not carry the marker")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	waitFor(t, "client and tool to end", func() bool { return marked(t, r.o.Dir) == 0 })
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// marked counts the processes with a marker in their environment.
func marked(t *testing.T, marker string) int {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range environs {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), "PAWL_LOOP="+marker) {
			n++
		}
	}
	return n
}
