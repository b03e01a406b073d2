package mutant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// keepNamed keeps the values of the named tests; no names = all. Of a table before the tests,
// values stay if kept tests compare with them. Otherwise tests may compare derived values with each
// other.
func (t *testText) keepNamed(names []string) {
	starts := t.starts()
	kept := func(n int) bool { return n < 0 || len(names) == 0 || t.named(n, names) }
	some := len(names) == 0
	var code strings.Builder
	for n := -1; n < len(starts); n++ {
		if some = some || n >= 0 && kept(n); !kept(n) {
			continue
		}
		from := 0
		if n >= 0 {
			from = starts[n][0]
		}
		code.WriteString(t.code[from:t.ends(n)])
	}
	if len(names) > 0 { // what other tests compare says nothing of these
		t.compares = t.data || comparing.MatchString(code.String())
	}
	compared := map[string]bool{}
	t.values = slices.DeleteFunc(t.values, func(l testValue) bool {
		n := -1
		for n+1 < len(starts) && starts[n+1][0] < l.from {
			n++
		}
		if !some || !kept(n) || n >= 0 || t.shell || t.data {
			return !some || !kept(n)
		}
		name, table := t.tableOf(l)
		if _, known := compared[name]; name != "" && !known {
			compared[name] = expectedTable.MatchString(table) || comparesWith(code.String(), name)
		}
		return name != "" && !compared[name]
	})
}

// tableOf returns the name and text of the collection that contains a value.
func (t *testText) tableOf(l testValue) (name, text string) {
	if len(l.around) == 0 {
		return "", ""
	}
	at := l.around[0].at
	before := t.code[max(0, at-maxHelper):at]
	all := assigned.FindAllStringSubmatchIndex(before, -1)
	if len(all) == 0 {
		return "", ""
	}
	m := all[len(all)-1]
	if rest := before[m[1]:]; strings.Contains(rest, "\n") && !strings.Contains(rest, "struct") {
		return "", "" // of another statement
	}
	return before[m[2]:m[3]], before[m[0]:] + t.text[at:t.closingBracket(at)]
}

// assigned matches what something is assigned to: "rows = ", "cases[] = ", "rows: Rows = ".
var assigned = regex.New(`(\w+)\s*(?:\[[^\]\n]*\])*\s*(?::\s*[^=\n]+)?:?=(?:[^=>]|$)`)

// expectedTable matches a table's name for expected values: "want", "expected".
var expectedTable = regex.New(`(?i)\b(?:want|expect)\w*|\b(?:exp|out|output|result|answer)\b`)

// comparesWith reports whether tests compare with a table: they iterate, index or compare it.
func comparesWith(code, table string) bool {
	name := `\b` + regexp.QuoteMeta(table) + `\b`
	return regex.New(`(?:\b(?:in|of|range|for|zip|enumerate|params|foreach)\b|\beach\(|parametrize|[sS]ource)[^\n]*` + name +
		`|` + name + `[^\n]*\.(?:forEach|each|map|every|entries|items|iter|into_iter|stream)\b` +
		`|` + name + `\s*(?:\[\s*[a-z_]\w*|\.get\()` +
		`|[=!]==?\s*` + name +
		`|` + name + `(?:\[[^\]\n]*\])*\s*[=!]=` +
		`|(?i:equals?\w*|tobe|_eq!?|same|\bis)\(\s*(?:[^\n]*,\s*)?[&*]?` + name + `[^\n(,]*[,)]`).MatchString(code)
}
