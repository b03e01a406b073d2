package mutant

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A condition that ignores the function's input and the program's state asks where the program runs.
// Tests run in one place, so they see only one of its sides.

// inputIndependent reports whether a condition ignores the function's input. It says no for methods
// in languages where members look like variables.
func (f function) inputIndependent(file, code, condition string) bool {
	if source.HasExtension("*.java "+clang, file) && strings.ContainsAny(f.name, ".:") {
		return false
	}
	if platformCheck.MatchString(condition) || f.readsInput(condition) {
		return false
	}
	asks := false
	for _, at := range identifiers.FindAllStringIndex(condition, -1) {
		name, before, after := condition[at[0]:at[1]], condition[:at[0]], condition[at[1]:]
		switch {
		case ofLanguage.MatchString(name), isMember.MatchString(before):
			continue
		case !strings.HasPrefix(after, "(") && isStored(code, name):
			return false
		}
		asks = true
	}
	return asks
}

// readsInput reports whether a condition reads a parameter, a variable or the object of the function.
func (f function) readsInput(condition string) bool {
	head, _, _ := strings.Cut(f.text, "\n")
	given := append(identifiers.FindAllString(head+" "+f.params, -1), "self", "this")
	for _, m := range boundVariables.FindAllStringSubmatch(f.code, -1) {
		given = append(given, identifiers.FindAllString(m[0], -1)...)
	}
	return slices.ContainsFunc(identifiers.FindAllStringIndex(condition, -1), func(at []int) bool {
		name, before := condition[at[0]:at[1]], condition[:at[0]]
		return !ofLanguage.MatchString(name) && !isMember.MatchString(before) && slices.Contains(given, name)
	})
}

// isStored reports whether a function of the file sets a variable or changes its content.
func isStored(code, name string) bool {
	return regex.New(`(?m)^[ \t]+(?:.*\W)?` + name + `(?:\.(?:push|set|add|append|store|insert|update|clear|put)\w*\(|(?:\[[^\]]*\]|\.\w+)?\s*(?:[-+*/|&^]?=[^=>]|\+\+|--))`).MatchString(code)
}

var (
	// boundVariables matches assignments to variables of a function.
	boundVariables = regex.New(`(?m)[\w$, \t*&\[\]{}:<>]*(?:[-+*/|&^]|<<|>>)?=[^=>]|\b(?:for|with|as|catch|except|let|case|def|fn|func|function|range)\b[^;{:=]*|[\w$]+(?:, *[\w$]+)*\)?\s*=>|\|[\w, &]+\||\blambda\b[^:]*`)
	// platformCheck matches conditions about the operating system, which a test may not have, and
	// about command arguments.
	platformCheck = regex.New(`(?i)GOOS|GOARCH|platform|os\.name|_WIN32|windows|darwin|linux|isatty|is_tty|\bargs?\b|\bargv\b|\bargc\b|stdin|\bopt\w*\b|terminal|\bdebug\b|verbose|quiet|version|color|__name__|\btrue\b|\bfalse\b`)
	isMember      = regex.New(`(?:\.|->|::)$`) // what stands before a member
	ofLanguage    = regex.New(`^(?:not|and|or|in|is|if|else|None|null|nullptr|NULL|nil|undefined|typeof|instanceof|len|std|\d.*)$`)
)
