package claude_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/proc"
)

// The test binary is also a fake client: FAKE_CLIENT names its script.
func TestMain(m *testing.M) {
	if script := os.Getenv("FAKE_CLIENT"); script != "" {
		os.Exit(fakeClient(script))
	}
	if pidFile := os.Getenv("TEST_MCP"); pidFile != "" {
		os.Exit(mcpServer(pidFile))
	}
	if client := os.Getenv("TEST_SUPERVISOR"); client != "" {
		os.Exit(supervise(client))
	}
	agenttest.Part()
	if err := proc.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// supervise runs one turn of the client in the current directory, to be killed
// meanwhile. The marker is the directory.
func supervise(client string) int {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	s, err := claude.Agent{Command: client}.Start(context.Background(), agent.Options{Dir: dir, Marker: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	r, err := s.Turn(context.Background(), agent.Turn{Prompt: "go"}, nil)
	fmt.Fprintln(os.Stderr, "the turn ended:", r, err)
	return 9
}

// mcpServer is a helper process of the client: an MCP server without tools.
func mcpServer(pidFile string) int {
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return 9
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case "tools/list":
			answer = `"result":{"tools":[]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
	}
	return 0
}

// fakeClient answers each user message with the next block of its script, a
// block being the lines up to an empty one, and each control request with
// success. Lines that begin with "!" are its stage directions. What it is told
// goes into the script's file with ".heard" at the end.
func fakeClient(script string) int {
	b, err := os.ReadFile(script)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	heard, err := os.Create(script + ".heard")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	f := fake{blocks: strings.Split(strings.TrimSpace(string(b)), "\n\n")}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		fmt.Fprintln(heard, in.Text())
		if code := f.hear(in.Bytes()); code >= 0 {
			return code
		}
	}
	return 0
}

type fake struct {
	blocks []string
	deaf   bool
}

// hear returns an exit code, or -1 to continue.
func (f *fake) hear(b []byte) int {
	var m struct {
		Type      string
		RequestID string `json:"request_id"`
		Request   struct{ Subtype string }
	}
	_ = json.Unmarshal(b, &m)
	switch {
	case m.Type == "control_request" && !f.deaf:
		fmt.Printf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`+"\n", m.RequestID)
		if m.Request.Subtype == "interrupt" {
			fmt.Println(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`)
		}
	case m.Type == "user" && len(f.blocks) > 0:
		block := f.blocks[0]
		f.blocks = f.blocks[1:]
		for line := range strings.Lines(block) {
			if code := f.say(strings.TrimRight(line, "\n")); code >= 0 {
				return code
			}
		}
	}
	return -1
}

func (f *fake) say(line string) int {
	direction, ok := strings.CutPrefix(line, "!")
	if !ok {
		fmt.Println(line)
		return -1
	}
	what, arg, _ := strings.Cut(direction, " ")
	switch what {
	case "exit":
		code, _ := strconv.Atoi(arg)
		return code
	case "stderr":
		fmt.Fprintln(os.Stderr, arg)
	case "torn": // without an end of line
		fmt.Print(arg)
	case "deaf":
		f.deaf = true
	case "sleep":
		d, _ := time.ParseDuration(arg)
		time.Sleep(d)
	case "big": // a tool's result of so many bytes
		n, _ := strconv.Atoi(arg)
		fmt.Printf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"%s"}]}}`+"\n", strings.Repeat("x", n))
	}
	return -1
}
