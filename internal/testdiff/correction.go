package testdiff

import (
	"slices"
	"strings"
)

// A test itself may be wrong. Then the task names it and says what it expects and what is right:
// "test_pages expects 2 pages; 1 is right". One value of that test may change so.

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
