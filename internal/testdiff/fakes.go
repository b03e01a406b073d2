package testdiff

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

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
