package mutant

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// onlyRefuses reports whether a function looks at a parameter only to refuse it: where its number or
// type is wrong, it fails, and all else is made of the other parameters.
func (f function) onlyRefuses(file, name string) bool {
	read, _ := f.withoutRefusals(file, name)
	return !Names(read, name) && slices.ContainsFunc(f.parameters(file), func(p parameter) bool { return p.name != name && Names(read, p.name) })
}

// withoutRefusals returns what a function reads but for where it refuses values of a parameter, and
// whether it does.
func (f function) withoutRefusals(file, name string) (read string, refuses bool) {
	text := f.afterHead()
	code := source.BareFile(file, text).Code
	rest, restCode := []byte(text), []byte(code)
	for _, at := range refusal.FindAllStringSubmatchIndex(code, -1) {
		condition := code[max(at[2], 0):max(at[3], 0)] + code[max(at[4], 0):max(at[5], 0)] + code[max(at[6], 0):max(at[7], 0)]
		if !Names(condition, name) || slices.ContainsFunc(identifiers.FindAllString(condition, -1), func(word string) bool {
			return word != name && !slices.Contains(strings.Fields(ofNumbers), word)
		}) {
			continue
		}
		refuses = true
		for i := at[0]; i < at[1]; i++ {
			rest[i], restCode[i] = ' ', ' '
		}
	}
	return readCode(file, string(rest), string(restCode)), refuses
}

// ofNumbers are words in conditions that look at a number or at a type.
const ofNumbers = "typeof not or and is in isinstance int float bool None null nil undefined true false True False Number Integer isInteger isSafeInteger isFinite isNaN if"

// refusal matches a statement that fails under a condition: in braces, in one statement, or indented.
// The conditions are its groups.
var refusal = regex.New(`\bif\b([^{}\n:]*)\{\s*(?:throw\b|panic\b|return\b[^{}]*[eE]rr)[^{}]*\}|` +
	`\bif\s*(\([^{}\n;]*?\))\s*throw\b[^{};]*;|` +
	`\bif\b([^{}\n]*):\s*\n?\s*raise\b[^\n(]*(?:\((?:[^()]|\([^()]*\))*\))?`)
