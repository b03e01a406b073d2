package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// shortestNamed is the length from which the name of a variable is no word like others.
const shortestNamed = 4

// ordinary are names of variables that output holds for other reasons.
const ordinary = `
	COLOR COLORS COLUMNS COMMAND DATA DATE DEBUG DESCRIPTION DISPLAY EDITOR ERROR FILE FILES HISTFILE HOST HOSTNAME HOSTTYPE INFO LEVEL LINES
	MACHTYPE MAIL MODE NAME OLDPWD OSTYPE PAGER PORT PROMPT SESSION SHLVL STATUS TARGET TEST TESTS TIME TYPE VERSION VISUAL WARNING`

// EnvironmentHint says how variables reach the gates that the output of a gate which does
// not pass names, and that are the user's and withheld; "" where there are none. It holds
// no values.
func (v *Verifier) EnvironmentHint(results []gate.Result) string {
	said := map[string]bool{}
	for _, r := range results {
		if r.Status == gate.Pass {
			continue
		}
		for word := range strings.FieldsFuncSeq(r.Head+"\n"+r.Tail+"\n"+r.FirstError, noName) {
			said[word] = true
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if mayBeNamed(name) && hasVariable(v.Env, name) && !hasVariable(v.env, name) {
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

// mayBeNamed reports whether a word can be meant as the name of a variable.
func mayBeNamed(name string) bool {
	return len(name) >= shortestNamed && !slices.Contains(strings.Fields(ordinary), name) &&
		(strings.ToUpper(name) == name || strings.Contains(name, "_"))
}

// noName reports whether a character ends the name of a variable.
func noName(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }

func hasVariable(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}
