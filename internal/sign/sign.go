// Package sign finds in a change what a reviewer would want to see first: a check that
// is switched off, code that asks whether it is being tested, a way out past the
// tests. Only lines that were added count, and only outside of tests.
//
// A sign is not a verdict: each has an honest use. It is reported with file and line, so that
// the user need not search for it.
//
//	for _, s := range sign.NewChange("calc.py", before, after).Signs() {
//		fmt.Println(s) // calc.py:12 switches a check off: x = f()  # type: ignore
//	}
//
// The rules are data, in rules.go.
package sign

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Sign is one place in a change.
type Sign struct {
	Path string `json:"path" jsonschema:"of the file, from the repository's top"`
	Line int    `json:"line,omitempty" jsonschema:"in the file as it is now; 0 for the file as a whole"`
	In   string `json:"in,omitempty" jsonschema:"the function or table that the line stands in"`
	Kind Kind   `json:"kind" jsonschema:"what it is about: suppression, exit"`
	Does string `json:"does" jsonschema:"what it does, in words: switches a check off"`
	Text string `json:"text,omitempty" jsonschema:"the line"`
	// AllowedBy matches text that asks for it: then it is not a sign, see Tests.IsRequested.
	AllowedBy string `json:"-"`
}

func (s Sign) String() string {
	where := s.Path
	if s.Line > 0 {
		where = fmt.Sprintf("%s:%d", s.Path, s.Line)
	}
	if s.In != "" {
		where += " in " + s.In
	}
	if s.Text == "" {
		return where + " " + s.Does
	}
	return where + " " + s.Does + ": " + s.Text
}

// Limits on what is read of a line, and shown of it: a bundle is one long line.
const (
	maxLine = 2000
	maxText = 120
)

// Change is a file before and after a change. It caches its views. It is not safe for
// concurrent use.
type Change struct {
	File          string
	Before, After []byte
	view, tests   func() *view // as a program, and as a file of tests
}

// NewChange makes the change of a file; before is nil for a new one.
func NewChange(file string, before, after []byte) *Change {
	viewed := func(tests bool) func() *view {
		return sync.OnceValue(func() *view { return newView(file, before, after, tests) })
	}
	return &Change{File: file, Before: before, After: after, view: viewed(false), tests: viewed(true)}
}

// Signs returns the signs in the added lines, in their order. A line has one sign at most,
// that of the first rule that matches.
func (c *Change) Signs() []Sign {
	if !IsProgram(c.File) {
		return nil
	}
	return signsOf(c.view().hits(programRules()(c.File)))
}

// TestSigns is Signs for a test file.
func (c *Change) TestSigns() []Sign {
	if !IsProgram(c.File) {
		return nil
	}
	return signsOf(c.tests().hits(testRules()(c.File)))
}

func signsOf(hits []hit) []Sign {
	var found []Sign
	for _, h := range hits {
		found = append(found, h.Sign)
	}
	return found
}

// FirstAdded returns the location of the first added line of code, or false if there is none.
func (c *Change) FirstAdded() (Sign, bool) {
	v := c.view()
	for n, added := range v.added {
		if added && strings.TrimSpace(v.uncommented[n]) != "" {
			return Sign{Path: c.File, Line: n + 1, Text: truncate(strings.TrimSpace(v.text[n]))}, true
		}
	}
	return Sign{}, false
}

// hit is a sign with the rule that matched, and the last line of the match.
type hit struct {
	Sign
	rule rule
	last int
}

// hits finds the signs of a file by rules.
func (v *view) hits(rules *ruleSet) []hit {
	var found []hit
	candidates := rules.candidates(v)
	for n := range v.text {
		if !v.added[n] {
			continue
		}
		for i, may := range candidates(n) {
			if !may {
				continue
			}
			r := rules.rules[i]
			if last, ok := v.matches(r, n); ok {
				s := Sign{Path: v.file, Line: n + 1, Kind: r.kind, Does: r.does, Text: truncate(strings.TrimSpace(v.text[n]))}
				s.AllowedBy = v.allowedBy(r, n)
				found = append(found, hit{s, r, last})
				break
			}
		}
	}
	return found
}

// view holds the forms of a file that rules match, by line.
type view struct {
	file          string
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

	overriding map[int]override
}

