package claude

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
)

// toolBridge carries the messages of agent.Options.Tools. The client wraps each of its
// own in a control request, and takes the server's answer as that request's.
type toolBridge struct {
	name string
	wire agent.Wire
	send func(any) error

	mu    sync.Mutex
	asked map[string]string // id of an MCP request, as JSON → the control request that carried it
	done  chan struct{}     // holds one when an answer was given
}

// cutTimeout is how long calls that are cut off may take to end: the processes of a
// gate are asked to, and killed some seconds later.
const cutTimeout = 15 * time.Second

func newToolBridge(t agent.Tools, send func(any) error) *toolBridge {
	if t == nil {
		return nil
	}
	m := &toolBridge{name: t.Name(), send: send, asked: map[string]string{}, done: make(chan struct{}, 1)}
	m.wire = t.Open(m.answer)
	return m
}

// names returns the servers that the client gets.
func (m *toolBridge) names() []string {
	if m == nil {
		return nil
	}
	return []string{m.name}
}

// call holds the fields of a JSON-RPC message that identify it.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// forward passes a message of the client on, and tells whether it was for us. It is
// answered when the server has; what asks for no answer at once, by a message that
// says nothing.
func (m *toolBridge) forward(l line) bool {
	var c call
	if m == nil || l.Request.Server != m.name || json.Unmarshal(l.Request.Message, &c) != nil {
		return false
	}
	id := string(bytes.TrimSpace(c.ID))
	waits := id != "" && id != "null" && c.Method != ""
	if waits {
		m.mu.Lock()
		m.asked[id] = l.RequestID
		m.mu.Unlock()
	}
	if err := m.wire.Send(l.Request.Message); err != nil && waits {
		m.forget(id)
		return false
	}
	if !waits {
		_ = m.send(response(l.RequestID, map[string]any{"mcp_response": map[string]any{"jsonrpc": "2.0", "id": 0, "result": map[string]any{}}}))
	}
	return true
}

// answer passes an answer of the server on. What it says unasked the client has no
// ear for.
func (m *toolBridge) answer(message json.RawMessage) {
	var c call
	if json.Unmarshal(message, &c) != nil || c.Method != "" {
		return
	}
	if request := m.forget(string(bytes.TrimSpace(c.ID))); request != "" {
		_ = m.send(response(request, map[string]any{"mcp_response": message}))
	}
	select {
	case m.done <- struct{}{}:
	default:
	}
}

// forget removes a request and returns the control request that carried it.
func (m *toolBridge) forget(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	request := m.asked[id]
	delete(m.asked, id)
	return request
}

// cancelCalls ends the running calls: after the turn, nothing of the agent may work in the tree.
func (m *toolBridge) cancelCalls() {
	if m == nil {
		return
	}
	m.mu.Lock()
	var ids []string
	for id := range m.asked {
		ids = append(ids, id)
	}
	m.mu.Unlock()
	for _, id := range ids {
		note, err := json.Marshal(map[string]any{
			"jsonrpc": "2.0", "method": "notifications/cancelled",
			"params": map[string]any{"requestId": json.RawMessage(id), "reason": "the turn is over"},
		})
		if err == nil {
			_ = m.wire.Send(note)
		}
	}
	t := time.NewTimer(cutTimeout)
	defer t.Stop()
	for m.waiting() {
		select {
		case <-m.done:
		case <-t.C:
			return
		}
	}
}

func (m *toolBridge) waiting() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked) > 0
}

func (m *toolBridge) close() {
	if m != nil {
		m.wire.Close()
	}
}
