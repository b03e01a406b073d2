// Package agent defines what Pawl needs from a coding agent: begin a session, run one
// turn with a prompt, report what happens while it runs, and stop cleanly.
//
// The base interface is small; what only some agents can do (telling how full
// the context is, a fresh context without a new process) is an optional
// interface, asserted at compile time by those that can. Every implementation
// passes the suite in agent/agenttest.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/redact"
)

// Agent begins sessions. Implementations: claude, command, and scripted.
type Agent interface {
	Name() string
	// Version of the client, or "" if it cannot be told. Used for display and the journal.
	Version(ctx context.Context) (string, error)
	// Start begins (or, with Options.Resume, takes up) a session. No model is
	// asked before the first Turn.
	Start(ctx context.Context, o Options) (Session, error)
}

// Options of one session.
type Options struct {
	Dir    string // work tree the agent works in, absolute
	Resume string // session id to take up again; "" = a fresh context
	// PriorCostUSD is what the resumed session had cost by the client's own
	// count (Result.SessionCostUSD), so that each dollar is counted once.
	PriorCostUSD float64
	Model        string            // "" = the client's default
	Args         []string          // extra arguments for the client
	Prefix       []string          // argv put before the client's: what confines it; nil = nothing does
	Env          map[string]string // added to the environment
	Marker       string            // value of PAWL_LOOP in the environment of the client and all it starts
	LogPath      string            // where the raw stream is appended, see package rawlog; "" = nowhere
	Redact       *redact.Redactor  // takes secrets out of that; nil = they stay
	// ReadOnly is for a session that only reads: it gets no tool that writes or runs
	// anything, and no file of the work tree configures it, as far as the agent
	// supports that. CheckTool must deny the rest.
	ReadOnly bool
	// Schema is the JSON Schema that the last message is to follow, "" = none. The
	// message may be anything all the same.
	Schema string
	// CheckTool answers a tool call before it runs. It must answer quickly; nil allows everything.
	CheckTool func(toolcall.Call) Verdict
	// MeasureContext has the client say after each turn how full the context is. That
	// costs Claude Code 24 requests to its API; else it is estimated from the turn's usage.
	MeasureContext bool
	Tools          Tools // nil = none; only agents that are Mounts offer them
}

// Session is one conversation (one context window).
type Session interface {
	// ID is the agent's own session id; "" until the agent has told it.
	ID() string
	// Turn sends the prompt and returns when the agent has stopped and its
	// stream is at rest. Each notable thing on the way is passed to emit, from
	// one goroutine. Cancelling ctx interrupts the agent cleanly (bounded), and
	// the Result says Failure.Class == Interrupted. The error is for what is
	// not the agent's doing (pipes, a bug); failures of the agent are in Result.
	Turn(ctx context.Context, t Turn, emit func(Event)) (Result, error)
	// Close ends the session and every process it left behind. Idempotent, bounded.
	Close() error
}

// Turn is one run of the agent up to its attempt to stop.
type Turn struct {
	Prompt      string
	Timeout     time.Duration // 0 = none
	IdleTimeout time.Duration // no output for so long, while no tool runs, is Silent; 0 = none
	MaxCostUSD  float64       // stop after the response that passes it; 0 = none
	// BackgroundWait is how long a turn waits for background work that the agent
	// started, and that would wake it; the same work is waited for once. 0 = 10
	// minutes.
	BackgroundWait time.Duration
	// Final reports whether a message ends the turn though background work still
	// runs: one with a claim is checked now. nil = none does.
	Final func(text string) bool
	// Messages are for the agent while the turn runs, in order. One that can be told in a
	// turn emits KindTold for each that it has read; others leave them.
	Messages <-chan Message
	// LogPath is where the raw stream is appended from this turn on; "" = where
	// it went before.
	LogPath string
}

// Message is for an agent at work.
type Message struct{ ID, Text string }

// Kind of an Event.
type Kind string

