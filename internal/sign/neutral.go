package sign

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// absent is a name that nothing has.
const absent = "pawlAbsent"

// contextLines is how many lines before and after a question its answer may stand.
const contextLines = 8

// replacement puts text in the place of other text of a line. It leaves code that builds.
type replacement struct {
	from *regex.Regex
	to   string
}

// Neutralize is a file with its signs made ineffective, where the change from before made
// them: the question whether it is being tested is answered no, an exit or an equality
// that always holds is left out, a changed assertion stays as it was, names of tests
// become names of nothing, a name put together from parts is in one piece, a check is no longer switched off, a date has passed. It does so
// with the signs that are picked, nil = all, and returns those of which it is possible; of none, the file as it is. Lines stay where they are.
func (c *Change) Neutralize(pick func(Sign) bool) ([]byte, []Sign) {
	return c.neutralize(c.view, programRules(), pick)
}

// NeutralizeTest is the same for a file of tests: assertions that may not be reached are, or
// the test fails.
func (c *Change) NeutralizeTest(pick func(Sign) bool) ([]byte, []Sign) {
	return c.neutralize(c.tests, testRules(), pick)
}

func (c *Change) neutralize(view func() *view, rules ruleFinder, pick func(Sign) bool) ([]byte, []Sign) {
	if !IsProgram(c.File) {
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
		if h.rule.keepInMain && v.main() || h.rule.needsDate && !v.hasNearbyDate(h.Line-1) {
			continue
		}
		changed := false
		put := func(n int, text string) {
			changed = changed || text != lines[n]
			lines[n] = text
		}
		first, last := h.Line-1, h.Line-1
		if h.rule.everyLine {
			last = h.last
		}
		for n := first; n <= last; n++ {
			put(n, h.rule.replace(v, lines[n]))
		}
		if h.rule.hasContext {
			for n := max(0, first-contextLines); n <= min(len(lines)-1, last+contextLines); n++ {
				if v.added[n] {
					put(n, withoutTestNames(v.file, joinStrings(lines[n]), v.joinedStrings[n]))
				}
			}
		}
		if changed || strings.Join(lines, "\n") != after && wasNeutralized(done, h.Sign) {
			done = append(done, h.Sign)
		}
	}
	if len(done) == 0 {
		return c.After, nil
	}
	return []byte(strings.Join(lines, "\n")), done
}

// replace is a line with a rule's swaps made, in its full names if they do not fit else.
func (r rule) replace(v *view, line string) string {
	for _, text := range []string{line, v.expandLine(line)} {
		was := text
		for _, s := range r.replacements {
			if r.replaceFunc != nil {
				text = s.from.ReplaceAllStringFunc(text, r.replaceFunc)
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

// hasNearbyDate tells of a line whether a date is written around it, in lines that were added.
func (v *view) hasNearbyDate(n int) bool {
	for i := max(0, n-contextLines); i <= min(len(v.uncommented)-1, n+contextLines); i++ {
		if v.added[i] && writtenDate.MatchString(v.uncommented[i]) {
			return true
		}
	}
	return false
}

// wasNeutralized: what is around a sign was neutralized by one before it.
func wasNeutralized(done []Sign, s Sign) bool {
	return len(done) > 0 && s.Line-done[len(done)-1].Line <= contextLines && s.Kind == done[len(done)-1].Kind
}

// testWords are names of tests, test files and runners, in a string.
var testWords = regex.New(`(?i:(?:^|[^a-z])(?:tests?|__tests__|testing|testdata|unittest|pytest|py\.test|nose2?|junit|testng|xunit|nunit|jest|vitest|mocha|jasmine|ava|tap|rspec|minitest|phpunit|bats|specs?|expected|golden|fixtures?|want|cases|snapshots?)(?:[^a-z]|$))|[a-z](?:Tests?|Spec)(?:[^a-z]|$)|(?:^|[^A-Za-z])Test[A-Z]|surefire|sun\.java\.command`)

var (
	stringLiteral = regex.New(`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|` + "`[^`]*`")
	regexLiteral  = regex.New(`([(=,:!&|?>]\s*)/((?:\\.|[^/\\\s])+)/`)
	goImportLine  = regex.New(`^\s*(?:import\b.*|(?:[\w.]+\s+)?"[^"]*"\s*)$`)
	shellTestWord = regex.New(`(?i)([*/"'])[\w-]*(?:tests?|specs?|expected|golden|fixtures?|want|bats)(?:[._-]\w+)*\b|\b(?:tests?|specs?|expected|golden|fixtures?|want|bats)([*/."'])`)
)

// withoutTestNames is a line in which no string names a test any more.
func withoutTestNames(file, line, said string) string {
	if strings.TrimSpace(said) == "" {
		return line // a comment
	}
	if hasExtension(golang, file) && goImportLine.MatchString(said) {
		return line
	}
	if hasExtension(shell, file) {
		return shellTestWord.ReplaceAllString(line, "${1}"+absent+"${2}")
	}
	line = stringLiteral.ReplaceAllStringFunc(line, func(s string) string {
		if !testWords.MatchString(s[1 : len(s)-1]) {
			return s
		}
		return s[:1] + absent + s[len(s)-1:]
	})
	if !hasExtension(script, file) {
		return line
	}
	return regexLiteral.ReplaceAllStringFunc(line, func(s string) string {
		m := regexLiteral.FindStringSubmatch(s)
		if !testWords.MatchString(m[2]) {
			return s
		}
		return m[1] + "/" + absent + "/"
	})
}
