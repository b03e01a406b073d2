package claude

import (
	"encoding/json"
	"errors"
	"fmt"
)

// line is one line of the client's output: the union of the fields that matter
// of all its types. What is absent or of another shape is zero.
type line struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`

	// system/init, system/api_retry, system/background_tasks_changed
	Model        string `json:"model"`
	Version      string `json:"claude_code_version"`
	Attempt      int    `json:"attempt"`
	RetryDelayMS delay  `json:"retry_delay_ms"`
	ErrorStatus  int    `json:"error_status"`
	Tasks        []task `json:"tasks"`

	// system/init, system/hook_started
	Dir       string      `json:"cwd"`
	Mode      string      `json:"permissionMode"`
	Servers   []mcpServer `json:"mcp_servers"`
	Commands  []string    `json:"slash_commands"`
	HookEvent string      `json:"hook_event"`

	// assistant, user
	Message     message `json:"message"`
	ParentID    string  `json:"parent_tool_use_id"`
	Error       string  `json:"error"` // api_retry too; see kindOf
	IsAPIError  bool    `json:"is_api_error_message"`
	ErrorDetail string  `json:"error_details"`

	// result
	IsError        bool                  `json:"is_error"`
	APIErrorStatus int                   `json:"api_error_status"`
	TerminalReason string                `json:"terminal_reason"`
	StopReason     string                `json:"stop_reason"`
	Result         string                `json:"result"`
	Errors         []string              `json:"errors"`
	TotalCostUSD   dollars               `json:"total_cost_usd"`
	ModelUsage     map[string]modelUsage `json:"modelUsage"`
	QueuedTurns    int                   `json:"queued_turn_count"`
	LocalCommand   string                `json:"local_command"`

	// command_lifecycle: of a user message that has an id
	CommandID string `json:"command_uuid"`
	State     string `json:"state"` // queued, started, completed

	RateLimit rateLimit `json:"rate_limit_info"`

	// control_request, control_response
	RequestID string          `json:"request_id"`
	Request   controlRequest  `json:"request"`
	Response  controlResponse `json:"response"`
}

type task struct {
	ID          string `json:"task_id"`
	Type        string `json:"task_type"`
	Description string `json:"description"`
}

type mcpServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

type message struct {
	ID      string  `json:"id"`
	Model   string  `json:"model"`
	Content content `json:"content"`
	Usage   intake  `json:"usage"`
}

// intake holds the tokens that a response read. The tokens that it writes are not final in its lines.
type intake struct {
	Input      count `json:"input_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	CacheWrite count `json:"cache_creation_input_tokens"`
}

func (i intake) total() int64 { return int64(i.Input + i.CacheRead + i.CacheWrite) }

// content is a list of blocks; a plain string is none.
type content []block

type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     map[string]any `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	IsError   bool           `json:"is_error"` // tool_result
	Content   output         `json:"content"`  // tool_result
	Excerpt   bool           `json:"-"`        // Content is the beginning, and IsError is not known
}

// output is what a tool printed: a string, or blocks of text.
type output string

// UnmarshalJSON never fails: output of a new shape is none.
func (o *output) UnmarshalJSON(b []byte) error {
	*o = ""
	var text string
	if json.Unmarshal(b, &text) == nil {
		*o = output(text)
		return nil
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if tolerant(json.Unmarshal(b, &blocks)) == nil {
		for _, block := range blocks {
			*o += output(block.Text)
		}
	}
	return nil
}

// UnmarshalJSON never fails: content of a new shape is not content.
func (c *content) UnmarshalJSON(b []byte) error {
	*c = nil
	if len(b) == 0 || b[0] != '[' {
		return nil
	}
	var blocks []block
	if err := tolerant(json.Unmarshal(b, &blocks)); err == nil {
		*c = blocks
	}
	return nil
}

type modelUsage struct {
	Input         count `json:"inputTokens"`
	Output        count `json:"outputTokens"`
	CacheRead     count `json:"cacheReadInputTokens"`
	CacheWrite    count `json:"cacheCreationInputTokens"`
	ContextWindow count `json:"contextWindow"`
}

type rateLimit struct {
	Status   string `json:"status"`
	ResetsAt moment `json:"resetsAt"`
	Kind     string `json:"rateLimitType"`
}

type controlRequest struct {
	Subtype string          `json:"subtype"`
	Server  string          `json:"server_name"` // mcp_message
	Message json.RawMessage `json:"message"`
	Input   struct {
		Event    string         `json:"hook_event_name"`
		Dir      string         `json:"cwd"`
		ToolName string         `json:"tool_name"`
		Tool     map[string]any `json:"tool_input"`
	} `json:"input"`
}

type controlResponse struct {
	Subtype   string          `json:"subtype"`
	RequestID string          `json:"request_id"`
	Error     string          `json:"error"`
	Response  json.RawMessage `json:"response"`
}

// decode reads a line. A field of an unexpected shape stays zero. Only data that is not a JSON
// object with a type is an error.
func decode(b []byte) (line, error) {
	if l, ok := decodeUser(b); ok {
		return l, nil
	}
	var l line
	if err := tolerant(json.Unmarshal(b, &l)); err != nil {
		return line{}, fmt.Errorf("not a line of the protocol: %w", err)
	}
	if l.Type == "" {
		return line{}, errors.New("not a line of the protocol: no type")
	}
	return l, nil
}

// tolerant ignores errors about fields of an unexpected type; the rest was decoded.
func tolerant(err error) error {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mismatch.Field != "" {
		return nil
	}
	return err
}

// Answers and requests to the client.

func userMessage(text string) map[string]any {
	return map[string]any{
		"type":    "user",
		"message": map[string]any{"role": "user", "content": text},
	}
}

func request(id, subtype string) map[string]any {
	return map[string]any{
		"type": "control_request", "request_id": id,
		"request": map[string]any{"subtype": subtype},
	}
}

func initializeRequest(id string, servers []string) any {
	r := request(id, "initialize")
	body := r["request"].(map[string]any)
	if len(servers) > 0 {
		body["sdkMcpServers"] = servers
	}
	body["hooks"] = map[string]any{
		// No matcher: every tool. The timeout, in seconds, is for a machine that
		// was put to sleep, not for the guard.
		"PreToolUse": []any{map[string]any{"hookCallbackIds": []string{"guard"}, "timeout": 3600}},
	}
	return r
}

func response(requestID string, answer any) any {
	return map[string]any{
		"type": "control_response",
		"response": map[string]any{
			"subtype": "success", "request_id": requestID, "response": answer,
		},
	}
}

func unsupported(requestID string) any {
	return map[string]any{
		"type": "control_response",
		"response": map[string]any{
			"subtype": "error", "request_id": requestID, "error": "unsupported request",
		},
	}
}

func permission(allow bool, reason string) any {
	decision := "deny"
	if allow {
		decision = "allow"
	}
	return map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
	}}
}
