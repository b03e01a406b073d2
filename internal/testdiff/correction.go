package testdiff

import (
	"slices"
	"strings"
)

// A test itself may be wrong. Then the task names it and says what it expects and what is right:
// "test_pages expects 2 pages; 1 is right". One value of that test may change so.

// correctsText returns how many of the first tokens are a text in quotes that the task gives, and how many
// another one that it gives behind it, if the task names the test; 0 for none.
func (a *adaptation) correctsText(was, is []string) (old, now int) {
	if !a.inNamedTest || a.correction != nil {
		return 0, 0
	}
	_, texts := quotedTexts(strings.ReplaceAll(a.Task, "\n", " "))
	ends := func(in []string, text string) int {
		if t := tokensOf(text); len(t) > 0 && len(in) > len(t) && slices.Equal(in[:len(t)], t) && slices.Contains([]string{`"`, "'", "`"}, in[len(t)]) {
			return len(t)
		}
		return 0
	}
	for i, text := range texts {
		for _, other := range texts[i+1:] {
			if old, now = ends(was, text), ends(is, other); old > 0 && now > 0 && text != other {
				a.correction = []string{text, other}
				return old, now
			}
		}
	}
	return 0, 0
}

// expectTest makes a test the one that is adapted.
func (a *adaptation) expectTest(name string) {
	a.correction = nil
	a.inNamedTest = a.taskWords[name] && len(name) > len("test")+1 && (strings.Contains(name, "_") || wordBoundary.MatchString(name))
}

// corrects reports whether the task gives a value of the test that it names, and behind it another.
func (a *adaptation) corrects(old, now string) bool {
	if !a.inNamedTest || a.correction != nil || !a.namesValue(old) || !a.namesValue(now) {
		return false
	}
	said := tokens.FindAllString(a.Task, -1)
	if at := slices.Index(said, old); !slices.Contains(said[at+1:], now) {
		return false
	}
	a.correction = []string{old, now}
	return true
}
