//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// mcpServer is a `pawl mcp` on whose standard streams the test is the client.
type mcpServer struct {
	b     *bench
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // that it said
	err   lockedBuffer
	ends  int    // exit code that it must end with when the client goes
	warns string // what its standard error must hold then
}

// mcp starts a server in the repository.
func (b *bench) mcp() *mcpServer {
	b.t.Helper()
	s := &mcpServer{b: b, cmd: exec.Command(b.binary, "mcp"), lines: make(chan string, 100)}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = b.root, b.environ(), &s.err
	in, err := s.cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	s.in = in
	go func() {
		defer close(s.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			s.lines <- line
		}
	}()
	b.t.Cleanup(func() {
		_ = in.Close()
		kill := time.AfterFunc(timeout, func() { _ = s.cmd.Process.Kill() })
		defer kill.Stop()
		for line := range s.lines {
			b.t.Errorf("pawl mcp said also: %s", line)
		}
		_ = s.cmd.Wait()
		if code := s.cmd.ProcessState.ExitCode(); code != s.ends || s.err.String() != s.warns {
			b.t.Errorf("pawl mcp ends with %d, not %d, and says:\n%s", code, s.ends, s.err.String())
		}
	})
	return s
}

// send sends a line.
func (s *mcpServer) send(line string) { _, _ = io.WriteString(s.in, line+"\n") }

// receive returns the next line, or "" if there is none.
func (s *mcpServer) receive() string {
	select {
	case line := <-s.lines:
		return line
	case <-time.After(timeout):
		return ""
	}
}

// A client sends valid and invalid messages, in each protocol version. Each request gets one
// response, each invalid message one error, and the server continues.
func TestMCPDialogue(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		s := b.mcp()
		for _, turn := range []struct{ says, hears string }{
			{`{"jsonrpc":"2.0","id":"early","method":"tools/list"}`, `"early" error -32600`},
			{`{"jsonrpc":"2.0","id":"early ping","method":"ping"}`, `"early ping" result`},
			{`{"jsonrpc":"2.0","id":"bare","method":"initialize"}`, `"bare" error -32600`},
			{`{"jsonrpc":"2.0","id":"odd","method":"initialize","params":{"protocolVersion":5}}`, `"odd" error -32600`},
			{hello, `1 result ` + version},
			{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
			{`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `2 result`},
			{`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, `3 result`},
			{`{"jsonrpc":"2.0","id":4,"method":"no/such"}`, `4 error -32601`},
			{`{"jsonrpc":"2.0","id":5,"method":"server/discover"}`, `5 error -32601`},
			{`{"jsonrpc":"2.0","method":"notifications/no/such"}`, ``},
			{`{"jsonrpc":"2.0","id":6,"method":"tools/call"}`, `6 error -32600`},
			{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`, `7 error -32602`},
			{`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":7}}`, `8 error -32602`},
			{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"no_such"}}`, `9 error -32602`},
			{`{"jsonrpc":"2.0","id":10,"method":"tools/list","params":{"cursor":"no such"}}`, `10 error -32602`},
			{`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"status"}}`, `11 result`},
			{hello, `1 error -32600`}, // a second time
			{`this is no JSON`, `null error -32700`},
			{`{"jsonrpc":"2.0","id":12,`, `null error -32700`},
			{``, ``},
			{`{"id":13,"method":"ping"}`, `null error -32600`},
			{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `null error -32600`},
			{`[]`, `null error -32600`},
			{`"ping"`, `null error -32600`},
			{`{"jsonrpc":"2.0","id":14,"method":"` + strings.Repeat("x", 1<<20) + `"}`, `null error -32600`},
			{`{"jsonrpc":"2.0","id":15,"result":{}}`, ``}, // to nothing that was asked
			{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":16}}`, ``},
			{`[{"jsonrpc":"2.0","id":17,"method":"ping"},{"jsonrpc":"2.0","id":18,"method":"ping"}]`, `17 result, 18 result`},
			{`{"jsonrpc":"2.0","id":19,"method":"ping"}`, `19 result`},
		} {
			s.send(turn.says)
			if turn.hears == "" {
				continue // the next answer is another's, and the last is nobody's
			}
			if got := summarizeLine(t, s.receive()); got != turn.hears {
				t.Fatalf("%s: to %.120s the server says %q, not %q", version, turn.says, got, turn.hears)
			}
		}
	}
}

// summarizeLine returns the relevant parts of a server line.
func summarizeLine(t *testing.T, line string) string {
	t.Helper()
	type message struct {
		ID     json.RawMessage
		Result *struct{ ProtocolVersion string }
		Error  *struct {
			Code    int
			Message string
		}
	}
	var all []message
	if !strings.HasPrefix(line, "[") {
		line = "[" + line + "]"
	}
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	var gists []string
	for _, m := range all {
		switch {
		case m.Error != nil && m.Error.Message != "":
			gists = append(gists, fmt.Sprintf("%s error %d", m.ID, m.Error.Code))
		case m.Result != nil:
			gists = append(gists, strings.TrimSpace(fmt.Sprintf("%s result %s", m.ID, m.Result.ProtocolVersion)))
		}
	}
	return strings.Join(gists, ", ")
}

// A cancelled call ends at once with its gate, and nothing else ends.
func TestMCPCallCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"pawl.toml": `gates = ["touch began; sleep 300; touch ended"]` + "\n"})
	if r := b.pawl("trust", "--yes"); r.code != 0 {
		t.Fatal(r)
	}
	s := b.mcp()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.receive()
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"verify"}}`)
	for deadline := time.Now().Add(timeout); !exists(b.path("began")); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no gate ran")
		}
	}
	began := time.Now()
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	answers := s.receive() + s.receive()
	s.warns = "pawl: running touch began; sleep 300; touch ended\n"
	if took := time.Since(began); took > 30*time.Second || !strings.Contains(answers, `"id":3,"result":{}`) || !strings.Contains(answers, "canceled") {
		t.Errorf("after %s the server says:\n%s", took, answers)
	}
}

// Ctrl-C is a normal end: nothing is printed, and the exit status shows the signal.
func TestMCPInterrupted(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).mcp()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	s.receive()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.ends = 130
	if line, more := <-s.lines; more {
		t.Errorf("it says: %s", line)
	}
}
