package sign

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// absent is a name that nothing has.
const absent = "pawlAbsent"

// around is how many lines before and after a question its answer may stand.
const around = 8

// swap puts text in the place of other text of a line. It leaves code that builds.
type swap struct {
	from *regex.Regex
	to   string
}

// Neutral is a file with its signs made ineffective, where the change from before made
// them: the question whether it is being tested is answered no, an exit or an equality
// that always holds is left out, a changed assertion stays as it was, names of tests
// become names of nothing, a name put together from parts is in one piece, a check is no longer switched off, a date has passed. It does so
// with the signs that are picked, nil = all, and returns those of which it is possible; of none, the file as it is. Lines stay where they are.
func (c *Change) Neutral(pick func(Sign) bool) ([]byte, []Sign) {
	return c.neutral(c.view, programRules(), pick)
}

// NeutralTest is the same for a file of tests: assertions that may not be reached are, or
// the test fails.
func (c *Change) NeutralTest(pick func(Sign) bool) ([]byte, []Sign) {
	return c.neutral(c.tests, testRules(), pick)
}

func (c *Change) neutral(view func() *view, rules finder, pick func(Sign) bool) ([]byte, []Sign) {
	if !Knows(c.File) {
		return c.After, nil
	}
	v := view()
	found, after := v.hits(rules(c.File)), string(c.After)
	if pick != nil {
		found = slices.DeleteFunc(found, func(h hit) bool { return !pick(h.Sign) })
	}
	lines := slices.Clone(v.text)
	var done []Sign
	for _, h := range found {
		if h.rule.notMain && v.main() || h.rule.dated && !v.dated(h.Line-1) {
			continue
		}
		changed := false
		put := func(n int, text string) {
			changed = changed || text != lines[n]
			lines[n] = text
		}
		first, last := h.Line-1, h.Line-1
		if h.rule.span {
			last = h.last
		}
		for n := first; n <= last; n++ {
			put(n, h.rule.swapped(v, lines[n]))
		}
		if h.rule.near {
			for n := max(0, first-around); n <= min(len(lines)-1, last+around); n++ {
				if v.added[n] {
					put(n, untested(v.file, joined(lines[n]), v.joined[n]))
				}
			}
		}
		if changed || strings.Join(lines, "\n") != after && touched(done, h.Sign) {
			done = append(done, h.Sign)
		}
	}
	if len(done) == 0 {
		return c.After, nil
	}
	return []byte(strings.Join(lines, "\n")), done
}

// swapped is a line with a rule's swaps made, in its full names if they do not fit else.
func (r rule) swapped(v *view, line string) string {
	for _, text := range []string{line, v.inFull(line)} {
		was := text
		for _, s := range r.swaps {
			if r.by != nil {
				text = s.from.ReplaceAllStringFunc(text, r.by)
			} else {
				text = s.from.ReplaceAllString(text, s.to)
			}
		}
		if text != was {
			return text
		}
	}
	return line
}

// dated tells of a line whether a date is written around it, in lines that were added.
func (v *view) dated(n int) bool {
	for i := max(0, n-around); i <= min(len(v.said)-1, n+around); i++ {
		if v.added[i] && writtenDate.MatchString(v.said[i]) {
			return true
		}
	}
	return false
}

// touched: what is around a sign was neutralized by one before it.
func touched(done []Sign, s Sign) bool {
	return len(done) > 0 && s.Line-done[len(done)-1].Line <= around && s.Kind == done[len(done)-1].Kind
}

// testWords are names of tests, test files and runners, in a string.
var testWords = regex.New(`(?i:(?:^|[^a-z])(?:tests?|__tests__|testing|testdata|unittest|pytest|py\.test|nose2?|junit|testng|xunit|nunit|jest|vitest|mocha|jasmine|ava|tap|rspec|minitest|phpunit|bats|specs?|expected|golden|fixtures?|want|cases|snapshots?)(?:[^a-z]|$))|[a-z](?:Tests?|Spec)(?:[^a-z]|$)|(?:^|[^A-Za-z])Test[A-Z]|surefire|sun\.java\.command`)

var (
	stringsOfLine  = regex.New(`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|` + "`[^`]*`")
	patternsOfLine = regex.New(`([(=,:!&|?>]\s*)/((?:\\.|[^/\\\s])+)/`)
	importOfGo     = regex.New(`^\s*(?:import\b.*|(?:[\w.]+\s+)?"[^"]*"\s*)$`)
	wordsOfShell   = regex.New(`(?i)([*/"'])[\w-]*(?:tests?|specs?|expected|golden|fixtures?|want|bats)(?:[._-]\w+)*\b|\b(?:tests?|specs?|expected|golden|fixtures?|want|bats)([*/."'])`)
)

// untested is a line in which no string names a test any more.
func untested(file, line, said string) string {
	if strings.TrimSpace(said) == "" {
		return line // a comment
	}
	if isAny(golang, file) && importOfGo.MatchString(said) {
		return line
	}
	if isAny(shell, file) {
		return wordsOfShell.ReplaceAllString(line, "${1}"+absent+"${2}")
	}
	line = stringsOfLine.ReplaceAllStringFunc(line, func(s string) string {
		if !testWords.MatchString(s[1 : len(s)-1]) {
			return s
		}
		return s[:1] + absent + s[len(s)-1:]
	})
	if !isAny(script, file) {
		return line
	}
	return patternsOfLine.ReplaceAllStringFunc(line, func(s string) string {
		m := patternsOfLine.FindStringSubmatch(s)
		if !testWords.MatchString(m[2]) {
			return s
		}
		return m[1] + "/" + absent + "/"
	})
}
