package agent

import "encoding/json"

// Tools are offered to the agent as an MCP server that lives in this process: what
// it does is done here, out of reach of whatever confines the agent.
type Tools interface {
	// Name of the server; agents make the names of its tools with it.
	Name() string
	// Open begins a conversation with a client. Each message of the server, JSON-RPC
	// as MCP has it, is passed to send, from any goroutine.
	Open(send func(json.RawMessage)) Wire
}

// Wire is a client's end of such a conversation.
type Wire interface {
	// Send passes a message of the client on and does not wait for what comes of it.
	Send(message json.RawMessage) error
	// Close ends the conversation and cuts off what is under way in it. Idempotent,
	// bounded.
	Close()
}

// Mounts is the mark of an agent that offers Options.Tools to its model.
type Mounts interface{ Mounts() }
