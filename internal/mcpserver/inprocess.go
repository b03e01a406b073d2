package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/agent"
)

var _ agent.Tools = (*Server)(nil)

// Name of the server: its tools are mcp__pawl__… to Claude Code.
func (*Server) Name() string { return "pawl" }

// Open serves a client in this process.
func (s *Server) Open(send func(json.RawMessage)) agent.Wire {
	ctx, cancel := context.WithCancel(context.Background()) // until Close
	w := &wire{send: send, in: make(chan jsonrpc.Message, wireQueue), ctx: ctx, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		_ = s.Serve(ctx, w) // its end is the client's, or ours
	}()
	return w
}

const (
	wireQueue   = 64 // capacity for messages that the server has not read yet
	wireTimeout = 15 * time.Second
)

var errQueueFull = errors.New("the tools are busy")

// wire connects the client (agent.Wire) with the server (mcp.Connection) in one process.
type wire struct {
	send   func(json.RawMessage)
	in     chan jsonrpc.Message
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	done   chan struct{} // closed when the server has ended
	once   sync.Once
}

// Send sends a message of the client to the server.
func (w *wire) Send(message json.RawMessage) error {
	m, err := jsonrpc.DecodeMessage(message)
	if err != nil {
		return err
	}
	select {
	case w.in <- m:
		return nil
	default:
		return errQueueFull
	}
}

// Connect returns the server's end.
func (w *wire) Connect(context.Context) (mcp.Connection, error) { return serverEnd{w}, nil }

// Close cancels running calls, and waits until they end or wireTimeout passes.
func (w *wire) Close() {
	w.once.Do(func() {
		w.cancel()
		select {
		case <-w.done:
		case <-time.After(wireTimeout):
		}
	})
}

type serverEnd struct{ *wire }

// Read returns the client's next message.
func (e serverEnd) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-e.in:
		return m, nil
	case <-e.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends a message to the client.
func (e serverEnd) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	e.send(data)
	return nil
}

// Close ends Read.
func (e serverEnd) Close() error {
	e.cancel()
	return nil
}

// SessionID returns "": there is one client in one process.
func (serverEnd) SessionID() string { return "" }
