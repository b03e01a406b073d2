package mutant

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Honest work fails with other values in its tests: their expectations are wrong, or their inputs give
// other results. If tests still pass, they compare nothing, or the program ignores its input.

// TestValues are the values in a test file, each as the mutant that replaces it.
type TestValues struct {
	Expected    []Mutant    // compared with results; each changes a little
	Inputs      []Mutant    // given to the program; equal texts change equally
	Mixed       []Mutant    // the same, all different, longer or in another order
	Distinctive []string    // expected values that other inputs do not give by chance
	Rows        [][2]string // inputs, each with the expected value that follows it
}

// The kinds of mutants of a test's values.
const (
	wrong   Kind = "wrong"   // another value is expected
	another Kind = "another" // another input is given
)

// Values returns the values in the named tests of a file and before the first test; no names = all.
// A call of one of the work's own functions is no assertion, whatever its name: deepEqual may be
// under test. It returns none for unknown languages, or if the file has none of the names.
func Values(file string, content []byte, names, own []string) TestValues {
	if source.IsGenerated(content) {
		return TestValues{}
	}
	if IsExpected(file) && len(names) == 0 {
		return TestValues{Expected: Nudged(content)}
	}
	style, ok := source.StyleOf(file)
	if !ok {
		return TestValues{}
	}
	t := testText{text: string(content), code: source.Bare(string(content), style).Code, workFunctions: own, shell: shell.MatchString(file) || path.Ext(file) == ".t" && !perl.Match(content), data: path.Ext(file) == ".json"}
	t.compares = t.data || comparing.MatchString(t.code)
	t.messageFirst = slices.Contains([]string{".java", ".kt", ".scala", ".php"}, path.Ext(file))
	if path.Ext(file) == ".rs" {
		t.from = max(0, strings.Index(t.code, "#[cfg(test)]"))
	}
	t.read(style)
	t.keepNamed(names)
	var v TestValues
	asked, roles := map[string]bool{}, make([]Kind, len(t.values))
	for i, l := range t.values {
		if roles[i] = t.roleOf(i); roles[i] == wrong && t.isGiven(l) {
			roles[i] = ""
		}
		if roles[i] == another {
			if m, ok := l.rotate(); ok {
				v.Inputs = append(v.Inputs, m)
			}
			if m, ok := l.mix(i); ok {
				v.Mixed = append(v.Mixed, m)
			}
			asked[l.text] = true
		}
	}
	for i, l := range t.values {
		if roles[i] == wrong {
			if i > 0 && roles[i-1] == another {
				v.Rows = append(v.Rows, [2]string{t.values[i-1].text, l.text})
			}
			nudged := l
			if t.shell {
				nudged = l.number()
			}
			v.Expected = append(v.Expected, nudged.nudge(len(v.Expected)))
			if (l.isDistinctive() || asked[l.text]) && !slices.Contains(v.Distinctive, l.text) {
				v.Distinctive = append(v.Distinctive, l.text)
			}
		}
	}
	return v
}

// Failing returns a test file that fails when run, but parses. A gate that passes with it does not
// run it. For unknown languages the result does not parse.
func Failing(file string, content []byte) []byte {
	at := func(i int, text string) []byte {
		return slices.Concat(content[:i], []byte(text), content[i:])
	}
	switch path.Ext(file) {
	case ".go":
		return at(len(content), "\nfunc init() { panic(\"pawl\") }\n")
	case ".c", ".cc", ".cpp", ".cxx":
		return at(len(content), "\n__attribute__((constructor)) static void pawl_fails(void) { __builtin_trap(); }\n")
	case ".py":
		return at(0, "raise SystemExit(\"pawl\")\n")
	case ".js", ".cjs", ".mjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return at(0, "if (true) throw new Error('pawl');\n")
	case ".rb":
		return at(0, "raise 'pawl'\n")
	case ".sh", ".bash":
		return at(0, "exit 1\n")
	case ".java":
		if m := classOfJava.FindIndex(content); m != nil {
			return at(m[1], " static { if (true) throw new Error(\"pawl\"); }")
		}
	}
	return at(0, ")]} pawl (\n")
}

var classOfJava = regex.New(`(?m)^(?:public\s+|final\s+)*class\s[^{]*\{`)

