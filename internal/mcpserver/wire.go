package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// handshakeTransport adds rules that the SDK lacks: a client begins with initialize, and one that
// closes its end still gets the answers that it waits for, if they come soon.
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
	answered   chan struct{}       // holds one when an answer was given
}

// closeTimeout bounds how long calls of a client that has closed its end continue: what one
// of them is to record, after gates that take seconds, must not be lost.
const closeTimeout = 30 * time.Second

// Read gives the next message that is for the server. Claude Code asks
// server/discover first; of a server that does not know it, as none did before there
// was such a method, it continues with initialize, and all that is measured of it holds.
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

// Write sends a message. What the SDK refuses without a code, as a call before
// initialize, is a request that is not valid.
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

// awaitAnswers waits until every request has its answer, for a moment.
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
