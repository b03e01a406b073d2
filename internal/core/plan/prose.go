package plan

import (
	"slices"
	"strings"
	"unicode"
)

// LooksLikeProse guesses from the title whether a task only writes text for people (a README, docs, a
// changelog), so that no test can prove it. A missed task costs less than a wrong suggestion. So the
// title must begin with a docs prefix ("docs: …"), or with a verb of writing whose object is a text
// ("Update the README for v2", not "Add docs endpoint").
func LooksLikeProse(t Task) bool {
	title := strings.ToLower(t.Title)
	prefix, _, found := strings.Cut(title, ":")
	kind, _, _ := strings.Cut(prefix, "(")
	if found && containsWord(strings.TrimSpace(kind), "doc docs documentation readme changelog") {
		return true
	}
	parts := strings.FieldsFunc(title, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(parts) < 2 {
		return false
	}
	if parts[0] == "document" {
		return containsWord(parts[1], "the all every each how what why when where our")
	}
	if !containsWord(parts[0], writing) {
		return false
	}
	for i, part := range parts[1:] {
		if !containsWord(part, texts) {
			continue
		}
		rest := parts[i+2:]
		for len(rest) > 0 && containsWord(rest[0], texts+" md file section entry") {
			rest = rest[1:]
		}
		return len(rest) == 0 || containsWord(rest[0], linking)
	}
	return false
}

// Verbs of writing, texts for people, and words that may follow the object in a title.
const (
	writing = "write update add improve revise extend polish fix create expand rewrite edit complete correct refresh proofread translate describe mention explain"
	texts   = "readme changelog docs documentation docstring docstrings"
	linking = "for of with to about on in and so that from at as by how explaining describing"
)

// containsWord reports whether a list of words contains a word.
func containsWord(word, list string) bool {
	return slices.Contains(strings.Fields(list), word)
}
