package sign

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// absent is a name that does not occur anywhere.
const absent = "pawlAbsent"

// contextLines is how many lines around a sign are searched and neutralized with it.
const contextLines = 8

// replacement replaces text in a line. The result must still compile.
type replacement struct {
	from *regex.Regex
	to   string
}

// Neutralize returns the file with the signs of the change made ineffective: a check whether tests
// run returns false, exits and always-true equalities are removed, patched assertions and
// suppressed checks are restored, names of tests are replaced, names built from parts are
// joined, and dates have passed. pick selects the signs, nil = all. It also returns the signs
// that were neutralized. It does not add or remove lines.
func (c *Change) Neutralize(pick func(Sign) bool) ([]byte, []Sign) {
	return c.neutralize(c.view, programRules(), pick)
}

// NeutralizeTest is Neutralize for a test file: a test fails if it does not reach its
// assertion.
func (c *Change) NeutralizeTest(pick func(Sign) bool) ([]byte, []Sign) {
	return c.neutralize(c.tests, testRules(), pick)
}

func (c *Change) neutralize(view func() *view, rules ruleFinder, pick func(Sign) bool) ([]byte, []Sign) {
	v := view()
	found, after := v.hits(rules(v.programName)), string(c.After)
	if pick != nil {
		found = slices.DeleteFunc(found, func(h hit) bool { return !pick(h.Sign) })
	}
	lines := slices.Clone(v.text)
	var done []Sign
	for _, h := range found {
		if h.rule.keepInMain && v.main() || h.rule.needsDate && !v.hasNearbyDate(h.Line-1) || h.rule.outsideLoops && v.isInLoop(h.Line-1) {
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
					put(n, withoutTestNames(v.programName, joinStrings(lines[n]), v.joinedStrings[n]))
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

// replace returns a line with the rule's replacements, made in the line or else in its version
// with full names.
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

// hasNearbyDate reports whether an added line near this one contains a date.
func (v *view) hasNearbyDate(n int) bool {
	for i := max(0, n-contextLines); i <= min(len(v.uncommented)-1, n+contextLines); i++ {
		if v.added[i] && writtenDate.MatchString(v.uncommented[i]) {
			return true
		}
	}
	return false
}

// isInLoop reports whether a line is in a loop, or in a block within one.
func (v *view) isInLoop(n int) bool {
	indent := source.Indent(v.code[n])
	for i := n; i >= 0 && (indent > 0 || i == n); i-- {
		line := v.code[i]
		if i < n && (strings.TrimSpace(line) == "" || source.Indent(line) >= indent) {
			continue
		}
		if loopHead.MatchString(line) {
			return true
		}
		indent = source.Indent(line)
	}
	return false
}

// loopHead matches the beginning of a loop.
var loopHead = regex.New(`(?:^|[;{}]|\basync)\s*(?:for|while|until|loop|do|repeat)\b`)

// wasNeutralized reports whether the lines around a sign were neutralized with an earlier one.
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

// withoutTestNames returns a line without names of tests in its strings.
func withoutTestNames(file, line, said string) string {
	if strings.TrimSpace(said) == "" {
		return line // a comment
	}
	if source.HasExtension(golang, file) && goImportLine.MatchString(said) {
		return line
	}
	if source.HasExtension(shell, file) {
		return shellTestWord.ReplaceAllString(line, "${1}"+absent+"${2}")
	}
	line = stringLiteral.ReplaceAllStringFunc(line, func(s string) string {
		if !testWords.MatchString(s[1 : len(s)-1]) {
			return s
		}
		return s[:1] + absent + s[len(s)-1:]
	})
	if !source.HasExtension(script, file) {
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
