package mutant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A program that knows where it runs keeps that in a variable or a field, or asks a function of its own,
// and then decides by it beside its input: if (session && adjustable()). So the data is followed from there to
// the operands of conditions.

// surroundings are the functions of a file that take nothing and read nothing that the program stores: they
// can only tell where the program runs.
type surroundings struct {
	file, code string
	functions  []string
}

func newSurroundings(file string, content []byte) surroundings {
	s := surroundings{file: file, code: Code(file, content)}
	for _, f := range functions(file, content) {
		free := !strings.ContainsAny(f.name, ".:") || strings.Contains(f.head(), "static ")
		if free && strings.TrimSpace(f.params) == "" && s.isIndependent(f, f.code) {
			s.functions = append(s.functions, BareName(f.name))
		}
	}
	return s
}

// isIndependent reports whether code of a function calls something, and reads neither the function's input nor
// what the program stores.
func (s surroundings) isIndependent(f function, code string) bool {
	if platformCheck.MatchString(truth.ReplaceAllString(code, "")) || !calling.MatchString(code) {
		return false
	}
	given := append(identifiers.FindAllString(f.params, -1), "self", "this")
	if receiver := receiverOf.FindStringSubmatch(f.head()); receiver != nil {
		given = append(given, receiver[1])
	}
	own := strings.Join(boundVariables.FindAllString(code, -1), " ")
	for _, at := range identifiers.FindAllStringIndex(code, -1) {
		name := code[at[0]:at[1]]
		if isMember.MatchString(code[:at[0]]) || ofLanguage.MatchString(name) || strings.HasPrefix(code[at[1]:], "(") {
			continue
		}
		if slices.Contains(given, name) || !source.HasWord(own, name) && isStored(strings.Replace(s.code, f.code, "", 1), name) {
			return false
		}
	}
	return true
}

var (
	truth      = regex.New(`\b(?:true|false|True|False)\b`)
	calling    = regex.New(`[\w$]\(|\w\.\w`)
	receiverOf = regex.New(`^func \((\w+) `)
)

// tells reports whether a name in a function only tells where the program runs: one of the functions if it is
// called, a variable that has one value, or a field that has no other one.
func (s surroundings) tells(f function, name string, called, member bool) bool {
	switch {
	case called:
		return !member && slices.Contains(s.functions, name)
	case member:
		return s.onlyTold(regex.New(`\b`+name+`["']?\s*(?::|=)\s*([^=][^,;}\n]*)`).FindAllStringSubmatch(s.code, -1))
	}
	at := regex.New(`(?:^|[^\w.$])`+name+`(?:\s*:\s*[\w<>]+)?\s*:?=[^=>]`).FindAllStringIndex(f.code, -1)
	if len(at) != 1 || slices.Contains(identifiers.FindAllString(f.params, -1), name) {
		return false
	}
	from := at[0][1] - 1
	return s.isOnlyFrom(f, f.code[from:endOfValue(f.code, from)])
}

// isOnlyFrom reports whether a value depends on nothing but such functions and values.
func (s surroundings) isOnlyFrom(f function, value string) bool {
	for _, name := range identifiers.FindAllString(value, -1) { // a variable of the function hides its input
		if regex.New(`(?:^|[^\w.$])` + name + `(?:,\s*\w+)*\s*:?=[^=>]`).MatchString(f.code) {
			return false
		}
	}
	return s.isIndependent(f, value)
}

// onlyTold reports whether all values, at least one, are calls of the functions.
func (s surroundings) onlyTold(values [][]string) bool {
	for _, v := range values {
		name, call := strings.CutSuffix(strings.TrimSpace(v[1]), "()")
		if !call || !slices.Contains(s.functions, name) {
			return false
		}
	}
	return len(values) > 0
}

// endOfValue returns where the value ends that begins at a place.
func endOfValue(code string, from int) int {
	depth := 0
	for i := from; i < len(code); i++ {
		switch depth += source.Depth(code[i]); {
		case depth < 0, depth == 0 && (code[i] == ';' || code[i] == '\n'):
			return i
		}
	}
	return len(code)
}

// operands returns the operands of conditions in a line that only tell where the program runs, each with a
// mutant that never holds and one that always holds.
func (s surroundings) operands(l addedLine, of syntax) (found []Line) {
	for _, m := range operandName.FindAllStringSubmatchIndex(l.code, -1) {
		name, called, member := l.code[m[4]:m[5]], m[6] >= 0, m[2] >= 0
		before, after := l.code[:m[0]], l.code[m[1]:]
		if !decidesBefore.MatchString(before) || !decidesAfter.MatchString(after) || givesBack.MatchString(before) && !joined.MatchString(after) || !s.tells(l.function, name, called, member) {
			continue
		}
		for does, format := range map[string]string{"never holds": of.never, "always holds": of.always} {
			b := l.line(conditionOrder, Mutant{Other, does, m[0], m[1], "(" + strings.TrimSpace(fmt.Sprintf(format, l.code[m[0]:m[1]])) + ")"})
			b.WholeCondition, b.InputIndependent = true, true
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b Line) int { return strings.Compare(b.Mutant.Does, a.Mutant.Does) })
	return found
}

var (
	operandName   = regex.New(`((?:\b[A-Za-z_$][\w$]*\.)+)?\b([A-Za-z_$][\w$]*)\b(\(\))?`)
	decidesBefore = regex.New(`(?:\b(?:if|elif|while|not|and|or|return|unless)|!|&&|\|\||=>|[?:] )\s*[(!\s]*$`)
	decidesAfter  = regex.New(`^\s*\)*\s*(?:&&|\|\||\?|\{|:|;|$|(?:and|or|then|if|else)\b|return\b)`)
	givesBack     = regex.New(`(?:\breturn|=>|: |\? )\s*[(!\s]*$`)
	joined        = regex.New(`^\s*\)*\s*(?:&&|\|\||\?|(?:and|or|if)\b)`)
)
