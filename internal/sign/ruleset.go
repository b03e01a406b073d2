package sign

import (
	"path"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// ruleSet are the rules for files of one kind. A change may have very many files: one
// pass over a line tells which few rules may fit it.
type ruleSet struct {
	rules  []rule
	lines  *regex.Set // of what they look for in a line
	across *regex.Set // of what they look for in the whole file
}

// programRules and testRules find those of a file by its name.
var (
	programRules = sync.OnceValue(func() finder { return byExtension(rules()) })
	testRules    = sync.OnceValue(func() finder { return byExtension(assertionRules()) })
)

type finder func(file string) *ruleSet

// byExtension makes the rules of a kind of files when the first of them is looked at.
func byExtension(rules []rule) finder {
	var known sync.Map // extension: *ruleSet
	return func(file string) *ruleSet {
		set, ok := known.Load(path.Ext(file))
		if !ok {
			set = newRuleSet(fitting(rules, file))
			known.Store(path.Ext(file), set)
		}
		return set.(*ruleSet)
	}
}

func newRuleSet(rules []rule) *ruleSet {
	var lines, across [][]*regex.Regex
	for _, r := range rules {
		lines = append(lines, []*regex.Regex{r.text, r.said, r.code})
		across = append(across, []*regex.Regex{r.across})
	}
	return &ruleSet{rules, regex.NewSet(lines), regex.NewSet(across)}
}

// candidates returns a function that tells which of the rules may fit what begins on a
// line, until it is called again.
func (s *ruleSet) candidates(v *view) func(n int) []bool {
	anywhere, here := make([]bool, len(s.rules)), make([]bool, len(s.rules))
	s.across.Mark(v.whole, anywhere)
	for i, r := range s.rules {
		anywhere[i] = anywhere[i] || r.overrides && len(v.overriding) > 0 || r.foreign && len(v.names) > 0
	}
	return func(n int) []bool {
		copy(here, anywhere)
		last := ""
		for _, text := range []string{v.text[n], v.said[n], v.joined[n], v.code[n], v.full[n]} {
			if text != last {
				s.lines.Mark(text, here)
				last = text
			}
		}
		return here
	}
}

// Knows tells whether a file of this name is looked at.
func Knows(file string) bool { return isAny(programs, file) }

// fitting are the rules for a file of this name.
func fitting(rules []rule, file string) (fit []rule) {
	for _, r := range rules {
		if r.names == "" || isAny(r.names, file) {
			fit = append(fit, r)
		}
	}
	return fit
}

// isAny tells whether a file has one of some extensions: "*.js *.jsx".
func isAny(globs, file string) bool {
	ext := path.Ext(file)
	for ext != "" && globs != "" {
		glob, rest, _ := strings.Cut(globs, " ")
		if glob[1:] == ext {
			return true
		}
		globs = rest
	}
	return false
}
