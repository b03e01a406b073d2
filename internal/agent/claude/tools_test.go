package claude_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
)

// echo are tools that answer each request with its method, but for one that waits
// until it is cut off.
type echo struct {
	mu     sync.Mutex
	send   func(json.RawMessage)
	heard  []string
	closed bool
}

func (*echo) Name() string { return "pawl" }

func (e *echo) Open(send func(json.RawMessage)) agent.Wire {
	e.send = send
	return e
}

func (e *echo) Send(m json.RawMessage) error {
	var c struct {
		ID     json.RawMessage
		Method string
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
	}
	if err := json.Unmarshal(m, &c); err != nil {
		return err
	}
	e.mu.Lock()
	e.heard = append(e.heard, c.Method)
	e.mu.Unlock()
	answer := func(id json.RawMessage, what string) {
		go e.send(json.RawMessage(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"said":"` + what + `"}}`))
	}
	switch {
	case c.Method == "full":
		return errors.New("full")
	case c.Method == "notifications/cancelled":
		answer(c.Params.RequestID, "cut off")
	case c.ID != nil && c.Method != "slow":
		e.send(json.RawMessage(`{"jsonrpc":"2.0","id":` + string(c.ID) + `,"result":{"said":"` + c.Method + `"}}`)) // before the turn's end can cut it off
		go e.send(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/message"}`))
	}
	return nil
}

func (e *echo) Close() { e.closed = true }

func mcpLine(request, server, message string) string {
	return `{"type":"control_request","request_id":"` + request + `","request":{"subtype":"mcp_message","server_name":"` + server + `","message":` + message + `}}`
}

func TestToolsAreServedOnTheStream(t *testing.T) {
	f := newFake(t, block(initLine,
		mcpLine("q1", "pawl", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`),
		mcpLine("q2", "pawl", `{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		mcpLine("q3", "pawl", `{"jsonrpc":"2.0","id":"seven","method":"tools/call"}`),
		mcpLine("q4", "pawl", `{"jsonrpc":"2.0","id":8,"method":"full"}`),
		mcpLine("q5", "another", `{"jsonrpc":"2.0","id":9,"method":"tools/call"}`),
		mcpLine("q6", "pawl", `{"jsonrpc":"2.0","id":10,"method":"slow"}`),
		textLine, resultLine))
	e := &echo{}
	f.o.Tools = e
	s := f.start()
	mustEnd(t, f.turn(s, "x"))
	heard := f.receivedUntil(`"cut off"`)
	if err := s.Close(); err != nil || !e.closed {
		t.Errorf("closed: %t, %v", e.closed, err)
	}
	for _, want := range []string{
		`"sdkMcpServers":["pawl"]`,
		`"request_id":"q1","response":{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{"said":"initialize"}}}`,
		`"request_id":"q2","response":{"mcp_response":{"id":0,"jsonrpc":"2.0","result":{}}}`,
		`"request_id":"q3","response":{"mcp_response":{"jsonrpc":"2.0","id":"seven","result":{"said":"tools/call"}}}`,
		`"request_id":"q4","subtype":"error"`, `"request_id":"q5","subtype":"error"`,
		`"request_id":"q6","response":{"mcp_response":{"jsonrpc":"2.0","id":10,"result":{"said":"cut off"}}}`,
	} {
		if !strings.Contains(heard, want) {
			t.Errorf("the client did not hear %s:\n%s", want, heard)
		}
	}
	if strings.Contains(heard, "notifications/message") {
		t.Error("the client heard what it has no ear for")
	}
}

func TestWithoutToolsNoServerIsNamed(t *testing.T) {
	f := newFake(t, block(initLine, mcpLine("q1", "pawl", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`), textLine, resultLine))
	mustEnd(t, f.turn(f.start(), "x"))
	if heard := f.receivedUntil(`"q1"`); strings.Contains(heard, "sdkMcpServers") || !strings.Contains(heard, `"request_id":"q1","subtype":"error"`) {
		t.Errorf("heard: %s", heard)
	}
}
