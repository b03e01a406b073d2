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
	programRules = sync.OnceValue(func() ruleFinder { return byExtension(rules()) })
	testRules    = sync.OnceValue(func() ruleFinder { return byExtension(assertionRules()) })
)

type ruleFinder func(file string) *ruleSet

// byExtension makes the rules of a kind of files when the first of them is looked at.
func byExtension(rules []rule) ruleFinder {
	var known sync.Map // extension: *ruleSet
	return func(file string) *ruleSet {
		set, ok := known.Load(path.Ext(file))
		if !ok {
			set = newRuleSet(rulesFor(rules, file))
			known.Store(path.Ext(file), set)
		}
		return set.(*ruleSet)
	}
}

func newRuleSet(rules []rule) *ruleSet {
	var lines, across [][]*regex.Regex
	for _, r := range rules {
		lines = append(lines, []*regex.Regex{r.text, r.uncommented, r.code})
		across = append(across, []*regex.Regex{r.across})
	}
	return &ruleSet{rules, regex.NewSet(lines), regex.NewSet(across)}
}

// candidates returns a function that tells which of the rules may fit what begins on a
// line, until it is called again.
func (s *ruleSet) candidates(v *view) func(n int) []bool {
	anywhere, here := make([]bool, len(s.rules)), make([]bool, len(s.rules))
	s.across.Mark(v.allCode, anywhere)
	for i, r := range s.rules {
		anywhere[i] = anywhere[i] || r.overrides && len(v.overriding) > 0 || r.assignsImported && len(v.imported) > 0
	}
	return func(n int) []bool {
		copy(here, anywhere)
		last := ""
		for _, text := range []string{v.text[n], v.uncommented[n], v.joinedStrings[n], v.code[n], v.expanded[n]} {
			if text != last {
				s.lines.Mark(text, here)
				last = text
			}
		}
		return here
	}
}

// IsProgram tells whether a file of this name is looked at.
func IsProgram(file string) bool { return hasExtension(programs, file) }

// rulesFor are the rules for a file of this name.
func rulesFor(rules []rule, file string) (fit []rule) {
	for _, r := range rules {
		if r.names == "" || hasExtension(r.names, file) {
			fit = append(fit, r)
		}
	}
	return fit
}

// hasExtension tells whether a file has one of some extensions: "*.js *.jsx".
func hasExtension(globs, file string) bool {
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