// IsData reports whether a file name is no program's.
func IsData(file string) bool {
	_, code := source.StyleOf(file)
	return !code || path.Ext(file) == ".json"
}

// IsExpected reports whether a file name is that of expected output, as one value.
func IsExpected(file string) bool { return IsData(file) && expectedFile.MatchString(file) }

// Nudged returns the mutants that change a file a little, or none without letters and digits.
func Nudged(content []byte) []Mutant {
	text := string(content)
	if !strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsFunc(text, unicode.IsDigit) {
		return nil
	}
	return []Mutant{testValue{kind: 's', to: len(text), text: text}.nudge(0)}
}

// TextOf returns the text of the named tests, with the text before the first test; no names = all.
// It is "" if the file has none of the names.
func TextOf(file string, content []byte, names []string) string {
	style, ok := source.StyleOf(file)
	text := string(content)
	if !ok || len(names) == 0 {
		return text
	}
	t := testText{text: text, code: source.Bare(text, style).Code}
	var all strings.Builder
	for n, start := range t.starts() {
		if t.named(n, names) {
			all.WriteString(text[start[0]:t.ends(n)])
		}
	}
	if all.Len() == 0 {
		return ""
	}
	return text[:t.starts()[0][0]] + all.String()
}

var expectedFile = regex.New(`(?i)(?:^|[/._-])(?:expected|golden|want|approved|__snapshots__|stdout)(?:[/._-]|$)|\.(?:snap|out|golden)$`)

// starts returns where tests begin.
func (t *testText) starts() [][]int {
	if t.begins == nil {
		t.begins = testBegins.FindAllStringIndex(t.code, -1)
	}
	return t.begins
}

// ends returns where the n-th test ends; -1 = the text before all.
func (t *testText) ends(n int) int {
	if starts := t.starts(); n+1 < len(starts) {
		return starts[n+1][0]
	}
	return len(t.text)
}

// named reports whether the n-th test has one of these names.
func (t *testText) named(n int, names []string) bool {
	starts := t.starts()
	to := starts[n][1] + maxHead
	if !strings.HasPrefix(strings.TrimSpace(t.text[starts[n][0]:]), "@") {
		to = min(to, t.ends(n)) // otherwise its name may follow its arguments
	} else if n+1 < len(starts) {
		to = starts[n+1][1] + maxHead
	}
	head := t.text[starts[n][0]:min(len(t.text), to)]
	if variableTitle.MatchString(head) { // it may have each name that the file does not contain
		return slices.ContainsFunc(names, func(name string) bool { return !containsName(t.text, name) })
	}
	return slices.ContainsFunc(names, func(name string) bool { return containsName(head, name) })
}

// variableTitle matches the head of a test that has its title from a variable.
var variableTitle = regex.New(`^\s*(?:test|it|specify|scenario)(?:\.\w+)*[ \t]*\(\s*[A-Za-z_$][\w$.]*\s*,`)

// containsName reports whether a test's head has its whole name: TestPush is not TestPushAndPop,
// and "adds" not "adds again". A title may end with what a row of a table fills in.
func containsName(head, name string) bool {
	for from := 0; ; {
		at := strings.Index(head[from:], name)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(name)
		rest := head[from:]
		title := ""
		if at > 0 && strings.IndexByte("\"'`", head[at-1]) >= 0 {
			title, _, _ = strings.Cut(rest, head[at-1:at])
		}
		if (rest == "" || !source.IsWord(rest[0]) || !source.IsWord(name[len(name)-1])) && (title == "" || strings.ContainsAny(title, "%$#{")) {
			return true
		}
	}
}

const maxHead = 120

// testBegins matches the beginning of a test.
var testBegins = regex.New(`(?m)^[ \t]*(?:func[ \t]+(?:\([^)]*\)[ \t]*)?(?:Test|Fuzz|Example|Benchmark)|(?:async[ \t]+)?def[ \t]+test|(?:(?:pub|async)[ \t]+)*fn[ \t]|(?:test|it|specify|scenario)(?:\.\w+)*[ \t]*\(|@(?:Parameterized)?Test\b|@(?:pytest\.mark|parameterized|ddt|data)\b|(?:TEST|TEST_F|TEST_CASE)\(|it[ \t]+["'])`)

