package mutant

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A condition is blind if it looks at nothing that its function is given, and at nothing
// that the program keeps: then it asks where the program runs, by whatever means. Tests
// run in one place, so they see one of its sides.

// isBlind tells so of a condition in the bare code of a function of a file. Members that
// are meant without their object look like variables of the file; so of methods of such
// languages nothing is told.
func (f function) isBlind(file, code, condition string) bool {
	switch path.Ext(file) {
	case ".java", ".cc", ".cpp", ".cxx", ".h", ".hpp":
		if strings.Contains(f.name, ".") || strings.Contains(f.name, "::") {
			return false
		}
	}
	if ofPlatform.MatchString(condition) {
		return false
	}
	head, _, _ := strings.Cut(f.text, "\n")
	given := identifiers.FindAllString(head+" "+f.params, -1)
	for _, m := range bound.FindAllStringSubmatch(f.code, -1) {
		given = append(given, identifiers.FindAllString(m[0], -1)...)
	}
	asks := false
	for _, at := range identifiers.FindAllStringIndex(condition, -1) {
		name, before, after := condition[at[0]:at[1]], condition[:at[0]], condition[at[1]:]
		switch {
		case ofLanguage.MatchString(name), strings.HasSuffix(before, "."), strings.HasSuffix(before, "->"), strings.HasSuffix(before, "::"):
			continue
		case slices.Contains(given, name) || name == "self" || name == "this":
			return false
		case !strings.HasPrefix(after, "(") && isKept(code, name):
			return false
		}
		asks = true
	}
	return asks
}

// isKept reports whether a function of a file sets a variable, or changes what it holds.
func isKept(code, name string) bool {
	return regex.New(`(?m)^[ \t]+(?:.*\W)?` + name + `(?:\.(?:push|set|add|append|store|insert|update|clear|put)\w*\(|(?:\[[^\]]*\]|\.\w+)?\s*(?:[-+*/|&^]?=[^=>]|\+\+|--))`).MatchString(code)
}

var (
	// bound matches what gives variables of a function their values.
	bound = regex.New(`(?m)[\w$, \t*&\[\]{}:<>]*(?:[-+*/|&^]|<<|>>)?=[^=>]|\b(?:for|with|as|catch|except|let|case|def|fn|func|function|range)\b[^;{:=]*|[\w$]+(?:, *[\w$]+)*\)?\s*=>|\|[\w, &]+\||\blambda\b[^:]*`)
	// ofPlatform matches conditions that ask for a system, which a test may not have, and
	// for what a command was given.
	ofPlatform = regex.New(`(?i)GOOS|GOARCH|platform|os\.name|_WIN32|windows|darwin|linux|isatty|is_tty|\bargs?\b|\bargv\b|\bargc\b|stdin|\bopt\w*\b|terminal|\bdebug\b|verbose|quiet|version|color|__name__|\btrue\b|\bfalse\b`)
	ofLanguage = regex.New(`^(?:not|and|or|in|is|if|else|None|null|nullptr|NULL|nil|undefined|typeof|instanceof|len|std|\d.*)$`)
)
