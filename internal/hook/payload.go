package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
)

// The events that Pawl listens to, by the client's names for them.
const (
	stop                = "Stop"
	stopFailure         = "StopFailure"
	sessionStart        = "SessionStart"
	sessionEnd          = "SessionEnd"
	userPromptSubmit    = "UserPromptSubmit"
	userPromptExpansion = "UserPromptExpansion"
	preCompact          = "PreCompact"
	preToolUse          = "PreToolUse"
	postToolUse         = "PostToolUse"
	postToolUseFailure  = "PostToolUseFailure"
	permissionRequest   = "PermissionRequest"
)

// payload is an event as the client sends it. What is not there is zero; what
// Pawl does not know is left alone.
type payload struct {
	Event      string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	PromptID   string `json:"prompt_id"`
	Agent      string `json:"agent_id"` // of a subagent

	// Stop and StopFailure.
	Again      bool         `json:"stop_hook_active"` // the turn continued one that a hook did not let end
	Last       *string      `json:"last_assistant_message"`
	Background []background `json:"background_tasks"`
	Crons      []background `json:"session_crons"`
	Error      string       `json:"error"` // of StopFailure: its class

	Prompt  string `json:"prompt"`       // UserPromptSubmit
	Command string `json:"command_name"` // UserPromptExpansion
	Args    string `json:"command_args"`
	Source  string `json:"source"` // SessionStart
	Reason  string `json:"reason"` // SessionEnd

	// Of other agents, which run the same hooks: the client sends none of these.
	Stamp any `json:"timestamp"`
	Why   any `json:"stop_reason"`
	Turn  any `json:"turn_id"`

	Tool  string         `json:"tool_name"`
	Call  string         `json:"tool_use_id"`
	Input map[string]any `json:"tool_input"`
	// Response is what a tool gave, of PostToolUse: for Bash its output, and no exit
	// code, which is 0. Of PostToolUseFailure the code and the output stand in Error.
	Response    response `json:"tool_response"`
	Interrupted bool     `json:"is_interrupt"` // of PostToolUseFailure: by the person
}

// background is something that will wake the session by itself.
type background struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Description string `json:"description"`
	Command     string `json:"command"`
	Schedule    string `json:"schedule"`
}

// payloadMax bounds what is read: a tool's result can be large, and an event
// that is larger than this is not worth an answer.
const payloadMax = 64 << 20

// read takes an event. It is not ok where there is none that Pawl could answer:
// nothing, too much, no JSON, or the payload of another agent, which names things
// otherwise. A field of another type than expected is taken for absent.
func read(in io.Reader) (payload, bool) {
	data, err := io.ReadAll(io.LimitReader(in, payloadMax+1))
	if err != nil || len(data) > payloadMax {
		return payload{}, false
	}
	var p payload
	err = json.Unmarshal(data, &p)
	var odd *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &odd) {
		return payload{}, false
	}
	return p, p.Event != "" && p.Session != "" && !p.foreign()
}

// foreign tells whether an event is another agent's.
func (p payload) foreign() bool { return p.Stamp != nil || p.Why != nil || p.Turn != nil }

// notice tells whether the client sent the prompt itself: a background task has
// ended, a hook wakes the session. Its tag is the only mark there is.
func (p payload) notice() bool {
	return strings.HasPrefix(strings.TrimSpace(p.Prompt), "<task-notification>")
}

// stopID tells this stop from others.
func (p payload) stopID() string {
	f := fnv.New64a()
	last := ""
	if p.Last != nil {
		last = *p.Last
	}
	fmt.Fprintf(f, "%s %t %q %q", p.PromptID, p.Again, p.Error, last) // never fails
	return strconv.FormatUint(f.Sum64(), 36)
}

// pending are the things that will wake the session by themselves, by names that
// tell one from another.
func (p payload) pending() []string {
	var names []string
	for _, b := range p.Background {
		if b.Status == "" || b.Status == "running" || b.Status == "pending" {
			names = append(names, named(b.ID, b.Description, b.Command))
		}
	}
	for _, b := range p.Crons {
		names = append(names, named(b.ID, "wake-up", b.Schedule))
	}
	return names
}

func named(id string, words ...string) string {
	for _, w := range words {
		if w = strings.Join(strings.Fields(w), " "); w != "" {
			return cut(w, 80) + " (" + cut(id, 40) + ")"
		}
	}
	return cut(id, 40)
}

// cut is the beginning of a text, at most n bytes, cut at a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
