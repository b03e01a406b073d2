package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
)

// LooksLikeProse guesses from the title that a task only writes text for
// people (a README, docs, a changelog), so that no test can tell it done from
// not done and unproven evidence is what to ask for. It is a suggestion for a
// user to accept, so it would rather miss one than name a task of code: the
// title must begin with a docs prefix ("docs: …"), or with a verb of writing
// whose object is a text ("Update the README for v2", not "Add docs endpoint").
func LooksLikeProse(t Task) bool {
	title := strings.ToLower(t.Title)
	prefix, _, found := strings.Cut(title, ":")
	kind, _, _ := strings.Cut(prefix, "(")
	if found && words(strings.TrimSpace(kind), "doc docs documentation readme changelog") {
		return true
	}
	parts := strings.FieldsFunc(title, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(parts) < 2 {
		return false
	}
	if parts[0] == "document" {
		return words(parts[1], "the all every each how what why when where our")
	}
	if !words(parts[0], writing) {
		return false
	}
	for i, part := range parts[1:] {
		if !words(part, texts) {
			continue
		}
		rest := parts[i+2:]
		for len(rest) > 0 && words(rest[0], texts+" md file section entry") {
			rest = rest[1:]
		}
		return len(rest) == 0 || words(rest[0], linking)
	}
	return false
}

// What the rule knows: verbs of writing, texts for people, and the words by
// which a title continues after its object.
const (
	writing = "write update add improve revise extend polish fix create expand rewrite edit complete correct refresh proofread translate"
	texts   = "readme changelog docs documentation docstring docstrings"
	linking = "for of with to about on in and so that from at as by explaining describing"
)

// AsksForTestData guesses from its text that a task asks to change what tests compare with: golden
// files, snapshots, fixtures. Nothing shows which of its lines the task means, so that such a change
// waits for the user, who may allow it beforehand. Like LooksLikeProse it would rather miss one.
func AsksForTestData(t Task) bool { return testData.MatchString(t.text()) }

var testData = regex.New(`(?i)\b(?:updat|regenerat|refresh|adapt|adjust|chang|replac)(?:e|es|ing)?\s+(?:(?:the|all|any|its|their|old|affected|matching|test)\s+)*(?:\S*testdata\S*|test data|goldens?\b|golden (?:files?|outputs?)|snapshots?\b|fixtures?\b|expected (?:outputs?|files?|values?))`)

// AsksForTestHelper guesses from its text that a task asks to change a helper that tests share. The
// old tests then need the new helper, and the new ones cannot use the old one, so that such a change
// waits for the user, also if an earlier task of the plan made the helper.
func AsksForTestHelper(t Task) bool { return testHelper.MatchString(t.text()) }

// testHelper matches what is done to a helper of the tests, or to a helper in a sentence about all tests.
var testHelper = regex.New(`(?i)\b(?:let|have|mak(?:e|es|ing)|turn(?:s|ing)?|simplif(?:y|ies|ying)|(?:updat|adapt|adjust|chang|replac|renam|rewrit|refactor|delet|remov|mov)(?:e|es|s|ing)?)\s+` +
	`(?:(?:the|this|that|all|any|its|their|old|shared|common)\s+)*(?:tests?['’]?s?\s+helpers?\b|helpers?\b(?:[^.]|\.\S)*?\b(?:all|old|other|both)\s+tests?\b)`)

// text is all that a task says, each part as a sentence.
func (t Task) text() string {
	return strings.Join(append([]string{t.Title, t.Detail}, t.Criteria...), ". \n")
}

// words reports whether one word stands in a list of them.
func words(word, list string) bool {
	return slices.Contains(strings.Fields(list), word)
}
