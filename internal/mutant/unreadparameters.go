package mutant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// UnreadParameters returns added parameters that their function ignores, or only looks at to refuse
// some numbers: Name is the parameter, Head the function's first line. It omits signatures that others
// fix. all is the code of programs and tests that may fix them.
func UnreadParameters(file string, before, after []byte, all string) []Function {
	var found []Function
	for _, f := range edited(file, before, after) {
		was := f.was
		body, then := f.body(file), was.body(file)
		written := slices.ContainsFunc(identifiers.FindAllString(was.params, -1), func(name string) bool { return Names(then, name) })
		names := slices.DeleteFunc(f.parameterNames(file), func(name string) bool {
			return Names(body, name) && (!f.onlyRefuses(file, name) || was.onlyRefuses(file, name)) || written && !Names(then, name) && slices.Contains(was.parameterNames(file), name)
		})
		if len(names) > 0 && !f.signatureFixed(all) {
			found = append(found, Function{Path: file, Name: strings.Join(names, ", "), Line: f.line, Head: f.head()})
		}
	}
	return append(found, unreadMacroParameters(file, before, after)...)
}

// unreadMacroParameters returns parameters that C macros ignore.
func unreadMacroParameters(file string, before, after []byte) (found []Function) {
	if !source.HasExtension(clang, file) {
		return nil
	}
	for _, m := range macro.FindAllSubmatchIndex(after, -1) {
		line, name := string(after[m[0]:m[1]]), string(after[m[2]:m[3]])
		if !Names(string(after[m[4]:m[5]]), name) && !strings.Contains(string(before), line) {
			found = append(found, Function{Path: file, Name: name, Line: 1 + strings.Count(string(after[:m[0]]), "\n"), Head: strings.TrimSpace(line)})
		}
	}
	return found
}

// macro matches a macro with one parameter, and its text.
var macro = regex.New(`(?m)^[ \t]*#[ \t]*define[ \t]+\w+\([ \t]*(\w+)[ \t]*\)[ \t]+(\S[^\n]*)$`)

// body returns the code after a function's head. Text in a string's braces stays: it may be read.
func (f function) body(file string) string {
	body := f.afterHead()
	return readCode(file, body, source.BareFile(file, body).Code)
}

// afterHead returns a function's text after its parameters.
func (f function) afterHead() string {
	_, body, _ := strings.Cut(f.text, f.params)
	return body
}

// readCode returns code, and the text in the braces of its strings, without statements that only seem
// to use a value.
func readCode(file, text, code string) string {
	return discarded.ReplaceAllString(code, "") + "\n" + inStrings(file, text)
}

// inStrings returns the text in the braces of a text's strings. The braces of code are no placeholders.
func inStrings(file, text string) string {
	inside, code := []byte(source.UncommentedFile(file, text)), source.BareFile(file, text).Code
	for i := range inside {
		if code[i] != ' ' && code[i] != '\n' {
			inside[i] = ' '
		}
	}
	return strings.Join(filled.FindAllString(string(inside), -1), " ")
}

// filled matches a string's placeholder: {name}, ${name}.
var filled = regex.New(`\{(?:[^{}\n]|\{[^{}\n]*\})*\}`)

// discarded matches statements that only seem to use a value.
var discarded = regex.New(`(?m)^\s*(?:(?:let )?_ = [\w, ]+|\(void\)\s*\w+|void \w+|del [\w, ]+);?\s*$|\(void\)\s*\w+;`)

// signatureFixed reports whether others fix the parameters: several functions have its name, as for
// an interface, or its name is passed on.
func (f function) signatureFixed(all string) bool {
	name := regexp.QuoteMeta(f.name[strings.LastIndexByte(f.name, '.')+1:])
	if strings.Contains(f.name, ".") && len(regex.New(`(?m)^[ \t]*[^\n=;"']*\b`+name+`\([^\n;]*$`).FindAllStringIndex(all, 3)) > 1 {
		return true
	}
	return regex.New(`[(,=:]\s*(?:\w+\.)?` + name + `\s*[,)\n;]`).MatchString(all)
}

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
