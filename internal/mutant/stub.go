package mutant

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Stubs are the new functions that use none of their parameters and do no more than
// return, or that return one as it is: they do nothing yet.
func Stubs(file string, before, after []byte) []Function {
	return fresh(file, before, after, func(f function) bool {
		if m := returnsName.FindStringSubmatch(f.code); m != nil && slices.Contains(identifiers.FindAllString(f.params, -1), m[1]) {
			return true
		}
		used := identifiers.FindAllString(f.code, -1)
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

// Unused are the new functions that only their own package can call and that none of its
// programs names elsewhere; programs is the code of those that could.
func Unused(file string, before, after []byte, programs string) []Function {
	return fresh(file, before, after, func(f function) bool {
		private := path.Ext(file) == ".go" && f.name[0] >= 'a' && f.name[0] <= 'z' || path.Ext(file) == ".py" && f.name[0] == '_'
		if !private || strings.Contains(f.name, ".") || f.name == "main" {
			return false
		}
		return len(regex.New(`\b`+regexp.QuoteMeta(f.name)+`\b`).FindAllStringIndex(programs, 2)) < 2
	})
}

// Called is the code of those functions of a file that a program names before a bracket.
func Called(file string, content []byte, program string) string {
	var all strings.Builder
	for _, f := range functions(file, content) {
		if strings.Contains(program, BareName(f.name)+"(") {
			all.WriteString(Code(file, []byte(f.text)))
		}
	}
	return all.String()
}

// Code is a file without comments and the insides of strings; as it is where its language
// is not known.
func Code(file string, content []byte) string {
	if path.Ext(file) == ".go" {
		return source.Bare(string(content), goStyle()).Code
	}
	if l := languageOf(file); l != nil {
		return source.Bare(string(content), l.style).Code
	}
	return string(content)
}

// fresh are the functions that a change added and of which something is so.
func fresh(file string, before, after []byte, so func(function) bool) []Function {
	if generated(after) {
		return nil
	}
	known := map[string]bool{}
	for _, f := range functions(file, before) {
		known[f.name] = true
	}
	var all []Function
	for _, f := range functions(file, after) {
		if !known[f.name] && so(f) {
			all = append(all, Function{Path: file, Name: f.name, Line: f.line, Lines: 1 + strings.Count(f.text, "\n"), New: true, Head: head(f)})
		}
	}
	return all
}

// head is the first line of a function.
func head(f function) string {
	line, _, _ := strings.Cut(f.text, "\n")
	return strings.TrimSpace(line)
}

var (
	identifiers = regex.New(`[A-Za-z_]\w*`)
	self        = regex.New(`^(?:self|cls|this|mut)$`)
	returnsName = regex.New(`^\s*(?:return\b)?\s*(\w+);?\s*$`)
	// returnsOnly is a body of one statement: it returns a constant, or does nothing.
	returnsOnly = regex.New(`^(?:(?:return\b)?\s*[^;\n(]*(?:\(\s*\))?;?|pass|\.\.\.|raise NotImplementedError[^\n]*|(?:todo|unimplemented)!\([^\n]*\);?|throw new \w+\([^\n]*\);?|panic\([^\n]*\))$`)
)
