package claim

import "strings"

const (
	questionTag = "question"
	maxQuestion = 2000 // bytes
	maxChoices  = 8
)

// QuestionPlaceholder stands for the question where a prompt shows how to ask one.
const QuestionPlaceholder = "what you must know"

// Question is what the agent asks the user in its last message:
//
//	<question choices="UTC|local" proposed="UTC">Which time zone do reports use?</question>
type Question struct {
	Text     string
	Choices  []string // answers that it suggests
	Proposed string   // what it would do without an answer
}

// Ask returns the last question in a message that stands where a claim may.
func Ask(text string) (q Question, ok bool) {
	p := newParser(text)
	for {
		t, more := p.next()
		if !more {
			return q, ok
		}
		attrs, valid := attributes(t.attrs)
		body := oneLine(t.body, maxQuestion)
		if t.name != questionTag || !valid || body == "" || body == QuestionPlaceholder {
			continue
		}
		q, ok = Question{Text: body, Proposed: oneLine(attrs["proposed"], maxReason)}, true
		for choice := range strings.SplitSeq(attrs["choices"], "|") {
			if choice = oneLine(choice, maxReason); choice != "" && len(q.Choices) < maxChoices {
				q.Choices = append(q.Choices, choice)
			}
		}
	}
}

// IsUnreadableQuestion reports whether a message without a question that can be read has a line
// that begins one: the agent meant to ask.
func IsUnreadableQuestion(text string) bool {
	if _, ok := Ask(text); ok || strings.Contains(text, QuestionPlaceholder) {
		return false
	}
	for line := range strings.SplitSeq(string(mask(text)), "\n") {
		rest, begins := strings.CutPrefix(strings.TrimLeft(line, " \t"), "<"+questionTag)
		if begins && indent(line) < 4 && (rest == "" || strings.ContainsAny(rest[:1], " \t\r>")) {
			return true
		}
	}
	return false
}