// The events a session may emit.
const (
	KindInit    Kind = "init"     // Text: version, Model
	KindText    Kind = "text"     // Text: what the agent says
	KindTool    Kind = "tool"     // Tool, Call, Detail: one line of what it does ("edit internal/x.go", "go test ./...")
	KindToolEnd Kind = "tool_end" // Tool, Call, Failed, Output; Ran for a command
	KindUsage   Kind = "usage"    // Usage so far in this turn
	KindContext Kind = "context"  // ContextPercent
	KindRetry   Kind = "retry"    // the client retries an API error: Failure
	KindDenied  Kind = "denied"   // a tool call was denied: Tool, Text
	KindTold    Kind = "told"     // Text: the id of a message that the agent has now
	KindNote    Kind = "note"     // Text
)

// Event is one thing that happened in a turn.
type Event struct {
	Kind           Kind
	Text           string
	Model          string
	Tool, Detail   string
	Call           string // the client's id of the tool call; "": the client gives none
	Failed         bool   // the tool call failed, or was denied
	Output         string // what the tool answered
	Usage          loop.Usage
	ContextPercent int
	Failure        *loop.Failure // of KindRetry
	Ran            *Ran
	Does           toolcall.Call // of KindTool: what the call does
}

// Ran is a command of the agent's that came to its end.
type Ran struct {
	Command  string
	ExitCode int // -1: an error of unknown number
	Output   string
}

// Result of one turn.
type Result struct {
	Text           string // the agent's last message, whole
	SessionID      string
	SessionCostUSD float64 // what the session has cost so far, by the client's own count
	Model          string
	Usage          loop.Usage // of this turn alone, counted once also over resumes
	ToolCalls      int
	Rounds         int           // requests to the model, its subagents' too; 0 if they cannot be told
	Denied         int           // tool calls that the guard denied
	ContextPercent int           // fill of the context window at the end, 0..100; -1 unknown
	Background     []string      // work that the turn started and that still runs
	Beside         bool          // work in the background ran at some time in the turn
	Swept          int           // processes that the turn left behind, and that were ended
	Failure        *loop.Failure // nil: the turn came to its own end
}

// Verdict on a tool call.
type Verdict struct {
	Allow  bool
	Reason string // for the agent: why, and what to do instead
}

// Warm is the optional power of a session to begin a fresh context in the same
// process.
type Warm interface {
	// Fresh empties the context. An error means that the session must be
	// replaced by a new one.
	Fresh(ctx context.Context) error
	// RSS of the client in bytes, 0 if it cannot be told.
	RSS() int64
}

// Blind is implemented by an agent that never calls Options.CheckTool. Pawl does not see its
// tool calls, so any change during its turn may be the agent's.
type Blind interface{ Blind() }

// ReadOnly returns a CheckTool for a session that only reads. It denies calls that do not read, and
// next answers the others; nil allows them.
func ReadOnly(next func(toolcall.Call) Verdict) func(toolcall.Call) Verdict {
	return func(c toolcall.Call) Verdict {
		reads := slices.Contains([]toolcall.Kind{toolcall.Read, toolcall.Search, toolcall.List}, c.Kind)
		switch {
		case c.Kind == toolcall.Answer, reads && next == nil:
			return Verdict{Allow: true}
		case reads:
			return next(c)
		}
		return Verdict{Reason: "This session only looks: read and search the files, then answer."}
	}
}

// ErrLoginUnknown is returned by CheckLogin where the client cannot tell.
var ErrLoginUnknown = errors.New("the client does not say whether it is logged in")

// LoginChecker is an Agent that can tell, without asking a model, whether somebody
// is logged in.
type LoginChecker interface {
	// CheckLogin asks the client as it would be started with o. It returns nil if
	// somebody is logged in, ErrLoginUnknown if that cannot be told, and else an
	// error with a hint. Bounded.
	CheckLogin(ctx context.Context, o Options) error
}

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
