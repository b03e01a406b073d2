package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
)

// answerFaults returns what the client would reject or misread in an answer, by measurement. A wrong
// field makes the client ignore the whole answer silently.
func answerFaults(event string, out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	var bad []string
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	fault(!utf8.Valid(out), "not UTF-8")
	var r map[string]any
	d := json.NewDecoder(bytes.NewReader(out))
	if err := d.Decode(&r); err != nil {
		return append(bad, "not one JSON object: "+err.Error())
	}
	_, err := d.Token()
	fault(err != io.EOF, "more than one value")
	fault(len(r) == 0, "an object that says nothing")
	checkKnownFields(r, fault, "decision", "reason", "systemMessage", "terminalSequence", "hookSpecificOutput")
	for k, v := range r {
		text, isText := v.(string)
		fault(k != "hookSpecificOutput" && (!isText || text == ""), "%s is %v", k, v)
	}
	if v, ok := r["decision"]; ok {
		fault(v != "block", "decision %v", v)
		fault(r["reason"] == nil, "block without reason")
		fault(event != codec.Stop && event != codec.UserPromptExpansion && event != codec.UserPromptSubmit, "a decision at %s", event)
	}
	fault(r["decision"] == nil && r["reason"] != nil, "reason without decision")
	if sound, ok := r["terminalSequence"].(string); ok {
		body, closed := strings.CutSuffix(strings.TrimPrefix(sound, "\x1b]9;"), "\a")
		fault(!closed || strings.ContainsFunc(body, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }), "sequence %q", sound)
	}
	if v, ok := r["hookSpecificOutput"]; ok {
		s, isObject := v.(map[string]any)
		fault(!isObject, "hookSpecificOutput is %v", v)
		fault(s["hookEventName"] != event, "hookEventName %v at %s", s["hookEventName"], event)
		fault(len(s) < 2, "hookSpecificOutput says nothing")
		specificFaults(event, s, fault)
	}
	return bad
}

func checkKnownFields(m map[string]any, fault func(bool, string, ...any), names ...string) {
	for k := range m {
		fault(!slices.Contains(names, k), "unknown field %s", k)
	}
}

func specificFaults(event string, s map[string]any, fault func(bool, string, ...any)) {
	switch event {
	case codec.UserPromptExpansion:
		if s["suppressOriginalPrompt"] != nil {
			checkKnownFields(s, fault, "hookEventName", "suppressOriginalPrompt")
			fault(s["suppressOriginalPrompt"] != true, "suppressOriginalPrompt is %v", s["suppressOriginalPrompt"])
			return
		}
		fallthrough
	case codec.Stop, codec.SessionStart, codec.UserPromptSubmit, codec.PostToolUse, codec.PostToolUseFailure:
		checkKnownFields(s, fault, "hookEventName", "additionalContext")
		text, _ := s["additionalContext"].(string)
		n := len(utf16.Encode([]rune(text)))
		fault(n == 0 || n > 10_000, "a context of %d units", n)
	case codec.PreToolUse:
		checkKnownFields(s, fault, "hookEventName", "permissionDecision", "permissionDecisionReason")
		fault(!slices.Contains([]any{"allow", "deny", "ask"}, s["permissionDecision"]), "permissionDecision %v", s["permissionDecision"])
		fault(s["permissionDecisionReason"] == "", "no reason")
	case codec.PermissionRequest:
		checkKnownFields(s, fault, "hookEventName", "decision")
		d, _ := s["decision"].(map[string]any)
		checkKnownFields(d, fault, "behavior", "message")
		fault(d["behavior"] != "allow" && d["behavior"] != "deny", "behavior %v", d["behavior"])
		fault(d["behavior"] == "allow" && d["message"] != nil, "allowed, with the message %v", d["message"])
		fault(d["behavior"] == "deny" && d["message"] == nil, "denied without a word")
	default:
		fault(true, "hookSpecificOutput at %s", event)
	}
}
