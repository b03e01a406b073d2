package mutant

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Parameter is one that a change gave to a function. In its mutant it has the zero value of
// its type, whatever a caller gives: a test that looks at what it does fails there. Text is
// never empty, see word.
type Parameter struct {
	Name   string
	Of     string // the function
	Line   int    // of the function, from 1
	Mutant Mutant
}

// Parameters are those of new functions, and the new ones of others. Left out are those to
// which no other value can be given, and those that a caller hands to all that it calls.
func Parameters(file string, before, after []byte) []Parameter {
	if generated(after) {
		return nil
	}
	old := map[string]function{}
	for _, f := range functions(file, before) {
		old[f.name] = f
	}
	var found []Parameter
	for _, f := range functions(file, after) {
		was := old[f.name].parameterNames(file)
		for _, p := range f.parameters(file) {
			zero := p.zeroed(file)
			if f.enter.leave == nil || zero == "" || len(p.name) == 1 || slices.Contains(was, p.name) {
				continue
			}
			found = append(found, Parameter{p.name, f.name, f.line, Mutant{Zero, "takes the zero value for " + p.name, f.enter.at, f.enter.at, f.enter.first(zero)}})
		}
	}
	return found
}

// unheeding is the mutant in which all parameters have their zero values; nil where none can.
func (f function) unheeding(file string) *Mutant {
	var text strings.Builder
	for _, p := range f.parameters(file) {
		if zero := p.zeroed(file); zero != "" && f.enter.leave != nil {
			text.WriteString(f.enter.first(zero))
		}
	}
	if text.Len() == 0 {
		return nil
	}
	return &Mutant{Unheeding, "takes zero values", f.enter.at, f.enter.at, text.String()}
}

// parameter is one of a function, with its type where the language has it written.
type parameter struct{ name, of string }

// zeroed is the statement that gives a parameter the zero value of its type; "" where
// there is none.
func (p parameter) zeroed(file string) string {
	switch ext := path.Ext(file); ext {
	case ".go":
		if strings.HasPrefix(p.of, "...") {
			return " " + p.name + " = nil;"
		}
		return fmt.Sprintf(" %s = %s;", p.name, goZero(p.of))
	case ".py":
		return fmt.Sprintf("%[1]s = %[2]s if isinstance(%[1]s, str) or hasattr(%[1]s, '__fspath__') else type(%[1]s)()", p.name, word)
	case ".js", ".mjs", ".cjs", ".jsx":
		return fmt.Sprintf(" %[1]s = typeof %[1]s === 'string' ? %[2]s : %[1]s?.constructor?.();", p.name, word)
	case ".ts", ".mts", ".cts", ".tsx":
		return fmt.Sprintf(" %[1]s = typeof %[1]s === 'string' ? %[2]s : (%[1]s as any)?.constructor?.();", p.name, word)
	}
	zeros := languageOf(file).typed(p.of).zeros
	switch {
	case len(zeros) == 0, zeros[0] == "", constant.MatchString(p.of), aPath.MatchString(p.of):
		return ""
	case path.Ext(file) == ".rs":
		return fmt.Sprintf(" let _ = &%[1]s; #[allow(unused_mut)] let mut %[1]s: %[2]s = %[3]s;", p.name, p.of, zeros[0])
	}
	return fmt.Sprintf(" %s = %s;", p.name, zeros[0])
}

var (
	// constant matches types of C and Java to whose values none can be given: a pointer to
	// what is constant is none.
	constant = regex.New(`^const [^*]+$|\bfinal\b|\*\s*const$|\w\s*&&?$`)
	// aPath matches types of paths, whose zero value is empty.
	aPath = regex.New(`(?i)\bpath(?:buf)?\b`)
)

// parameterNames are the names of a function's parameters that say something: more than
// a letter.
func (f function) parameterNames(file string) (names []string) {
	for _, p := range f.parameters(file) {
		if len(p.name) > 1 {
			names = append(names, p.name)
		}
	}
	return names
}

// parameters are those of a function but those that are left out on purpose, or given by a
// framework to whoever wants them.
func (f function) parameters(file string) (all []parameter) {
	parts := splitParameters(f.params)
	switch path.Ext(file) {
	case ".go":
		all = goParameters(parts)
	case ".py":
		for _, part := range parts {
			name, _, _ := strings.Cut(part, "=")
			name, of, _ := strings.Cut(name, ":")
			all = append(all, parameter{name, of})
		}
	case ".rs":
		for _, part := range parts {
			name, of, _ := strings.Cut(strings.TrimPrefix(part, "mut "), ":")
			all = append(all, parameter{name, strings.TrimSpace(of)})
		}
	case ".java", ".c", ".cc", ".cpp", ".cxx":
		for _, part := range parts {
			all = append(all, typedBefore(part))
		}
	default:
		for _, part := range parts {
			all = append(all, scriptParameters(part)...)
		}
	}
	return slices.DeleteFunc(all, func(p parameter) bool {
		return !meant.MatchString(p.name) || offered.MatchString(p.name)
	})
}

// meant matches a name that is not left out on purpose.
var meant = regex.New(`^[A-Za-z]\w*$`)

// offered are parameters that a caller hands to all that it calls.
var offered = regex.New(`^(?i:self|cls|this|mut|args|argv|argc|kwargs|ctx|context|req|request|res|response|reply|next|event|ev|evt|err|error|e|exc_?\w*|tb|rw|frame|signum|sender|index|idx|void)$`)

// goParameters are those of Go, of which several may have one type; none where they have
// no names.
func goParameters(parts []string) (all []parameter) {
	of := ""
	for _, part := range slices.Backward(parts) {
		name, typ, ok := strings.Cut(part, " ")
		if ok {
			of = strings.TrimSpace(typ)
		}
		if of != "" {
			all = append(all, parameter{name, of})
		}
	}
	slices.Reverse(all)
	return all
}

// typedBefore is a parameter behind its type; an array is a pointer.
func typedBefore(part string) parameter {
	part, _, array := strings.Cut(part, "[")
	part = strings.TrimSpace(part)
	at := len(part) - len(lastName.FindString(part))
	p := parameter{part[at:], strings.TrimSpace(part[:at])}
	switch {
	case p.of == "": // a type alone
		return parameter{}
	case array:
		p.of += " *"
	}
	return p
}

var lastName = regex.New(`\w+$`)

// scriptParameters are those of JavaScript at one place, where an object may be taken apart.
func scriptParameters(part string) (all []parameter) {
	if inner, ok := strings.CutPrefix(part, "{"); ok {
		inner = inner[:max(0, strings.IndexByte(inner, '}'))]
		for _, field := range splitParameters(inner) {
			name, _, _ := strings.Cut(field, "=")
			if _, alias, renamed := strings.Cut(name, ":"); renamed {
				name = alias
			}
			all = append(all, parameter{name: strings.TrimSpace(name)})
		}
		return all
	}
	name, _, _ := strings.Cut(part, "=")
	name, _, _ = strings.Cut(name, ":")
	return []parameter{{name: strings.TrimRight(strings.TrimSpace(name), "?")}}
}

// splitParameters divides parameters at the commas that are in no brackets.
func splitParameters(params string) (parts []string) {
	depth, from := 0, 0
	for i, c := range params {
		switch {
		case strings.ContainsRune("([{<", c):
			depth++
		case strings.ContainsRune(")]}>", c):
			depth--
		case c == ',' && depth <= 0:
			parts, from = append(parts, strings.TrimSpace(params[from:i])), i+1
		}
	}
	if last := strings.TrimSpace(params[from:]); last != "" {
		parts = append(parts, last)
	}
	return parts
}
