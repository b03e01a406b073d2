package mutant

import (
	"regexp"
	"slices"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Switches returns the added parameters that are off unless a caller turns them on, each with a mutant
// that leaves it off, if no program does. programs is the code of possible callers.
func Switches(file string, before, after []byte, programs string) []Parameter {
	heads := byName(file, after)
	return slices.DeleteFunc(Parameters(file, before, after), func(p Parameter) bool {
		f := heads[p.Function]
		name := regexp.QuoteMeta(p.Name)
		if !regex.New(`\b` + name + `\b\s*(?::[^=,]*)?=\s*(?:false|False)\b`).MatchString(f.params) {
			return true
		}
		word := regex.New(`\b` + name + `\b`)
		elsewhere := len(word.FindAllString(programs, -1)) - len(word.FindAllString(Code(file, []byte(f.text)), -1))
		return elsewhere > 0 || regex.New(`\b`+regexp.QuoteMeta(BareName(f.name))+`\([^()\n]*\b(?:true|True)\b`).MatchString(programs)
	})
}
