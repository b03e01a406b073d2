package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// handshakeTransport adds two rules to the SDK: a client must begin with initialize, and a client that
// closes its end still gets outstanding answers within closeTimeout.
type handshakeTransport struct{ mcp.Transport }

// Connect wraps the connection.
func (t handshakeTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &handshakeConnection{Connection: c, unanswered: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1)}, err
}

type handshakeConnection struct {
	mcp.Connection
	mu         sync.Mutex
	unanswered map[jsonrpc.ID]bool // requests without an answer
	answered   chan struct{}       // receives after each answer
}

// closeTimeout limits calls after the client has closed its end. A call may record something after
// gates that take seconds, and that must not be lost.
const closeTimeout = 30 * time.Second

// Read returns the next message for the server. It rejects server/discover, which Claude Code sends
// first: the client then continues with initialize, as with older servers.
func (c *handshakeConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			c.awaitAnswers(ctx)
			return nil, err
		}
		r, ok := m.(*jsonrpc.Request)
		if !ok || !r.IsCall() {
			return m, nil
		}
		if r.Method != "server/discover" {
			c.mu.Lock()
			c.unanswered[r.ID] = true
			c.mu.Unlock()
			return m, nil
		}
		unknown := &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
		if err := c.Connection.Write(ctx, &jsonrpc.Response{ID: r.ID, Error: unknown}); err != nil {
			return nil, err
		}
	}
}

// Write sends a message. Errors of the SDK without a code, such as for a call before initialize, get
// the code of an invalid request.
func (c *handshakeConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	r, answers := m.(*jsonrpc.Response)
	if coded := new(jsonrpc.Error); answers && r.Error != nil && (!errors.As(r.Error, &coded) || coded.Code == 0) {
		r.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: r.Error.Error()}
	}
	err := c.Connection.Write(ctx, m)
	if answers {
		c.mu.Lock()
		delete(c.unanswered, r.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// awaitAnswers waits until every request has an answer, up to closeTimeout.
func (c *handshakeConnection) awaitAnswers(ctx context.Context) {
	t := time.NewTimer(closeTimeout)
	defer t.Stop()
	for {
		c.mu.Lock()
		left := len(c.unanswered)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-t.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
