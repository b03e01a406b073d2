// Package claim finds an agent's word about its own work in its last message:
// that it is done, or that it cannot go on.
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
// Text is compared literally once white space is folded on both sides. Reading
// is linear in the size of the message, whatever stands in it.
package claim

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultPromise is the text a promise must hold where none was chosen.
const DefaultPromise = "DONE"

// Placeholder stands for the reason where a prompt shows how to be blocked. An agent
// that repeats its prompt gives no reason.
const Placeholder = "reason"

// Kind says what the agent claims.
type Kind string

// The two kinds of claims.
const (
	Done    Kind = "done"
	Blocked Kind = "blocked"
)

// Bounds of what is kept of a message, which is hostile text.
const (
	maxClaims  = 100
	maxTasks   = 100
	maxTaskID  = 200
	maxReason  = 500
	maxTagSize = 4096
)

// Claim is one claim that counts.
type Claim struct {
	Kind Kind `json:"kind"`
	// Text of the promise with its white space folded; "" if blocked.
	Text string `json:"text,omitempty"`
	// Tasks the promise names, in its order and without repeats; nil means the
	// task that the agent was given.
	Tasks []string `json:"tasks,omitempty"`
	// NoBehaviourChange: the agent says that no test can tell its work from none.
	NoBehaviourChange bool `json:"no_behaviour_change,omitempty"`
	// Reason why it is blocked: one line without control characters, at most
	// 500 bytes; "" if done.
	Reason string `json:"reason,omitempty"`
}

// Parse returns the claims that count in a message, in its order; where there
// are more than a hundred, the last hundred. Promises of another text than
// promise ("" means DefaultPromise) are not claims, nor is a block without a
// reason of its own.
func Parse(text, promise string) []Claim {
	want := fold(promise)
	if want == "" {
		want = DefaultPromise
	}
	p := newParser(text)
	var claims []Claim
	for {
		t, ok := p.next()
		if !ok {
			break
		}
		if c, ok := t.claim(want); ok {
			claims = append(claims, c)
		}
	}
	if len(claims) == 0 && bare(p.seen[:p.end], want) {
		claims = append(claims, Claim{Kind: Done, Text: want})
	}
	return claims[max(0, len(claims)-maxClaims):]
}

func newParser(text string) *parser {
	return &parser{text: text, seen: mask(text), end: len(strings.TrimRightFunc(text, unicode.IsSpace))}
}

// bare tells whether a message ends with the promise alone on a line, where the
// promise is a word in brackets such as [LOOP_COMPLETE]: nobody says that by the way.
func bare(seen []byte, want string) bool {
	if !strings.HasPrefix(want, "[") || !strings.HasSuffix(want, "]") || strings.ContainsAny(want, " ") {
		return false
	}
	return string(bytes.TrimSpace(seen[bytes.LastIndexByte(seen, '\n')+1:])) == want
}

// pair is an opening tag with its closing one, and what stands between.
type pair struct {
	name  string
	attrs string
	body  string
}

func (t pair) claim(want string) (Claim, bool) {
	if t.name == questionTag {
		return Claim{}, false // see Ask
	}
	if t.name == string(Blocked) {
		reason := oneLine(t.body, maxReason)
		return Claim{Kind: Blocked, Reason: reason}, reason != "" && reason != Placeholder
	}
	attrs, ok := attributes(t.attrs)
	if !ok || fold(t.body) != want {
		return Claim{}, false
	}
	kind := attrs["kind"]
	return Claim{
		Kind:              Done,
		Text:              want,
		Tasks:             taskList(attrs["task"]),
		NoBehaviourChange: kind == "no-behaviour-change" || kind == "no-behavior-change",
	}, true
}

// attributes reads name="value" pairs; unknown names are harmless, anything
// else makes the tag no tag.
func attributes(s string) (map[string]string, bool) {
	out := map[string]string{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		name, rest, ok := strings.Cut(s, "=")
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
		out[name] = rest[1 : 1+end]
		s = rest[end+2:]
	}
	return out, true
}

func taskList(s string) []string {
	var ids []string
	seen := map[string]bool{}
	for id := range strings.SplitSeq(s, ",") {
		id = oneLine(id, maxTaskID)
		if id == "" || seen[id] || len(ids) == maxTasks {
			continue
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// oneLine makes hostile text fit for a journal's line and a user's eye.
func oneLine(s string, limit int) string {
	if len(s) > 8*limit {
		s = s[:8*limit]
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
	s = fold(s)
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