func newView(file string, before, after []byte, tests bool) *view {
	known := map[string]int{}
	for line := range strings.Lines(string(before)) {
		known[strings.TrimSpace(line)]++
	}
	style, all := styleOf(file), string(after)
	v := &view{
		file: file, text: strings.Split(all, "\n"), uncommented: strings.Split(source.Uncommented(all, style), "\n"), main: sync.OnceValue(func() bool { return mainProgram.MatchString(all) }),
		allCode: source.Bare(all, style).Code, spans: map[*regex.Regex]map[int]int{},
	}
	v.code = strings.Split(v.allCode, "\n")
	if hasExtension(python, file) {
		dropDocstrings(v.uncommented)
	}
	v.joinedStrings = strings.Split(joinStrings(strings.Join(v.uncommented, "\n")), "\n")
	if hasExtension(rust, file) && !tests {
		v.allCode = withoutTests(v.allCode)
		v.code = strings.Split(v.allCode, "\n")
	}
	v.script, v.imported = hasExtension(script, file), importedNames(file, v.allCode, strings.Join(v.uncommented, "\n"))
	v.expanded, v.overriding = v.expandNames(), overridingMethods(file, v.allCode)
	v.added = make([]bool, len(v.text))
	for n, text := range v.text {
		plain := strings.TrimSpace(text)
		known[plain]--
		v.added[n] = known[plain] < 0 && plain != "" && len(text) <= maxLine && v.code[n] != testLine
	}
	return v
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
	case r.overrides:
		o, ok := v.overriding[n]
		return o.last, ok
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
	case r.overrides:
		return `\b` + v.overriding[n].name + `\b`
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

// LessCheckedSigns returns the signs of a new file that replaces a file of a kind that checkers
// read more closely.
func LessCheckedSigns(came string, isGone func(file string) bool) (found []Sign) {
	for _, less := range lessChecked {
		from, to, _ := strings.Cut(less, " ")
		stem, ok := strings.CutSuffix(came, to)
		if gone := stem + from; ok && isGone(gone) {
			found = append(found, Sign{Path: came, Kind: LessChecked, Does: "is checked less than " + path.Base(gone) + ", whose place it takes"})
		}
	}
	return found
}

// rule is a pattern to find, in one line or across several.
type rule struct {
	kind        Kind
	does        string       // text of the sign
	names       string       // globs of file names, "" = every program's
	text        *regex.Regex // matches the unchanged line, with comments; nil = none
	uncommented *regex.Regex // matches the line without comments; nil = none
	code        *regex.Regex // matches the line without comments and the content of strings; nil = none
	across      *regex.Regex // matches the code of the whole file; the sign is at the start; nil = none

	replaceFunc     func(string) string // computes the replacement of a match; the rule applies only if that differs
	overrides       bool                // finds methods that override one of a built-in type, see overridingMethods
	assignsImported bool                // finds changes of imported and global values, see view.assignsImported
	unlessBelow     *regex.Regex        // no sign if a statement of the block below matches
	allowedBy       string              // pattern: no sign if the task, a document or a test matches it; $1 is the rule's first group
	unlessMain      bool                // no sign in a file that is started as a program
	replacements    []replacement       // neutralize the sign, see Neutralize; nil = it is only reported
	hasContext      bool                // names of tests in lines around it are neutralized too
	everyLine       bool                // the replacements apply to each line of the match
	keepInMain      bool                // not neutralized in a file that is started as a program
	needsDate       bool                // neutralized only if a date is near
}

func styleOf(file string) source.Style {
	switch {
	case hasExtension(python+" "+shell+" "+ruby+" "+elixir, file):
		return source.Style{Lines: []string{"#"}, Quotes: []string{`"""`, "'''", `"`, "'"}}
	case hasExtension(script, file):
		return source.CStyle("`", `"`, "'")
	}
	s := source.CStyle("`", `"`)
	s.Char = true
	return s
}

func truncate(line string) string {
	if r := []rune(line); len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	return line
}

// Within returns a function that reports whether a sign has the same file and kind and lies
// within this many lines from this one.
func (s Sign) Within(lines int) func(Sign) bool {
	return func(other Sign) bool {
		return other.Path == s.Path && other.Kind == s.Kind && other.Line >= s.Line && other.Line < s.Line+lines
	}
}
