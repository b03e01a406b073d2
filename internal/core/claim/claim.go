// Package claim finds the claims in an agent's last message: that its work is
// done, or that it cannot continue.
//
// A claim is a request to be verified, never a verdict. Agents also talk about
// claims ("when it works I will print <promise>DONE</promise>"), quote them and
// show them in code, so only the position tells a claim from a mention: the
// opening tag begins a line and the closing tag ends one, or the closing tag
// ends the message; outside code, quotes and pasted tool output.
//
//	<promise>DONE</promise>
//	<promise kind="no-behaviour-change" task="US-001,US-002">DONE</promise>
//	<blocked>the API key is missing</blocked>
//
// A promise that is a word in brackets ([LOOP_COMPLETE]) counts without a tag, too,
// alone on the last line.
//
// Text is compared literally after white space is folded on both sides. Parsing
// takes time linear in the size of the message, whatever it contains.
package claim

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultPromise is the text of a promise if the user chose none.
const DefaultPromise = "DONE"

const promiseTag = "promise"

// ReasonPlaceholder is the reason in a prompt's example of <blocked>. An agent that
// repeats the example gives no reason.
const ReasonPlaceholder = "reason"

// Kind says what the agent claims.
type Kind string

// The two kinds of claims.
const (
	Done    Kind = "done"
	Blocked Kind = "blocked"
)

// Limits on what is kept of a message, which is untrusted text. Sizes are in bytes.
const (
	maxClaims      = 100
	maxTasks       = 100
	maxTaskIDBytes = 200
	maxReasonBytes = 500
	maxTagBytes    = 4096

	maxPromiseBytes = 200
)

// Claim is one valid claim.
type Claim struct {
	Kind Kind `json:"kind"`
	// Text of the promise with its white space folded; "" if blocked.
	Text string `json:"text,omitempty"`
	// Tasks the promise names, in its order and without repeats; nil means the
	// task that the agent was given.
	Tasks []string `json:"tasks,omitempty"`
	// NoBehaviourChange means that the agent says its work changes no behaviour, so
	// no test can fail without it.
	NoBehaviourChange bool `json:"no_behaviour_change,omitempty"`
	// Reason why it is blocked: one line without control characters, at most
	// 500 bytes; "" if done.
	Reason string `json:"reason,omitempty"`
}

// Parse returns the valid claims of a message in their order, at most the last
// hundred. A promise whose text is not promise ("" means DefaultPromise) is not a
// claim, nor is a <blocked> without a reason.
func Parse(text, promise string) []Claim {
	want := foldSpace(promise)
	if want == "" {
		want = DefaultPromise
	}
	p := newParser(text)
	var claims []Claim
	for {
		t, ok := p.nextElement()
		if !ok {
			break
		}
		if c, ok := t.toClaim(want); ok {
			claims = append(claims, c)
		}
	}
	if len(claims) == 0 && endsWithBarePromise(p.masked[:p.end], want) {
		claims = append(claims, Claim{Kind: Done, Text: want})
	}
	return claims[max(0, len(claims)-maxClaims):]
}

func newParser(text string) *parser {
	return &parser{text: text, masked: mask(text), end: len(strings.TrimRightFunc(text, unicode.IsSpace))}
}

// endsWithBarePromise reports whether the last line of a message is the promise without
// a tag. Only a promise in brackets such as [LOOP_COMPLETE] counts: nobody writes that
// by accident.
func endsWithBarePromise(masked []byte, promise string) bool {
	if !strings.HasPrefix(promise, "[") || !strings.HasSuffix(promise, "]") || strings.ContainsAny(promise, " ") {
		return false
	}
	return string(bytes.TrimSpace(masked[bytes.LastIndexByte(masked, '\n')+1:])) == promise
}

// element is an opening tag, its closing tag and the text between them.
type element struct {
	name  string
	attrs string
	body  string
}

func (e element) toClaim(promise string) (Claim, bool) {
	if e.name == questionTag {
		return Claim{}, false // see Ask
	}
	if e.name == string(Blocked) {
		reason := oneLine(e.body, maxReasonBytes)
		return Claim{Kind: Blocked, Reason: reason}, reason != "" && reason != ReasonPlaceholder
	}
	attrs, ok := parseAttributes(e.attrs)
	if !ok || foldSpace(e.body) != promise {
		return Claim{}, false
	}
	kind := attrs["kind"]
	return Claim{
		Kind:              Done,
		Text:              promise,
		Tasks:             parseTaskIDs(attrs["task"]),
		NoBehaviourChange: kind == "no-behaviour-change" || kind == "no-behavior-change",
	}, true
}

// parseAttributes reads name="value" pairs. It returns false if the text contains
// anything else. Unknown names are allowed.
func parseAttributes(text string) (map[string]string, bool) {
	attrs := map[string]string{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name, rest, ok := strings.Cut(text, "=")
		name, rest = strings.TrimSpace(name), strings.TrimSpace(rest)
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n\"'") || rest == "" {
			return nil, false
		}
		quote := rest[0]
		if quote != '"' && quote != '\'' {
			return nil, false
		}
		end := strings.IndexByte(rest[1:], quote)
		if end < 0 {
			return nil, false
		}
		attrs[name] = rest[1 : 1+end]
		text = rest[end+2:]
	}
	return attrs, true
}

func parseTaskIDs(text string) []string {
	var ids []string
	seen := map[string]bool{}
	for id := range strings.SplitSeq(text, ",") {
		id = oneLine(id, maxTaskIDBytes)
		if id == "" || seen[id] || len(ids) == maxTasks {
			continue
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}

func foldSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// oneLine makes untrusted text safe to store and to show: one line without control
// characters, of at most maxBytes.
func oneLine(s string, maxBytes int) string {
	if len(s) > 8*maxBytes {
		s = s[:8*maxBytes]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	s = foldSpace(s)
	if len(s) <= maxBytes {
		return s
	}
	cut := maxBytes - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// PromiseIn returns the text of the promise that a prompt asks for, "" where it asks for none or for
// different ones. Unlike a claim it may stand anywhere, in code as well: people write
// "when all is done, say `<promise>COMPLETE</promise>`".
func PromiseIn(prompt string) string {
	const open, end = "<" + promiseTag + ">", "</" + promiseTag + ">"
	found := ""
	for rest := prompt; ; {
		_, after, _ := strings.Cut(rest, open)
		body, next, ok := strings.Cut(after, end)
		if !ok {
			return found
		}
		rest = next
		body = foldSpace(body)
		if body == "" || strings.ContainsAny(body, "<>") || len(body) > maxPromiseBytes || found != "" && body != found {
			return ""
		}
		found = body
	}
}

// OtherPromise returns the text of the last promise that stands where a claim would, in a message that
// has no claim: its author meant to make one. "" is none.
func OtherPromise(text string) string {
	p, other := newParser(text), ""
	for {
		e, ok := p.nextElement()
		if !ok {
			return oneLine(other, maxPromiseBytes)
		}
		if e.name == promiseTag {
			other = e.body
		}
	}
}
