// Package sign finds in a change what a reviewer would want to see first: a check that
// is switched off, code that asks whether it is being tested, a way out past the
// tests. Only lines that were added count, and only outside of tests.
//
// A sign is no verdict: each has an honest use. It is named, with file and line, so
// that a person who reads the report need not find it.
//
//	for _, s := range sign.In("calc.py", before, after) {
//		fmt.Println(s) // calc.py:12 switches a check off: x = f()  # type: ignore
//	}
//
// The rules are data, in rules.go.
package sign

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/source"
)

// Sign is one place in a change.
type Sign struct {
	Path string `json:"path" jsonschema:"of the file, from the repository's top"`
	Line int    `json:"line,omitempty" jsonschema:"in the file as it is now; 0 for the file as a whole"`
	Does string `json:"does" jsonschema:"what it does, in words: switches a check off"`
	Text string `json:"text,omitempty" jsonschema:"the line"`
}

func (s Sign) String() string {
	where := s.Path
	if s.Line > 0 {
		where = fmt.Sprintf("%s:%d", s.Path, s.Line)
	}
	if s.Text == "" {
		return where + " " + s.Does
	}
	return where + " " + s.Does + ": " + s.Text
}

// maxLine bounds what is read of a line, and shown of it: a bundle is one line.
const (
	maxLine = 2000
	maxText = 120
)

// In are the signs in the lines that are in after and not in before, in their order;
// before is nil for a new file. One line has one sign: that of the first rule.
func In(file string, before, after []byte) []Sign {
	rules := rulesFor(file)
	if len(rules) == 0 {
		return nil
	}
	known := map[string]int{}
	for line := range strings.Lines(string(before)) {
		known[strings.TrimSpace(line)]++
	}
	var found []Sign
	code := source.Bare(string(after), styleOf(file)).Code
	n := 0
	for text := range strings.Lines(string(after)) {
		n++
		bare := code[:len(text)]
		code = code[len(text):]
		plain := strings.TrimSpace(text)
		if known[plain]--; known[plain] >= 0 || plain == "" || len(text) > maxLine {
			continue
		}
		for _, r := range rules {
			if r.matches(text, bare) {
				found = append(found, Sign{Path: file, Line: n, Does: r.does, Text: short(plain)})
				break
			}
		}
	}
	return found
}

// Moved is the sign of a file that left the sight of a checker: it is gone, and one of
// the same name is there in a form that is checked less. Of others it is false.
func Moved(gone, came string) (Sign, bool) {
	for _, less := range lessChecked {
		from, to, _ := strings.Cut(less, " ")
		if path.Ext(gone) == from && path.Ext(came) == to && strings.TrimSuffix(gone, from) == strings.TrimSuffix(came, to) {
			return Sign{Path: came, Does: "is checked less than " + path.Base(gone) + ", whose place it takes"}, true
		}
	}
	return Sign{}, false
}

// rule is what to look for in a line.
type rule struct {
	does  string
	names string         // globs of file names, "" = every program's
	text  *regexp.Regexp // in the line as it stands: where a comment or a string tells; nil = not
	code  *regexp.Regexp // in the line without comments and the insides of strings; nil = not
}

func (r rule) matches(text, bare string) bool {
	return r.text != nil && r.text.MatchString(text) || r.code != nil && r.code.MatchString(bare)
}

// Knows tells whether a file of this name is looked at.
func Knows(file string) bool { return isAny(programs, file) }

func rulesFor(file string) (fit []rule) {
	if !Knows(file) {
		return nil
	}
	for _, r := range rules() {
		if r.names == "" || isAny(r.names, file) {
			fit = append(fit, r)
		}
	}
	return fit
}

func isAny(globs, file string) bool {
	for glob := range strings.FieldsSeq(globs) {
		if ok, err := path.Match(glob, path.Base(file)); ok && err == nil {
			return true
		}
	}
	return false
}

func styleOf(file string) source.Style {
	switch {
	case isAny(python+" "+shell+" *.rb *.ex *.exs", file):
		return source.Style{Lines: []string{"#"}, Quotes: []string{`"""`, "'''", `"`, "'"}}
	case isAny(script, file):
		return source.CStyle("`", `"`, "'")
	}
	s := source.CStyle("`", `"`)
	s.Char = true
	return s
}

func short(line string) string {
	if r := []rune(line); len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	return line
}
