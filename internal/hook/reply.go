package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/pawl-dev/pawl/internal/core/guard"
)

// reply is what the client should do, in Pawl's terms.
type reply struct {
	Continue         string // Stop: the session does not end, the agent is told this
	Context          string // told to the agent beside what it is told anyway
	Message          string // shown to the user
	Refuse           string // UserPromptExpansion, UserPromptSubmit: the command is not run, the prompt not sent, for this reason
	Answer           string // UserPromptExpansion: the command is not run, since this answers it
	Call             *guard.Verdict
	ExitMessage      string // SessionEnd: told on the standard error of a client that nobody sits at
	TerminalSequence string // a sequence for the terminal, where nothing else reaches the user
}

func (r reply) empty() bool { return r == reply{} }

// contextMax is how much of an additional context reaches the agent; the client
// puts a preview in the place of what is longer. It counts in UTF-16 units.
const contextMax = 9_900

// output is the client's shape. Values that a field may not have ("allow" and
// null for decision) void the whole of it, so what is not said is left out.
type output struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"systemMessage,omitempty"`
	Sound    string    `json:"terminalSequence,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event      string    `json:"hookEventName"`
	Context    string    `json:"additionalContext,omitempty"`
	HidePrompt bool      `json:"suppressOriginalPrompt,omitempty"`
	Permission string    `json:"permissionDecision,omitempty"`
	Why        string    `json:"permissionDecisionReason,omitempty"`
	Decision   *behavior `json:"decision,omitempty"`
}

type behavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// print writes the answer to an event; nothing where there is none.
func (r reply) print(w io.Writer, event string) error {
	if r.empty() {
		return nil
	}
	out := r.output(event)
	if out == (output{}) {
		return nil
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("answer %s: %w", event, err)
	}
	return nil
}

func (r reply) output(event string) output {
	out := output{Message: r.Message, Sound: r.TerminalSequence}
	s := specific{Event: event}
	switch event {
	case stop:
		// A context reaches the agent once and is no error; a reason is not cut,
		// but arrives twice: for what is too long for a context.
		if fits(r.Continue) {
			s.Context = r.Continue
		} else {
			out.Decision, out.Reason = "block", r.Continue
		}
	case userPromptExpansion, userPromptSubmit:
		if r.Refuse != "" {
			out.Decision, out.Reason = "block", r.Refuse
		}
		s.Context = shortened(r.Context)
		if r.Answer != "" {
			out.Decision, out.Reason = "block", r.Answer
			s.HidePrompt = event == userPromptExpansion
		}
	case sessionStart:
		s.Context = shortened(r.Context)
	case preToolUse:
		if r.Call != nil {
			s.Permission, s.Why = string(r.Call.Decision), r.Call.Reason
		}
	case permissionRequest:
		if r.Call != nil {
			s.Decision = &behavior{Behavior: string(r.Call.Decision), Message: r.Call.Reason}
		}
	}
	if s != (specific{Event: event}) {
		out.Specific = &s
	}
	return out
}

func fits(text string) bool { return len(text) <= contextMax || units(text) <= contextMax }

// shortened is as much of a text as a context can hold.
func shortened(text string) string {
	if fits(text) {
		return text
	}
	return truncate(text, contextMax-100) + "\n[… cut here, it is too long …]\n"
}

func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
