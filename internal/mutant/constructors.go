package mutant

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Constructors returns what the types of a file are made from, by type: the parameters of the
// constructor, or the fields. It omits types that it cannot read.
func Constructors(file string, content []byte) map[string][]string {
	found := map[string][]string{}
	l := languageOf(file)
	if !Knows(file) {
		return found
	}
	s := source.BareFile(file, string(content))
	for _, m := range typeHead.FindAllStringSubmatchIndex(s.Code, -1) {
		name := s.Code[m[2]:m[3]]
		rest := s.Code[m[1]:]
		switch {
		case l != nil && l.indent:
			body := s.Code[m[1]:s.Indented(m[0], "")]
			if made := pythonInit.FindStringIndex(body); made != nil {
				found[name] = parametersAt(s, m[1]+made[1]-1)
			} else {
				found[name] = shallowest(pythonField.FindAllStringSubmatch(body, -1))
			}
		case strings.HasPrefix(rest, "("): // a record, or a tuple
			found[name] = parametersAt(s, m[1])
		case opensBody.MatchString(rest) && (l != nil || rest[0] == '{'):
			body := s.Code[m[1]:s.Block(m[1])]
			own := regex.New(`(?m)^[ \t]*(?:(?:public|private|protected|internal)\s+)?(?:constructor|` + name + `)\s*\(`)
			if made := own.FindStringIndex(body); made != nil {
				found[name] = parametersAt(s, m[1]+made[1]-1)
			} else {
				found[name] = structFields(body)
			}
		}
	}
	return found
}

// parametersAt returns the parameters behind a bracket.
func parametersAt(s source.Source, open int) []string {
	return splitParameters(s.Code[open+1 : max(open+1, s.Parens(open)-1)])
}

// Attributes returns the names that a program in Python or JavaScript gives to parts of an object.
func Attributes(file string, content []byte) (names []string) {
	if attributeLanguages.MatchString(file) {
		for _, m := range attribute.FindAllStringSubmatch(source.BareFile(file, string(content)).Code, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

var (
	attributeLanguages = regex.New(`\.(?:py|[cm]?[jt]sx?)$`)
	attribute          = regex.New(`\b(?:self|this)\.(\w+)\s*(?::[^=\n]*)?=[^=]`)
	opensBody          = regex.New(`^[^;=(){}]*\{`)
	typeHead           = regex.New(`(?m)^[ \t]*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|static|final|abstract|sealed|data)\s+)*(?:class|struct|record|type)[ \t]+(\w+)(?:<[^>{(]*>)?(?:[ \t]+struct\b)?[ \t]*`)
	pythonInit         = regex.New(`(?m)^[ \t]+def[ \t]+__init__\(`)
	pythonField        = regex.New(`(?m)^([ \t]+)(\w+)[ \t]*:[^\n]`)
	structField        = regex.New(`(?m)^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*(?::|[ \t])[ \t]*[\w*&\[(<]`)
)

// shallowest returns the names of the fields that are indented like the first one.
func shallowest(fields [][]string) (names []string) {
	for _, m := range fields {
		if m[1] == fields[0][1] {
			names = append(names, m[2])
		}
	}
	return names
}

// structFields returns the fields of a struct in Go or Rust.
func structFields(body string) (names []string) {
	for _, m := range structField.FindAllStringSubmatch(body, -1) {
		names = append(names, splitParameters(m[1])...)
	}
	return names
}
