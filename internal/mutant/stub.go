package mutant

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Stubs returns new functions that ignore their parameters and only return, or return one
// unchanged.
func Stubs(file string, before, after []byte) []Function {
	return newFunctions(file, before, after, func(f function) bool {
		if exits.MatchString(f.name) {
			return false // it is given an error that is not its business
		}
		if m := returnsName.FindStringSubmatch(f.code); m != nil && !self.MatchString(m[1]) && slices.Contains(identifiers.FindAllString(f.params, -1), m[1]) {
			return true
		}
		used := identifiers.FindAllString(f.code+" "+inStrings(file, f.afterHead()), -1)
		some := false
		for _, name := range identifiers.FindAllString(f.params, -1) {
			if !self.MatchString(name) {
				some = true
				if slices.Contains(used, name) {
					return false
				}
			}
		}
		return some && returnsOnly.MatchString(strings.TrimSpace(f.code))
	})
}

// UncalledFunctions returns new private functions that no program calls. programs is the code of
// possible callers.
func UncalledFunctions(file string, before, after []byte, programs string) []Function {
	return newFunctions(file, before, after, func(f function) bool {
		private := path.Ext(file) == ".go" && f.name[0] >= 'a' && f.name[0] <= 'z' || path.Ext(file) == ".py" && f.name[0] == '_'
		if !private || strings.Contains(f.name, ".") || f.name == "main" {
			return false
		}
		return len(regex.New(`\b`+regexp.QuoteMeta(f.name)+`\b`).FindAllStringIndex(programs, 2)) < 2
	})
}

// CalledCode returns the code of a file's functions that a program names before a bracket.
func CalledCode(file string, content []byte, program string) string {
	var all strings.Builder
	for _, f := range functions(file, content) {
		if strings.Contains(program, BareName(f.name)+"(") {
			all.WriteString(Code(file, []byte(f.text)))
		}
	}
	return all.String()
}

// Code returns a file without comments and strings, or unchanged if its language is unknown.
func Code(file string, content []byte) string {
	if Knows(file) {
		return source.BareFile(file, string(content)).Code
	}
	return string(content)
}

// newFunctions returns the added functions that satisfy so.
func newFunctions(file string, before, after []byte, so func(function) bool) (all []Function) {
	for _, f := range edited(file, before, after) {
		if f.isNew && so(f.function) {
			all = append(all, f.summary(file))
		}
	}
	return all
}

var (
	identifiers = regex.New(`[A-Za-z_]\w*`)
	self        = regex.New(`^(?:self|cls|this|mut)$`)
	exits       = regex.New(`(?:^|\.)__a?exit__$`)
	returnsName = regex.New(`^\s*(?:return\b)?\s*(\w+);?\s*$`)
	// returnsOnly is a body of one statement: it returns a constant, or does nothing.
	returnsOnly = regex.New(`^(?:(?:return\b)?\s*[^;\n(]*(?:\(\s*\))?;?|pass|\.\.\.|raise NotImplementedError[^\n]*|(?:todo|unimplemented)!\([^\n]*\);?|throw new \w+\([^\n]*\);?|panic\([^\n]*\))$`)
)
