package testdiff

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

var (
	// sets assigns to a part of something that has a name.
	sets = regex.New(`(?m)(?:^|[{;(]|=>)[ \t]*(\w+)(?:\.\w+|\[[^\]\n]*\])+[ \t]*[-+|&]?=[^=]`)
	// callsAtOnce calls something, or keeps what a call gives.
	callsAtOnce = regex.New(`^\s*(?:(?:const|let|var|await)\s+)*(?:\w+\s*:?=\s*)?(?:await\s+)?(\w+)(?:\.\w+)*\(`)
	// reachesInto gets at what other tests use by no name of its own.
	reachesInto = regex.New(`(?m)(?:^|[^.\w])(?:setattr|delattr|vars|globals|exec|eval|reload)\(|\b(?:__dict__|__builtins__|builtins|sys\.modules|defineProperty|require\.cache|globalThis|unsafe)\b|\.prototype\b`)
	// goRunsBefore runs before the tests of a package in Go.
	goRunsBefore = regex.New(`(?m)^(?:func (?:init\(\)|TestMain\()|var \w+.*= .*\()`)
)

// Shapes reports whether a file of tests may change what tests in other files do, as they may run in one
// process: it sets something of what it imports, or calls it when it is loaded. It is wide: whoever asks
// has the others run without it.
func Shapes(f File) bool {
	t, known := readText(f)
	if !known {
		return false
	}
	if t.isGo() {
		return goRunsBefore.MatchString(t.plain)
	}
	imported := map[string]bool{}
	for _, s := range t.uses {
		for _, token := range s.tokens {
			imported[token] = true
		}
	}
	ofImported := func(m []string) bool { return imported[m[1]] }
	return reachesInto.MatchString(t.plain) || slices.ContainsFunc(sets.FindAllStringSubmatch(t.plain, -1), ofImported) ||
		slices.ContainsFunc(t.beside, func(s statement) bool {
			m := callsAtOnce.FindStringSubmatch(s.text)
			return m != nil && imported[m[1]] && source.Indent(strings.TrimLeft(s.text, "\r\n")) == 0
		})
}
