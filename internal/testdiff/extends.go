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
	return known && old.extendedBy(now, nil)
}

// extendedBy reports whether now extends t. more accepts further statements, given the one before; nil
// accepts none.
func (t testText) extendedBy(now testText, more func(before, s statement) bool) bool {
	anything := func(string) bool { return true }
	if len(t.Content) == 0 || now.skipsTests() && !t.skipsTests() || MayChangeOthers(now.File, anything) && !MayChangeOthers(t.File, anything) {
		return false
	}
	for _, was := range t.tests {
		is := now.test(was.name)
		if is == nil || now.textOf(*is) != t.textOf(was) || now.countTests(was.name) != t.countTests(was.name) {
			return false
		}
	}
	has := Words(t.plain)
	return t.addsImports(now, has) && keepsStatements(t.beside, now.beside, func(before, s statement, added bool) bool {
		return s.definesNewName(has, added) || more != nil && more(before, s)
	})
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

// keepsStatements reports whether all statements remain in order, and may accepts those between, given
// the statement before and whether that was added too.
func keepsStatements(was, is []statement, may func(before, s statement, added bool) bool) bool {
	var before statement
	added := false
	for _, s := range is {
		switch {
		case len(was) > 0 && slices.Equal(was[0].tokens, s.tokens):
			was, added = was[1:], false
		case !may(before, s, added):
			return false
		default:
			added = true
		}
		before = s
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

// A fake in the tests needs each method that the work adds to the interface that it stands in for:
// without it, no old test compiles. So such a method, and fields for it, may be added to a type of an
// old test file in Go. What the fake did before stays as it was.

var (
	interfaceHead = regex.New(`\binterface\s*\{`)
	methodLine    = regex.New(`(?m)^[ \t]+(\w+)\(`)
	goMethod      = regex.New(`(?m)^func \((?:\w+ )?\*?(\w+)(?:\[[^\]\n]*\])?\) (\w+)\(`)
	structHead    = regex.New(`^\s*type \w+ struct\b`)
	structField   = regex.New(`^\s+\w+(?:, \w+)*\s+[\w.*\[\]]+\s*$`)
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

// completesFakes reports whether an old file only gets methods of interfaces that the work changed, on
// types of its own, and what else Extends accepts.
func (a *adaptation) completesFakes(old, now testText) bool {
	if !old.isGo() || !old.extendedBy(now, func(before, s statement) bool {
		return structField.MatchString(s.text) && (structHead.MatchString(before.text) || structField.MatchString(before.text))
	}) {
		return false
	}
	added := false
	for _, m := range goMethod.FindAllStringSubmatch(now.plain, -1) {
		if strings.Contains(old.plain, m[0]) {
			continue
		}
		if of := regex.New(`(?m)^(?:type |\t)` + m[1] + `\b`); of.MatchString(old.plain) && !a.InterfaceMethods[m[2]] {
			return false
		}
		added = true
	}
	return added
}
