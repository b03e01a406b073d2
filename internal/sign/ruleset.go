package sign

import (
	"path"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// ruleSet holds the rules for files of one extension. One pass over a line finds the few
// rules that may match it, since a change may have very many files.
type ruleSet struct {
	rules  []rule
	lines  *regex.Set // patterns for single lines
	across *regex.Set // patterns for the whole file
}

// programRules and testRules return the rules for a file by its name.
var (
	programRules = sync.OnceValue(func() ruleFinder { return byExtension(rules()) })
	testRules    = sync.OnceValue(func() ruleFinder { return byExtension(assertionRules()) })
)

type ruleFinder func(file string) *ruleSet

// byExtension returns a function that compiles the rules of an extension at its first file.
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

// candidates returns a function that reports which rules may match at a line. Its result is
// valid until the next call.
func (s *ruleSet) candidates(v *view) func(n int) []bool {
	anywhere, here := make([]bool, len(s.rules)), make([]bool, len(s.rules))
	s.across.Mark(v.allCode, anywhere)
	for i, r := range s.rules {
		anywhere[i] = anywhere[i] || r.assignsImported && len(v.imported) > 0
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

// IsProgram reports whether a file of this name is a program that the rules cover.
func IsProgram(file string) bool { return source.HasExtension(programs, file) }

// IsProgramText is IsProgram also for a script whose name has no extension, and whose first line says what runs it.
func IsProgramText(file string, content []byte) bool { return IsProgram(programName(file, content)) }

// programName returns the name of a file. A script without an extension gets that of the interpreter which its
// first line names.
func programName(file string, content []byte) string {
	if path.Ext(file) != "" {
		return file
	}
	m := interpreter.FindSubmatch(content)
	if m == nil {
		return file
	}
	switch string(m[1]) {
	case "python":
		return file + ".py"
	case "node":
		return file + ".js"
	case "ruby":
		return file + ".rb"
	}
	return file + ".sh"
}

// interpreter matches the first line of a script.
var interpreter = regex.New(`^#![^\n]*[/ ](python|node|ruby|(?:ba|da|z|k)?sh)[\d.]*(?:\s|$)`)

// IsMain reports whether a file is started as a program.
func IsMain(file string, content []byte) bool { return NewChange(file, nil, content).view().main() }

// rulesFor returns the rules for a file of this name.
func rulesFor(rules []rule, file string) (fit []rule) {
	for _, r := range rules {
		if r.names == "" || source.HasExtension(r.names, file) {
			fit = append(fit, r)
		}
	}
	return fit
}
