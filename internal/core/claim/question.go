package claim

import "strings"

const (
	questionTag      = "question"
	maxQuestionBytes = 2000 // bytes
	maxChoices       = 8
)

// QuestionPlaceholder is the question in a prompt's example of <question>.
const QuestionPlaceholder = "what you must know"

// Question is what the agent asks the user in its last message:
//
//	<question choices="UTC|local" proposed="UTC">Which time zone do reports use?</question>
type Question struct {
	Text     string
	Choices  []string // answers that the agent suggests
	Proposed string   // what the agent would do without an answer
}

// ParseQuestion returns the last question of a message. It is valid in the same
// positions as a claim.
func ParseQuestion(text string) (q Question, ok bool) {
	p := newParser(text)
	for {
		t, more := p.nextElement()
		if !more {
			return q, ok
		}
		attrs, valid := parseAttributes(t.attrs)
		body := oneLine(t.body, maxQuestionBytes)
		if t.name != questionTag || !valid || body == "" || body == QuestionPlaceholder {
			continue
		}
		q, ok = Question{Text: body, Proposed: oneLine(attrs["proposed"], maxReasonBytes)}, true
		for choice := range strings.SplitSeq(attrs["choices"], "|") {
			if choice = oneLine(choice, maxReasonBytes); choice != "" && len(q.Choices) < maxChoices {
				q.Choices = append(q.Choices, choice)
			}
		}
	}
}

// HasMalformedQuestion reports whether a line of a message begins a question, but no
// question can be parsed: the agent meant to ask one.
func HasMalformedQuestion(text string) bool {
	if _, ok := ParseQuestion(text); ok || strings.Contains(text, QuestionPlaceholder) {
		return false
	}
	for line := range strings.SplitSeq(string(mask(text)), "\n") {
		rest, begins := strings.CutPrefix(strings.TrimLeft(line, " \t"), "<"+questionTag)
		if begins && indentWidth(line) < 4 && (rest == "" || strings.ContainsAny(rest[:1], " \t\r>")) {
			return true
		}
	}
	return false
}
