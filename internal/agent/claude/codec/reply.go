package codec

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/pawl-dev/pawl/internal/core/guard"
)

// Reply is what the client should do. Reply.encode translates it into the client's
// format.
type Reply struct {
	Continue         string         // Stop: the session does not end; the agent receives this
	Context          string         // additional context for the agent
	Message          string         // shown to the user
	Refuse           string         // UserPromptExpansion, UserPromptSubmit: why the command is not run or the prompt not sent
	Answer           string         // UserPromptExpansion: the command is not run, since this answers it
	Call             *guard.Verdict // PreToolUse, PermissionRequest
	ExitMessage      string         // SessionEnd: printed on stderr by an unattended client
	TerminalSequence string         // an escape sequence for the terminal, where nothing else reaches the user
}

// Empty reports whether there is nothing to print.
func (r Reply) Empty() bool { return r == Reply{} }

// maxContextUnits bounds an additional context, in UTF-16 units. The client replaces a
// longer one by a preview.
const maxContextUnits = 9_900

// clientOutput is the answer in the client's format. A field with a value that it may not
// have ("allow" or null for decision) makes the client ignore the whole answer, so empty
// fields are omitted.
type clientOutput struct {
	Decision         string      `json:"decision,omitempty"`
	Reason           string      `json:"reason,omitempty"`
	Message          string      `json:"systemMessage,omitempty"`
	TerminalSequence string      `json:"terminalSequence,omitempty"`
	Specific         *hookOutput `json:"hookSpecificOutput,omitempty"`
}

// hookOutput holds the fields that depend on the event.
type hookOutput struct {
	Event            string              `json:"hookEventName"`
	Context          string              `json:"additionalContext,omitempty"`
	HidePrompt       bool                `json:"suppressOriginalPrompt,omitempty"`
	Permission       string              `json:"permissionDecision,omitempty"`
	PermissionReason string              `json:"permissionDecisionReason,omitempty"`
	Decision         *permissionBehavior `json:"decision,omitempty"`
}

// permissionBehavior answers a permission prompt.
type permissionBehavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// Print writes the answer to an event, or nothing if the reply is empty.
func (r Reply) Print(w io.Writer, event string) error {
	if r.Empty() {
		return nil
	}
	out := r.encode(event)
	if out == (clientOutput{}) {
		return nil
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("answer %s: %w", event, err)
	}
	return nil
}

// encode translates the reply into the client's format for an event.
func (r Reply) encode(event string) clientOutput {
	out := clientOutput{Message: r.Message, TerminalSequence: r.TerminalSequence}
	s := hookOutput{Event: event}
	switch event {
	case Stop:
		// A context reaches the agent once and is shown as information. A reason is
		// never cut, but arrives twice: it is for texts too long for a context.
		if FitsContext(r.Continue) {
			s.Context = r.Continue
		} else {
			out.Decision, out.Reason = "block", r.Continue
		}
	case UserPromptExpansion, UserPromptSubmit:
		if r.Refuse != "" {
			out.Decision, out.Reason = "block", r.Refuse
		}
		s.Context = truncateContext(r.Context)
		if r.Answer != "" {
			out.Decision, out.Reason = "block", r.Answer
			s.HidePrompt = event == UserPromptExpansion
		}
	case SessionStart, PostToolUse, PostToolUseFailure:
		s.Context = truncateContext(r.Context)
	case PreToolUse:
		if r.Call != nil {
			s.Permission, s.PermissionReason = string(r.Call.Decision), r.Call.Reason
		}
	case PermissionRequest:
		if r.Call != nil {
			s.Decision = &permissionBehavior{Behavior: string(r.Call.Decision), Message: r.Call.Reason}
		}
	}
	if s != (hookOutput{Event: event}) {
		out.Specific = &s
	}
	return out
}

// FitsContext reports whether the client passes on a context of this text in full.
func FitsContext(text string) bool {
	return len(text) <= maxContextUnits || utf16Len(text) <= maxContextUnits
}

// truncateContext cuts a text to what the client passes on as context.
func truncateContext(text string) string {
	if FitsContext(text) {
		return text
	}
	return truncate(text, maxContextUnits-100) + "\n[… cut here, it is too long …]\n"
}

// utf16Len returns the length of a text in UTF-16 units.
func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
