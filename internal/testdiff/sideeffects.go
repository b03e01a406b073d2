package testdiff

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

var (
	// sets assigns to a part of something that has a name.
	sets = regex.New(`(?m)(?:^|[{;(,]|=>|\bfor|\bas)[ \t]*(\w+)((?:\.\w+|\[[^\]\n]*\])+)[ \t]*(?:[-+|&]?=[^=]|,[^\n=()]*=[^=]|\bin\b)`)
	// makes gives a name to what is made there: a call gives it, or it is written there.
	makes = regex.New(`(?m)(?:^|[{;(]|=>)[ \t]*(?:(?:const|let|var|final|auto|[A-Z]\w*(?:<[^\n>]*>)?)[ \t]+)?(\w+)[ \t]*(?::[^=\n]*)?:?=[ \t]*(?:(?:await|new)\b|[\[{'"0-9]|[\w.]+\()`)
	// callsImported calls something that an import may have given a name to.
	callsImported = regex.New(`(?:^|[^.\w@])(\w+)(?:\.\w+)*\(`)
	// reachesInto gets at what other tests use by no name of its own.
	reachesInto = regex.New(`(?m)(?:^|[^.\w])(?:setattr|delattr|vars|globals|exec|eval|reload)\(|\b(?:__dict__|__setattr__|__delattr__|__class__|__globals__|__code__|__builtins__|builtins|sys\.modules|` +
		`defineProperty|require\.cache|globalThis|unsafe|class_eval|define_method|instance_variable_set)\b|\.prototype\b|\bObject\.assign\([ \t]*\w|\bpatch(?:\.\w+)*\([^\n]*\)\.start\(`)
	// opensClass continues with a class of Ruby's that another file began.
	opensClass = regex.New(`(?m)^(?:class|module) \w+[ \t]*$`)
	ownObject  = regex.New(`^(?:self|this|cls)$`)
	function   = regex.New(`^[ \t]*(?:async[ \t]+)?def\b`)
)

// MayChangeOthers reports whether a test file may change tests in other files of the same process.
// It sets what it did not create, calls imports when loaded, or replaces what others import. In
// doubt it says yes: the caller then also runs without the file. declares reports whether the
// program declares a name.
func MayChangeOthers(f File, declares func(name string) bool) bool {
	t, known := readText(f)
	if !known {
		return false
	}
	if t.isGo() {
		return goChangesOthers(string(f.Content), declares)
	}
	if reachesInto.MatchString(t.plain) || strings.HasSuffix(f.Path, ".rb") && opensClass.MatchString(t.plain) || t.testsNothing() {
		return true
	}
	made := map[string]bool{}
	for _, m := range makes.FindAllStringSubmatch(t.plain, -1) {
		made[m[1]] = true
	}
	return slices.ContainsFunc(sets.FindAllStringSubmatch(t.plain, -1), func(m []string) bool {
		own := made[m[1]]
		if ownObject.MatchString(m[1]) { // a part of it may be another's
			parts := strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(".[]", r) })
			own = len(parts) < 2
		}
		return !own
	}) || t.callsWhenLoaded()
}

// testsNothing reports whether a file has neither tests nor assertions, and is no package marker.
func (t testText) testsNothing() bool {
	return len(t.tests) == 0 && !t.l.assert.MatchString(t.s.Code) && strings.TrimSpace(t.plain) != ""
}

// callsWhenLoaded reports whether the file calls an import outside functions.
func (t testText) callsWhenLoaded() bool {
	imported := map[string]bool{}
	for _, s := range t.uses {
		for _, token := range s.tokens {
			imported[token] = true
		}
	}
	inside := -1 // how far in the function stands that a line is in
	for _, s := range t.beside {
		text := strings.TrimLeft(s.text, "\r\n")
		indent := source.Indent(text)
		if inside >= 0 && indent > inside || indent > 0 && t.l.extent != indents {
			continue
		}
		if inside = -1; function.MatchString(text) {
			inside = indent
		} else if slices.ContainsFunc(callsImported.FindAllStringSubmatch(text, -1), func(m []string) bool { return imported[m[1]] }) && !strings.HasPrefix(text[indent:], "@") {
			return true
		}
	}
	return false
}
