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

// columns returns the names of a table's columns, as its type, its loop or its decorator gives
// them, and the column that a value of a row is in. The value's last bracket is the row's, the one
// around it the table's. It returns none if nothing gives names.
func (t *testText) columns(l testValue) (names []string, column int) {
	d := len(l.around) - 1
	row, table := l.around[d], l.around[d-1]
	names = t.fieldsOf(table)
	if m := loopHead.FindStringSubmatch(t.code[max(0, table.at-maxLoopHead):table.at]); names == nil && m != nil {
		names = namesOfList.FindAllString(m[1]+m[2], -1)
	}
	if d > 1 && names == nil && parametrize.MatchString(l.around[d-2].callee) {
		names = namesOfList.FindAllString(t.text[l.around[d-2].at+1:table.at], -1)
	}
	if column = len(splitAtCommas(t.code[row.at+1:l.begin])) - 1; column >= len(names) {
		return nil, 0
	}
	return names, column
}

// fieldsOf returns the fields of the rows of a Go table: those of the struct before its brace, or of
// the type named there.
func (t *testText) fieldsOf(table bracket) (names []string) {
	before := strings.TrimRight(t.code[:table.at], " ")
	var body string
	if strings.HasSuffix(before, "}") {
		open := strings.LastIndex(before, "struct")
		if open < 0 {
			return nil
		}
		body = strings.TrimSpace(before[open+len("struct") : len(before)-1])
		if !strings.HasPrefix(body, "{") || strings.ContainsAny(body, "}") {
			return nil
		}
	} else if m := typeOfRows.FindStringSubmatch(before[max(0, len(before)-maxCallee):]); m != nil {
		at := strings.Index(t.code, "type "+m[1]+" struct {")
		if at < 0 {
			return nil
		}
		body, _, _ = strings.Cut(t.code[at:], "}")
		_, body, _ = strings.Cut(body, "{")
	}
	for field := range strings.FieldsFuncSeq(strings.TrimPrefix(body, "{"), func(r rune) bool { return r == ';' || r == '\n' }) {
		for i, name := range strings.Split(field, ",") {
			words := strings.Fields(name)
			if len(words) == 0 || i == 0 && len(words) == 1 && !strings.Contains(field, ",") {
				break // an embedded type
			}
			names = append(names, words[0])
		}
	}
	return names
}

// columnRole says what a value is for by the name of its column. The first of several columns may
// hold the cases' names, which the program never sees: then the second holds the first input.
func (t *testText) columnRole(l testValue) (Kind, bool) {
	names, column := t.columns(l)
	switch labelled := len(names) > 2 && caseName.MatchString(names[0]); {
	case names == nil:
		return "", false
	case wanted.MatchString(names[column]):
		return wrong, true
	case labelled && column == 0:
		return "", true
	case labelled && column == 1 && l.kind != 'b' && !slices.Contains(names[:column], names[column]):
		return another, true
	}
	return "", false
}

const maxLoopHead = 160

var (
	caseName    = regex.New(`(?i)^(?:name|desc\w*|label|title|msg|message|case\w*|test\w*|scenario|id)$`)
	typeOfRows  = regex.New(`(?:\[\w*\]|\])\*?(\w+)$`)
	loopHead    = regex.New(`\bfor\b[^\n]*?(?:\[([\w\s,]+)\]\s+of|[ (]([\w\s,]+?)\)?\s+in)\s*$`)
	parametrize = regex.New(`\bparametrize\s*$`)
	namesOfList = regex.New(`\b[A-Za-z_]\w*\b`)
)
