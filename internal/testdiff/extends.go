package testdiff

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Extends reports whether a file of tests still has all that it had, word for word, and new tests, imports
// and definitions under new names at most: then it guards what it guarded. It is narrow: in doubt it does not.
func Extends(before, after File) bool {
	anything := func(string) bool { return true }
	old, known := readText(before)
	now, _ := readText(after)
	if !known || len(before.Content) == 0 || now.silenced() && !old.silenced() || Shapes(after, anything) && !Shapes(before, anything) {
		return false
	}
	for _, t := range old.tests {
		is := now.test(t.name)
		if is == nil || now.plain[is.from:is.to] != old.plain[t.from:t.to] || now.times(t.name) != old.times(t.name) {
			return false
		}
	}
	has := Words(old.plain)
	return old.importsMore(now, has) && keeps(old.beside, now.beside, func(s statement) bool { return s.defines(has) })
}

// importsMore reports whether now imports all that t does, and no new import takes a name that t uses.
func (t testText) importsMore(now testText, has map[string]bool) bool {
	was, is := t.imported(), now.imported()
	lost := slices.ContainsFunc(was, func(line string) bool { return !slices.Contains(is, line) })
	return !lost && !slices.ContainsFunc(is, func(line string) bool { return !slices.Contains(was, line) && intersect(now.binds(line), has) })
}

// times is how many tests have a name.
func (t testText) times(name string) (n int) {
	for _, sp := range t.tests {
		if sp.name == name {
			n++
		}
	}
	return n
}

// keeps reports whether statements are all there still, in their order, and those between them may be.
func keeps(was, is []statement, may func(statement) bool) bool {
	for _, s := range is {
		switch {
		case len(was) > 0 && slices.Equal(was[0].tokens, s.tokens):
			was = was[1:]
		case !may(s):
			return false
		}
	}
	return len(was) == 0
}

// definition begins what gives a name to something: group 1, 2 or 3 is the name.
var definition = regex.New(`^\s*(?:(?:export|default|pub|public|private|protected|internal|static|final|abstract|async|inline|unsafe)\s+)*` +
	`(?:(?:def|class|func|function|const|let|var|val|type|struct|enum|interface|record|trait|fn|fun|sub|module|object)\b\s*(?:\([^)]*\)\s*)?\*?(\w+)|` +
	`(?:[\w.<>\[\]]+[\s*&]+)+(\w+)\s*\([^;]*$|(?:\w+[\s*&]+)?(\w+)\s*(?::[^=]*)?:?=[^=])`)

// defines reports whether a statement that came gives a name that a file did not have, or stands in what does.
func (s statement) defines(has map[string]bool) bool {
	text := strings.TrimLeft(s.text, "\r\n")
	m := definition.FindStringSubmatch(text)
	if m == nil {
		return source.Indent(text) > 0 || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "#[")
	}
	name := m[1] + m[2] + m[3]
	return !has[name] && !loadsBefore.MatchString(name)
}
