package testdiff

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Extends reports whether a test file keeps all it had, word for word, and adds only tests, imports
// and definitions under new names. In doubt it says no.
func Extends(before, after File) bool {
	anything := func(string) bool { return true }
	old, known := readText(before)
	now, _ := readText(after)
	if !known || len(before.Content) == 0 || now.skipsTests() && !old.skipsTests() || MayChangeOthers(after, anything) && !MayChangeOthers(before, anything) {
		return false
	}
	for _, t := range old.tests {
		is := now.test(t.name)
		if is == nil || now.textOf(*is) != old.textOf(t) || now.countTests(t.name) != old.countTests(t.name) {
			return false
		}
	}
	has := Words(old.plain)
	return old.addsImports(now, has) && keepsStatements(old.beside, now.beside, func(s statement) bool { return s.definesNewName(has) })
}

// textOf returns a test without the blank lines between it and the next one.
func (t testText) textOf(sp span) string { return strings.TrimRight(t.plain[sp.from:sp.to], " \t\r\n") }

// addsImports reports whether now keeps t's imports, and no new import takes a name that t uses.
func (t testText) addsImports(now testText, has map[string]bool) bool {
	was, is := eachImported(t.imported()), eachImported(now.imported())
	lost := slices.ContainsFunc(was, func(line string) bool { return !slices.Contains(is, line) })
	return !lost && !slices.ContainsFunc(is, func(line string) bool { return !slices.Contains(was, line) && overlaps(now.boundNames(line), has) })
}

// countTests returns how many tests have a name.
func (t testText) countTests(name string) (n int) {
	for _, sp := range t.tests {
		if sp.name == name {
			n++
		}
	}
	return n
}

// keepsStatements reports whether all statements remain in order, and may accepts those between.
func keepsStatements(was, is []statement, may func(statement) bool) bool {
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

// definition matches the beginning of a definition; the name is group 1, 2 or 3.
var definition = regex.New(`^\s*(?:(?:export|default|pub|public|private|protected|internal|static|final|abstract|async|inline|unsafe)\s+)*` +
	`(?:(?:def|class|func|function|const|let|var|val|type|struct|enum|interface|record|trait|fn|fun|sub|module|object)\b\s*(?:\([^)]*\)\s*)?\*?(\w+)|` +
	`(?:[\w.<>\[\]]+[\s*&]+)+(\w+)\s*\([^;]*$|(?:\w+[\s*&]+)?(\w+)\s*(?::[^=]*)?:?=[^=])`)

// definesNewName reports whether an added statement defines a new name, or is inside such a
// definition.
func (s statement) definesNewName(has map[string]bool) bool {
	text := strings.TrimLeft(s.text, "\r\n")
	m := definition.FindStringSubmatch(text)
	if m == nil {
		return source.Indent(text) > 0 || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "#[")
	}
	name := m[1] + m[2] + m[3]
	return !has[name] && !setupFunction.MatchString(name)
}
