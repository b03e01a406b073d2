package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// The events that Pawl listens to, by the client's names for them.
const (
	Stop                = "Stop"
	StopFailure         = "StopFailure"
	SessionStart        = "SessionStart"
	SessionEnd          = "SessionEnd"
	UserPromptSubmit    = "UserPromptSubmit"
	UserPromptExpansion = "UserPromptExpansion"
	PreCompact          = "PreCompact"
	PreToolUse          = "PreToolUse"
	PostToolUse         = "PostToolUse"
	PostToolUseFailure  = "PostToolUseFailure"
	PermissionRequest   = "PermissionRequest"
)

// Event is an event of a session as the client sends it to a hook. Missing fields are zero; unknown fields are
// ignored.
type Event struct {
	Event      string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	PromptID   string `json:"prompt_id"`
	Agent      string `json:"agent_id"` // set for subagents

	// Stop and StopFailure.
	StopHookActive bool     `json:"stop_hook_active"` // the turn continued after a hook blocked its end
	LastMessage    *string  `json:"last_assistant_message"`
	Background     []wakeup `json:"background_tasks"`
	Crons          []wakeup `json:"session_crons"`
	Error          string   `json:"error"` // of StopFailure: the error class

	Prompt  string `json:"prompt"`       // UserPromptSubmit
	Command string `json:"command_name"` // UserPromptExpansion
	Args    string `json:"command_args"`
	Source  string `json:"source"` // SessionStart
	Reason  string `json:"reason"` // SessionEnd

	// Sent by other agents that run the same hooks, never by the client.
	Timestamp  any `json:"timestamp"`
	StopReason any `json:"stop_reason"`
	TurnID     any `json:"turn_id"`

	Tool  string         `json:"tool_name"`
	Call  string         `json:"tool_use_id"`
	Input map[string]any `json:"tool_input"`
	// Response is a tool's result (PostToolUse): for Bash its output, without the exit
	// code, which is 0. PostToolUseFailure has the exit code and the output in Error.
	Response    toolResponse `json:"tool_response"`
	Interrupted bool         `json:"is_interrupt"` // of PostToolUseFailure: by the user
}

// toolResponse is the result of a Bash call. It stays empty for tools that answer in
// another shape.
type toolResponse struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	Background string `json:"backgroundTaskId"`
}

// UnmarshalJSON never fails, since most tools answer in other shapes.
func (r *toolResponse) UnmarshalJSON(b []byte) error {
	type plain toolResponse
	var p plain
	_ = json.Unmarshal(b, &p) // what does not fit stays empty
	*r = toolResponse(p)
	return nil
}

// wakeup is a background task or a timer that will wake the session later.
type wakeup struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Description string `json:"description"`
	Command     string `json:"command"`
	Schedule    string `json:"schedule"`
}

// MaxEventBytes bounds an event. Tool results can be large; larger events are not
// answered.
const MaxEventBytes = 64 << 20

// ReadEvent reads an event. ok is false if it cannot be answered: empty, too large, not
// JSON, or sent by another agent, whose fields differ. A field of an unexpected type
// counts as missing.
func ReadEvent(in io.Reader) (Event, bool) {
	data, err := io.ReadAll(io.LimitReader(in, MaxEventBytes+1))
	if err != nil || len(data) > MaxEventBytes {
		return Event{}, false
	}
	var p Event
	err = json.Unmarshal(data, &p)
	if _, tolerable := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !tolerable {
		return Event{}, false
	}
	return p, p.Event != "" && p.Session != "" && !p.IsOtherClient()
}

// IsOtherClient reports whether the event comes from another agent.
func (p Event) IsOtherClient() bool {
	return p.Timestamp != nil || p.StopReason != nil || p.TurnID != nil
}

// IsNotification reports whether the client wrote the prompt itself: a background task
// ended, or a hook wakes the session. Its tag is the only mark of it.
func (p Event) IsNotification() bool {
	return strings.HasPrefix(strings.TrimSpace(p.Prompt), "<task-notification>")
}

// StopID identifies this stop.
func (p Event) StopID() string {
	f := fnv.New64a()
	last := ""
	if p.LastMessage != nil {
		last = *p.LastMessage
	}
	fmt.Fprintf(f, "%s %t %q %q", p.PromptID, p.StopHookActive, p.Error, last) // never fails
	return strconv.FormatUint(f.Sum64(), 36)
}

// PendingWakeups names what will wake the session without the user.
func (p Event) PendingWakeups() []string {
	var names []string
	for _, b := range p.Background {
		if b.Status == "" || b.Status == "running" || b.Status == "pending" {
			names = append(names, labelOf(b.ID, b.Description, b.Command))
		}
	}
	for _, b := range p.Crons {
		names = append(names, labelOf(b.ID, "wake-up", b.Schedule))
	}
	return names
}

// labelOf joins the first non-empty text and the id.
func labelOf(id string, words ...string) string {
	for _, w := range words {
		if w = strings.Join(strings.Fields(w), " "); w != "" {
			return truncate(w, 80) + " (" + truncate(id, 40) + ")"
		}
	}
	return truncate(id, 40)
}

// truncate cuts a text after at most n bytes, between runes.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Failure returns what an error of the API means. It reads its class only, never the text.
func Failure(class, message string) loop.Failure {
	f := loop.Failure{Class: loop.Network, Message: plan.OneLine(message, 300)}
	switch class {
	case "rate_limit":
		f.Class = loop.UsageLimit
	case "overloaded":
		f.Class = loop.Overloaded
	case "authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
		f.Class, f.Hint = loop.Login, "log in (/login), then send any message to continue"
	case "billing_error":
		f.Class, f.Hint = loop.Billing, "check the account's credit, then send any message to continue"
	case "invalid_request", "model_not_found":
		f.Class, f.Hint = loop.Refused, "read the error; /model and /compact may help"
	case "max_output_tokens":
		f.Class = loop.Crashed
	}
	if f.Message == "" {
		f.Message = class
	}
	return f
}
