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
	old, known := readText(before)
	now, _ := readText(after)
	anything := func(string) bool { return true }
	if !known || len(before.Content) == 0 || now.skipsTests() && !old.skipsTests() || MayChangeOthers(after, anything) && !MayChangeOthers(before, anything) {
		return false
	}
	for _, was := range old.tests {
		is := now.test(was.name)
		if is == nil || now.textOf(*is) != old.textOf(was) || now.countTests(was.name) != old.countTests(was.name) {
			return false
		}
	}
	has := Words(old.plain)
	return old.addsImports(now, has) && keepsStatements(old.beside, now.beside, has)
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

// keepsStatements reports whether all statements remain in order, and those between only define names
// that are not among the old words.
func keepsStatements(was, is []statement, words map[string]bool) bool {
	added := false
	for _, s := range is {
		if len(was) > 0 && slices.Equal(was[0].tokens, s.tokens) {
			was, added = was[1:], false
		} else if !s.definesNewName(words, added) {
			return false
		} else {
			added = true
		}
	}
	return len(was) == 0
}

// definition matches the beginning of a definition; the name is group 1, 2 or 3.
var definition = regex.New(`^\s*(?:(?:export|default|pub|public|private|protected|internal|static|final|abstract|async|inline|unsafe)\s+)*` +
	`(?:(?:def|class|func|function|const|let|var|val|type|struct|enum|interface|record|trait|fn|fun|sub|module|object)\b\s*(?:\([^)]*\)\s*)?\*?(\w+)|` +
	`(?:[\w.<>\[\]]+[\s*&]+)+(\w+)\s*\([^;]*$|(?:\w+[\s*&]+)?(\w+)\s*(?::[^=]*)?:?=[^=])`)

// valueDefinition matches one of a value.
var valueDefinition = regex.New(`^\s*(?:(?:export|static|final|private|public)\s+)*(?:const|let|var|val)\b`)

// definesNewName reports whether an added statement defines a new name, or is inside such a
// definition: inNew says that the statement before it was added too. What is further in and follows
// an old statement would be inside an old definition.
func (s statement) definesNewName(has map[string]bool, inNew bool) bool {
	text := strings.TrimLeft(s.text, "\r\n")
	inOld := source.Indent(text) > 0 && !inNew
	m := definition.FindStringSubmatch(text)
	if m == nil {
		return !inOld && source.Indent(text) > 0 || strings.HasPrefix(strings.TrimSpace(text), "@") || strings.HasPrefix(text, "#[")
	}
	name := m[1] + m[2] + m[3]
	return !has[name] && !setupFunction.MatchString(name) && !(inOld && (m[3] != "" || valueDefinition.MatchString(text)))
}

var (
	interfaceHead = regex.New(`\binterface\s*\{`)
	methodLine    = regex.New(`(?m)^[ \t]+(\w+)\(`)
)

// InterfaceMethods returns the names of the methods that interfaces of a Go program declare.
func InterfaceMethods(file string, content []byte) (names []string) {
	if l, known := languageOf(file); known && strings.HasSuffix(file, ".go") {
		s := source.Bare(string(content), l.style())
		for _, m := range interfaceHead.FindAllStringIndex(s.Code, -1) {
			for _, method := range methodLine.FindAllStringSubmatch(s.Code[m[1]:s.Block(m[0])], -1) {
				names = append(names, method[1])
			}
		}
	}
	return names
}
