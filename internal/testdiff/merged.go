package testdiff

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

var (
	// value matches a string or a number in a test without white space.
	value = regex.New(`"[^"]*"|'[^']*'|\b\d[\d_]*(?:\.\d+)?\b`)
	// message matches where a test says what is wrong.
	message = regex.New(`\b\w+\.(?:Error|Fatal|Log)f?\((?:"(?:[^"\\]|\\.)*"|[^")])*\)`)
	// endOfHead matches where the head of a test ends and its body begins.
	endOfHead = regex.New(`=>\{?|\{|\)(?:->\w+)?:`)
	// markedCase matches a case of a table that does not run, or alone.
	markedCase = regex.New(`(?i)\b(?:marks|skip|xfail|todo|only)\b`)
)

// minMerged is how many different values make it unlikely that a file has them for another test.
const minMerged = 2

// valuesIn returns the strings and numbers of a file in their order, without those in comments.
func valuesIn(path string, content []byte) []string {
	l, known := languageOf(path)
	if !known {
		return nil
	}
	s := source.Bare(string(content), l.style())
	return value.FindAllString(s.Plain(0, len(s.Code)), -1)
}

// mergedInto reports whether the values of a removed test stand close together in those of the new file,
// as they do in the row of a table to which somebody moved it. Its name and its messages may be others.
func (t test) mergedInto(values []string) bool {
	wanted := t.ownValues()
	return len(wanted) >= minMerged && t.mayMerge() && standClose(wanted, values)
}

// becameOther reports whether the values of a removed test stand close together in a new one with as many
// assertions: it was renamed along with what it calls.
func (t test) becameOther(now test) bool {
	return now.mayMerge() && !now.focused && len(now.assertions) == len(t.assertions) && standClose(t.ownValues(), value.FindAllString(now.text, -1))
}

// becameCase reports whether one of the tests does what a removed one did, with names for some of its
// values, and has these close together: the removed test became a case of its table.
func (t test) becameCase(tests []test) bool {
	wanted := t.ownValues()
	if !t.mayMerge() || len(t.assertions) == 0 || len(wanted) == 0 {
		return false
	}
	shape := t.shape()
	return slices.ContainsFunc(tests, func(now test) bool {
		return now.mayMerge() && standClose(wanted, value.FindAllString(now.text, -1)) && !markedCase.MatchString(now.text) && shape.MatchString(withoutMessages(now.body))
	})
}

// shape matches the body of a test in which names may stand for its values.
func (t test) shape() *regex.Regex {
	body := strings.TrimRight(withoutMessages(t.body), "});")
	if m := endOfHead.FindStringIndex(body); m != nil {
		body = body[m[1]:]
	}
	var shape strings.Builder
	at := 0
	for _, m := range value.FindAllStringIndex(body, -1) {
		shape.WriteString(regexp.QuoteMeta(body[at:m[0]]) + `(?:` + regexp.QuoteMeta(body[m[0]:m[1]]) + `|[A-Za-z_][\w.]*)`)
		at = m[1]
	}
	return regex.New(shape.String() + regexp.QuoteMeta(body[at:]))
}

// mayMerge reports whether a test runs and asserts.
func (t test) mayMerge() bool { return !t.group && !t.skipped && !t.empty }

// withoutMessages returns the body of a test without what its failures say, which differs in a table.
func withoutMessages(body string) string {
	return message.ReplaceAllStringFunc(body, func(call string) string {
		name, _, _ := strings.Cut(call, "(")
		return strings.TrimSuffix(name, "f") + "()"
	})
}

// ownValues returns the values of a test but its name and its messages.
func (t test) ownValues() map[string]bool {
	wanted := map[string]bool{}
	for _, v := range value.FindAllString(withoutMessages(t.body), -1) {
		if v != `"`+t.name+`"` && v != "'"+t.name+"'" && !strings.Contains(v, "%") {
			wanted[v] = true
		}
	}
	return wanted
}

// standClose reports whether the wanted values are close together among others.
func standClose(wanted map[string]bool, values []string) bool {
	for i := range values {
		found := map[string]bool{}
		for _, v := range values[i:min(len(values), i+2*len(wanted)+minMerged)] {
			if wanted[v] {
				found[v] = true
			}
		}
		if len(found) == len(wanted) {
			return true
		}
	}
	return false
}
