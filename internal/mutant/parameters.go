package mutant

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Parameter is an added parameter with a mutant that gives it its type's zero value. A test that
// checks its effect fails there. Texts are never empty, see textValue.
type Parameter struct {
	Name     string
	Function string // its function
	Line     int    // of the function, from 1
	Mutant   Mutant
	// Large is a mutant that gives a large number for each above zero, if the function refuses some
	// numbers, zero perhaps; nil if it refuses none.
	Large *Mutant
}

// Parameters returns the parameters of new functions and new ones of old functions. It omits those
// without another value, and conventional ones that callers always pass.
func Parameters(file string, before, after []byte) []Parameter {
	var found []Parameter
	for _, f := range edited(file, before, after) {
		was := f.was.parameterNames(file)
		for _, p := range f.parameters(file) {
			zero := p.zeroStatement(file)
			if f.enter.leave == nil || zero == "" || len(p.name) == 1 || slices.Contains(was, p.name) {
				continue
			}
			added := Parameter{p.name, f.name, f.line, Mutant{Zero, "takes the zero value for " + p.name, f.enter.at, f.enter.at, f.enter.first(zero)}, nil}
			if large := p.largeStatement(file); large != "" {
				if _, refuses := f.withoutRefusals(file, p.name); refuses {
					added.Large = &Mutant{Zero, "takes a large number for " + p.name, f.enter.at, f.enter.at, f.enter.first(large)}
				}
			}
			found = append(found, added)
		}
	}
	return found
}

// zeroInput returns the mutant with zero values for all parameters, or nil.
func (f function) zeroInput(file string) *Mutant {
	var text strings.Builder
	for _, p := range f.parameters(file) {
		if zero := p.zeroStatement(file); zero != "" && f.enter.leave != nil {
			text.WriteString(f.enter.first(zero))
		}
	}
	if text.Len() == 0 {
		return nil
	}
	return &Mutant{ZeroInput, "takes zero values", f.enter.at, f.enter.at, text.String()}
}

// parameter is a parameter, with its type if the language has it.
type parameter struct{ name, of string }

// zeroStatement returns the statement that sets the zero value, or "".
func (p parameter) zeroStatement(file string) string {
	switch ext := path.Ext(file); ext {
	case ".go":
		if strings.HasPrefix(p.of, "...") {
			return " " + p.name + " = nil;"
		}
		return fmt.Sprintf(" %s = %s;", p.name, goZeroValue(p.of))
	case ".py":
		return fmt.Sprintf("%[1]s = %[2]s if isinstance(%[1]s, str) or hasattr(%[1]s, '__fspath__') else type(%[1]s)()", p.name, textValue)
	case ".js", ".mjs", ".cjs", ".jsx":
		return fmt.Sprintf(" %[1]s = typeof %[1]s === 'string' ? %[2]s : %[1]s?.constructor?.();", p.name, textValue)
	case ".ts", ".mts", ".cts", ".tsx":
		return fmt.Sprintf(" %[1]s = typeof %[1]s === 'string' ? %[2]s : (%[1]s as any)?.constructor?.();", p.name, textValue)
	}
	zeros := languageOf(file).valuesOf(p.of).zeros
	switch {
	case len(zeros) == 0, zeros[0] == "", constant.MatchString(p.of), pathType.MatchString(p.of):
		return ""
	case path.Ext(file) == ".rs":
		return fmt.Sprintf(" let _ = &%[1]s; #[allow(unused_mut)] let mut %[1]s: %[2]s = %[3]s;", p.name, p.of, zeros[0])
	}
	return fmt.Sprintf(" %s = %s;", p.name, zeros[0])
}

// largeStatement returns the statement that sets a large number for one above zero, or "". What is no
// number gets its zero value.
func (p parameter) largeStatement(file string) string {
	const large = "1048576"
	zero := p.zeroStatement(file)
	_, of, assigned := strings.Cut(zero, " = ")
	isZero := strings.TrimSuffix(of, ";") == "0"
	switch ext := path.Ext(file); {
	case !assigned:
		return ""
	case ext == ".py":
		return fmt.Sprintf("%[1]s = (%[2]s if %[1]s > 0 else %[1]s) if type(%[1]s) in (int, float) else %[3]s", p.name, large, of)
	case strings.HasPrefix(ext, ".js"), strings.HasPrefix(ext, ".ts"), slices.Contains([]string{".mjs", ".cjs", ".mts", ".cts"}, ext):
		return fmt.Sprintf(" %[1]s = typeof %[1]s === 'number' ? (%[1]s > 0 ? %[2]s : %[1]s) : %[3]s", p.name, large, of)
	case ext == ".go" && wholeNumber.MatchString(p.of):
		return fmt.Sprintf(" if %[1]s > 0 { %[1]s = %[2]s };", p.name, large)
	case ext == ".rs" && isZero:
		return fmt.Sprintf(" #[allow(unused_mut)] let mut %[1]s: %[2]s = if %[1]s > 0 { %[3]s } else { %[1]s };", p.name, p.of, large)
	case isZero && !strings.Contains(p.of, "*"):
		return fmt.Sprintf(" if (%[1]s > 0) %[1]s = %[2]s;", p.name, large)
	}
	return ""
}

// wholeNumber matches types of Go that hold a large number.
var wholeNumber = regex.New(`^u?int(?:32|64)?$`)

var (
	// constant matches types of C and Java to whose values none can be given: a pointer to
	// what is constant is none.
	constant = regex.New(`^const [^*]+$|\bfinal\b|\*\s*const$|\w\s*&&?$`)
	// pathType matches types of paths, whose zero value is empty.
	pathType = regex.New(`(?i)\bpath(?:buf)?\b`)
)

// parameterNames returns the parameter names longer than a letter.
func (f function) parameterNames(file string) (names []string) {
	for _, p := range f.parameters(file) {
		if len(p.name) > 1 {
			names = append(names, p.name)
		}
	}
	return names
}

// parameters returns a function's parameters, without ignored and conventional ones.
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
			all = append(all, parseTypedFirst(part))
		}
	default:
		for _, part := range parts {
			all = append(all, scriptParameters(part)...)
		}
	}
	return slices.DeleteFunc(all, func(p parameter) bool {
		return !usedName.MatchString(p.name) || conventionalNames.MatchString(p.name)
	})
}

// usedName matches names that are not marked as ignored.
var usedName = regex.New(`^[A-Za-z]\w*$`)

// conventionalNames match parameters that callers or frameworks always pass.
var conventionalNames = regex.New(`^(?i:self|cls|this|mut|args|argv|argc|kwargs|ctx|context|req|request|res|response|reply|next|event|ev|evt|err|error|e|exc_?\w*|tb|rw|frame|signum|sender|index|idx|void)$`)

// goParameters returns Go parameters, of which several may share a type; none if unnamed.
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

// parseTypedFirst parses a parameter after its type. An array is a pointer.
func parseTypedFirst(part string) parameter {
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

// scriptParameters returns the JavaScript parameters at one position, which may destructure an
// object.
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

// splitParameters splits at commas outside brackets.
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
