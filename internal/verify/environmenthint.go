package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
)

// shortestNamed is the shortest variable name that no common word equals.
const shortestNamed = 4

// commonWords are variable names that appear in output for other reasons.
const commonWords = `
	COLOR COLORS COLUMNS COMMAND DATA DATE DEBUG DESCRIPTION DISPLAY EDITOR ERROR FILE FILES HISTFILE HOST HOSTNAME HOSTTYPE INFO LEVEL LINES
	MACHTYPE MAIL MODE NAME OLDPWD OSTYPE PAGER PORT PROMPT SESSION SHLVL STATUS TARGET TEST TESTS TIME TYPE VERSION VISUAL WARNING`

// EnvironmentHint says how to pass variables that failed gates mention and that the user's
// environment has. It returns "" if there are none, and contains no values.
func (v *Verifier) EnvironmentHint(results []gate.Result) string {
	said := map[string]bool{}
	for _, r := range results {
		if r.Status == gate.Pass {
			continue
		}
		for word := range strings.FieldsFuncSeq(r.Head+"\n"+r.Tail+"\n"+r.FirstError, isNotNameRune) {
			said[word] = true
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if isVariableName(name) && environment.HasVariable(v.Env, name) && !environment.HasVariable(v.Checkout.Env, name) {
			names = append(names, name)
		}
	}
	is, them := "is", "it"
	switch len(names) {
	case 0:
		return ""
	case 1:
	default:
		is, them = "are", "them"
	}
	return fmt.Sprintf("%s %s set in your shell and not passed to gates: gate_env = [%s] in pawl.toml passes %s",
		strings.Join(names, ", "), is, `"`+strings.Join(names, `", "`)+`"`, them)
}

// isVariableName reports whether a word can mean a variable.
func isVariableName(name string) bool {
	return len(name) >= shortestNamed && !slices.Contains(strings.Fields(commonWords), name) &&
		(strings.ToUpper(name) == name || strings.Contains(name, "_"))
}

// isNotNameRune reports whether a character ends a variable name.
func isNotNameRune(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }
