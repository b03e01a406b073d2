package sign

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// view holds the forms of a file that rules match, by line.
type view struct {
	file          string
	programName   string      // the file's name; of a script without an extension, with that of its interpreter
	text          []string    // unchanged lines
	uncommented   []string    // without comments
	joinedStrings []string    // uncommented, with concatenated strings joined
	code          []string    // without comments and the content of strings
	added         []bool      // the line is not in the old file
	main          func() bool // the file is started as a program
	spans         map[*regex.Regex]map[int]int
	allCode       string // code as one text
	script        bool
	imported      map[string]string // imported and global names → full names, see importedNames
	shortNames    *regex.Regex      // matches imported names that differ from their full names
	expanded      []string          // code with the full names
}

// newView returns the view of a file. That of no program has no lines.
func newView(file string, before, after []byte, tests bool) *view {
	all := string(after)
	v := &view{file: file, programName: programName(file, after), main: sync.OnceValue(func() bool { return mainProgram.MatchString(all) }), spans: map[*regex.Regex]map[int]int{}}
	if file = v.programName; !IsProgram(file) {
		return v
	}
	known := map[string]int{}
	for line := range strings.Lines(string(before)) {
		known[strings.TrimSpace(line)]++
	}
	v.text, v.uncommented = strings.Split(all, "\n"), strings.Split(source.UncommentedFile(file, all), "\n")
	v.allCode = source.BareFile(file, all).Code
	v.code = strings.Split(v.allCode, "\n")
	if source.HasExtension(python, file) {
		dropDocstrings(v.uncommented)
	}
	v.joinedStrings = strings.Split(joinStrings(strings.Join(v.uncommented, "\n")), "\n")
	if source.HasExtension(rust, file) && !tests {
		v.allCode = withoutTests(v.allCode)
		v.code = strings.Split(v.allCode, "\n")
	}
	v.script, v.imported = source.HasExtension(script, file), importedNames(file, v.allCode, strings.Join(v.uncommented, "\n"))
	v.expanded = v.expandNames()
	v.added = make([]bool, len(v.text))
	for n, text := range v.text {
		plain := strings.TrimSpace(text)
		known[plain]--
		v.added[n] = known[plain] < 0 && plain != "" && len(text) <= maxLine && v.code[n] != testLine
	}
	return v
}

// sign returns the sign of a line.
func (v *view) sign(n int, kind Kind, does string) Sign {
	return Sign{Path: v.file, Line: n + 1, Kind: kind, Does: does, Text: truncate(strings.TrimSpace(v.text[n]))}
}

// CommentsOnly reports whether two versions of a program differ in nothing but comments, docstrings
// and blank lines. Without one of them they do not.
func CommentsOnly(file string, before, after []byte) bool {
	code := func(text []byte) []string {
		lines := strings.Split(source.UncommentedFile(file, string(text)), "\n")
		if source.HasExtension(python, file) {
			dropDocstrings(lines)
		}
		for i, line := range lines {
			lines[i] = strings.TrimRight(line, " \t\r")
		}
		return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	}
	return IsProgram(file) && before != nil && after != nil && slices.Equal(code(before), code(after))
}

var (
	beforeDocstring = regex.New(`(?:^\s*(?:async\s+)?(?:def|class)\b.*|\)\s*(?:->.*)?):\s*$`)
	docstringBegins = regex.New(`^\s*[rRuU]?("""|''')`)
)

// dropDocstrings empties the lines of docstrings, whose examples tests may repeat.
func dropDocstrings(said []string) {
	last, closing := "", ""
	for n, line := range said {
		m := docstringBegins.FindStringSubmatch(line)
		switch {
		case closing != "":
			said[n] = ""
			if strings.Contains(line, closing) {
				closing = ""
			}
		case m != nil && (last == "" || beforeDocstring.MatchString(last)):
			said[n] = ""
			if closing = m[1]; strings.Count(line, closing) > 1 {
				closing = ""
			}
			last = line
		case strings.TrimSpace(line) != "":
			last = line
		}
	}
}

// joinStrings returns text with concatenated string literals joined.
func joinStrings(text string) string {
	for range maxParts {
		whole := concatenation.ReplaceAllString(text, "${1}${2}${3}${1}")
		if whole == text {
			break
		}
		text = whole
	}
	return text
}

// maxParts bounds the concatenated parts of a string.
const maxParts = 8

var concatenation = regex.New(`(["'])([^"'\\\n]*)["'] *[+.] *["']([^"'\\\n]*)["']`)

// testLine replaces a line of a test module inside a program.
const testLine = "\x00"

// withoutTests returns Rust code with the lines of its test modules replaced.
func withoutTests(code string) string {
	m := testModule.FindStringIndex(code)
	if m == nil {
		return code
	}
	start, end := strings.LastIndexByte(code[:m[0]], '\n')+1, source.Source{Text: code, Code: code}.Block(m[1]-1)
	lines := strings.Count(code[start:end], "\n")
	rest := code[end+source.LineEnd(code[end:]):]
	return code[:start] + strings.Repeat(testLine+"\n", lines) + testLine + withoutTests(rest)
}

var testModule = regex.New(`#\[cfg\(test\)\]\s*(?:pub\s+)?mod\s+\w+\s*\{`)

// matches reports whether a rule matches at a line, and the last line of the match.
func (v *view) matches(r rule, n int) (last int, ok bool) {
	switch {
	case r.unlessBelow != nil && v.blockBelow(n, r.unlessBelow), r.unlessMain && v.main(), r.replaceFunc != nil && r.replace(v, v.text[n]) == v.text[n]:
	case r.text != nil && r.text.MatchString(v.text[n]),
		r.uncommented != nil && matchesEither(r.uncommented, v.uncommented[n], v.joinedStrings[n]),
		r.code != nil && matchesEither(r.code, v.code[n], v.expanded[n]):
		return n, true
	case r.assignsImported:
		_, ok = v.assignsImported(n)
		return n, ok
	case r.across != nil:
		last, ok = v.spansOf(r.across)[n]
	}
	return last, ok
}

// blockBelow reports whether a statement of the block that a line begins matches. Statements further in
// may not be reached, and do not count.
func (v *view) blockBelow(n int, re *regex.Regex) bool {
	indent := 0
	for _, line := range v.code[n+1:] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		at := source.Indent(line)
		switch {
		case at <= source.Indent(v.code[n]):
			return false
		case indent == 0:
			indent = at
		}
		if at == indent && re.MatchString(line) {
			return true
		}
	}
	return false
}

// matchesEither reports whether a line matches in one of two forms, which are mostly the same.
func matchesEither(re *regex.Regex, line, other string) bool {
	return re.MatchString(strings.TrimRight(line, " \t\r")) || other != line && re.MatchString(strings.TrimRight(other, " \t\r"))
}

// allowedBy returns the pattern of text that asks for what a rule found on a line.
func (v *view) allowedBy(r rule, n int) string {
	re := cmp.Or(r.uncommented, r.code, r.text)
	switch {
	case r.replaceFunc != nil:
		for _, word := range r.replacements[0].from.FindAllString(v.text[n], -1) {
			if r.replaceFunc(word) != word {
				return `\b` + regexp.QuoteMeta(lastName.FindString(word)) + `\b`
			}
		}
	case r.allowedBy == "" || re == nil:
		return r.allowedBy
	}
	for _, line := range []string{v.uncommented[n], v.expanded[n], v.text[n]} {
		if m := re.FindStringSubmatch(line); len(m) > 1 {
			return strings.ReplaceAll(r.allowedBy, "$1", regexp.QuoteMeta(m[1]))
		}
	}
	return "(?i)" + r.allowedBy
}

// spansOf returns the first lines of the matches of a pattern, with their last lines.
func (v *view) spansOf(re *regex.Regex) map[int]int {
	if spans, ok := v.spans[re]; ok {
		return spans
	}
	spans := map[int]int{}
	for _, m := range re.FindAllStringIndex(v.allCode, -1) {
		first, last := strings.Count(v.allCode[:m[0]], "\n"), strings.Count(strings.TrimRight(v.allCode[:m[1]], "\n"), "\n")
		for first < last && !v.added[first] {
			first++
		}
		spans[first] = last
	}
	v.spans[re] = spans
	return spans
}
