// Package mcpserver gives the agent of a loop tools over MCP: to read its task, run the
// gates, claim to be done or blocked, and ask the user.
//
// It is an MCP server on the official SDK, used in two ways. With a runner it is in the runner's
// process, and its messages use the client's control protocol (agent.Tools): no process and no socket
// that a sandbox could block. In a user's session the plugin starts `pawl mcp`, which uses the standard
// streams. It finds the loop by the session's id at each call, since a loop may start later, and end.
//
// Tools make no decisions. A claim is put into the loop's inbox with its turn. When the turn ends, Pawl
// runs the gates and decides. Gates that the agent starts here run at a time that the agent chooses,
// so their results are stored separately and do not count, see gates.go.
package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store"
)

// Options configure a Server.
type Options struct {
	Env     environment.Environment
	Loop    string // id of the loop; "" = the session's
	Client  int    // process id of the client that started this process, 0 if unknown: clearing a session changes its id
	Dir     string // folder in which the client started this process, absolute
	Version string
	// Project runs the gates of the session's project if there is no loop; nil = it has no gates.
	Project func(context.Context) ([]gate.Result, error)
}

// Server answers calls of one or several clients. It stores nothing about a loop between calls.
type Server struct {
	Options
	store *store.Store
	gates chan struct{} // a lock: gates share the work tree
	mcp   *mcp.Server
}

// instructions describe the server to the agent.
const instructions = `Pawl keeps you at a task until it is verifiably done. Its gates decide, not your word: use these tools to see their results and to report the state of the work truthfully.
- next_task: what to do now. verify: run the gates and get what fails.
- complete_task: say that a task is done, done in part, or blocked. Afterwards end your turn: Pawl checks the work when it ends.
- report_blocked, request_test_change, request_merge: ask for what only the user may do. An honest "this cannot be done, because …" is a good result.`

// New returns a server.
func New(o Options) *Server {
	s := &Server{Options: o, store: store.Open(o.Env.PawlHome), gates: make(chan struct{}, 1)}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "pawl", Title: "Pawl", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the list never changes
		// The newest one has no handshake, and clients that speak it also speak these.
		SupportedProtocolVersions: []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"},
	})
	s.addTools()
	return s
}

// Serve answers on a transport until the client disconnects or ctx ends.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error {
	return s.mcp.Run(ctx, handshakeTransport{t})
}

// Limits, in bytes unless noted.
const (
	maxAnswerBytes = 10_000
	maxInputBytes  = 4_000 // of one text from the agent
	maxFiles       = 50
	maxPathBytes   = 500
	maxLessonBytes = 500
	callTimeout    = 30 * time.Second // of a call that runs no gates
)

// addTool registers a tool with the input In. do returns the answer, or an error that says what to do
// instead.
func addTool[In any](s *Server, t *mcp.Tool, do func(context.Context, In) (string, error)) {
	schema, ok := t.InputSchema.(*jsonschema.Schema)
	if !ok {
		schema = schemaOf[In]()
		t.InputSchema = schema
	}
	s.mcp.AddTool(t, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in In
		err := decodeArgs(t.Name, schema, r.Params.Arguments, &in)
		text := ""
		if err == nil {
			text, err = do(ctx, in)
		}
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: textContent(errorText(err))}, nil
		}
		return &mcp.CallToolResult{Content: textContent(text)}, nil
	})
}

func textContent(text string) []mcp.Content {
	return []mcp.Content{&mcp.TextContent{Text: cutMiddle(text, maxAnswerBytes)}}
}

// errorText returns an error with its hint.
func errorText(err error) string {
	text := "error: " + err.Error()
	if hint := failure.Hint(err); hint != "" {
		text += "\nhint: " + hint
	}
	return text
}

// withTimeout limits the time of a tool that runs no gate.
func withTimeout[In any](do func(context.Context, In) (string, error)) func(context.Context, In) (string, error) {
	return func(ctx context.Context, in In) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		return do(ctx, in)
	}
}

// checkText checks a text that the agent sent.
func checkText(what, text string, most int) (string, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	switch {
	case text == "":
		return "", failure.New(failure.Usage, "call again with it", "%s is empty", what)
	case len(text) > most:
		return "", failure.New(failure.Usage, "say it in fewer words", "%s has %d bytes, at most %d are taken", what, len(text), most)
	}
	return text, nil
}

// cutMiddle shortens a text to n bytes by omitting its middle.
func cutMiddle(text string, n int) string {
	if len(text) <= n {
		return text
	}
	mark := fmt.Sprintf("\n[… %d bytes left out …]\n", len(text)-n)
	keep := n - len(mark) - 8
	return strings.ToValidUTF8(text[:keep*2/3], "") + mark + strings.ToValidUTF8(text[len(text)-keep/3:], "")
}