// bracket is a bracket around a value.
type bracket struct {
	at     int
	open   byte
	callee string // called function of a parenthesis; "" = grouping
}

// testText is a test file with its values.
type testText struct {
	text, code    string
	from          int            // where tests begin
	begins        [][]int        // where each begins, see starts
	defines       map[string]int // see definitions
	workFunctions []string       // functions of the work
	shell, data   bool           // it is a script of a shell, or no program

	compares     bool // somewhere values are compared
	messageFirst bool // an assertion's first argument may be its message
	values       []testValue
}

var (
	shell = regex.New(`\.(?:sh|bash|bats)$`)
	perl  = regex.New(`(?m)^use\s|^#!.*perl`)
)

// read finds the values and the brackets around each.
func (t *testText) read(style source.Style) {
	var open []bracket
	for i := 0; i < len(t.code); {
		c := t.code[i]
		switch {
		case strings.IndexByte("([{", c) >= 0:
			b := bracket{at: i, open: c}
			if c == '(' {
				b.callee = callee.FindString(t.code[max(0, i-maxCallee):i])
				if notCalled.MatchString(b.callee) {
					b.callee = ""
				}
			}
			open = append(open, b)
		case strings.IndexByte(")]}", c) >= 0 && len(open) > 0:
			open = open[:len(open)-1]
		}
		l, ok := t.valueAt(i, style)
		if !ok {
			i++
			continue
		}
		if l.around = slices.Clone(open); i >= t.from && !noValueLine.MatchString(t.line(i)) && l.to > l.from {
			t.values = append(t.values, l)
		}
		i = max(l.end, i+1)
	}
}

const maxCallee = 80

var comparing = regex.New(`[^=!<>]==|!=|(?i:equals?\w*|\bis|tobe|_eq!?)\s*\(`)

var (
	callee     = regex.New(`[\w$.:!?]*[\w!?$]\s*$`)
	notCalled  = regex.New(`(?:^|\s)(?:if|for|while|switch|return|assert|and|or|not|in|range|elif|yield|await|case|match|new|function|func|catch)\s*$`)
	numberHere = regex.New(`^\d[\d_]*(?:\.\d+)?`)
	boolHere   = regex.New(`^(?:true|false|True|False)\b`)
)

// valueAt returns the value that begins at a place.
func (t *testText) valueAt(i int, style source.Style) (testValue, bool) {
	c := t.code[i]
	before := byte(' ')
	if i > 0 {
		before = t.code[i-1]
	}
	for _, q := range style.Quotes {
		if !strings.HasPrefix(t.code[i:], q) {
			continue
		}
		n := strings.Index(t.code[i+len(q):], q)
		if n < 0 {
			return testValue{}, false
		}
		from, to := i+len(q), i+len(q)+n
		l := testValue{kind: 's', from: from, to: to, text: t.text[from:to], begin: i, end: to + len(q)}
		if len(q) > 1 || before == 'f' || strings.ContainsAny(l.text, "$`") || strings.Contains(l.text, `\x`) || strings.Contains(l.text, `\u`) {
			return testValue{end: to + len(q)}, true // it is passed over
		}
		return l, true
	}
	if source.IsWord(before) || before == '.' {
		return testValue{}, false
	}
	kind, m := byte('b'), boolHere.FindString(t.code[i:min(len(t.code), i+8)])
	if c >= '0' && c <= '9' {
		kind, m = 'n', numberHere.FindString(t.code[i:])
		if strings.HasPrefix(t.code[i:], "0x") || strings.HasPrefix(t.code[i:], "0b") || strings.HasPrefix(t.code[i:], "0o") {
			return testValue{}, false
		}
	}
	return testValue{kind: kind, from: i, to: i + len(m), text: m, begin: i, end: i + len(m)}, m != ""
}

func (t *testText) line(at int) string {
	from := strings.LastIndexByte(t.code[:at], '\n') + 1
	return strings.TrimSpace(t.code[from : from+source.LineEnd(t.code[from:])])
}

// noValueLine matches an import or annotation.
var noValueLine = regex.New(`^(?:import\b|from\b|package\b|use\s|using\b|#|require\b|include\b|@(?:Test|Rule|Before|After)|module\b|extern\b)`)
