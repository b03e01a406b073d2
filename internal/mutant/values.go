package mutant

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Tests of honest work fail when their own values are others: what they expect is then
// wrong, or what they ask for leads elsewhere. Tests that pass all the same compare
// nothing, or are answered by a program that does not look at what it is asked.

// TestValues are the values in a file of tests, each as the mutant that puts another in
// its place.
type TestValues struct {
	Expected []Mutant // what results are compared with; each is changed a little
	Inputs   []Mutant // what the program is asked for; each is changed as a whole, the same text always to the same
	Mixed    []Mutant // the same, no two alike, each longer or not in the order of the others
	Close    []Mutant // the same, each a step on
	Closer   []Mutant // two steps on
	Telling  []string // expected values that other inputs do not lead to by chance
}

// The kinds of mutants of a test's values.
const (
	wrong   Kind = "wrong"   // another value is expected
	another Kind = "another" // another input is given
)

// Values finds the values in a file of tests: in those of these names and in front of
// them, or in all if no names are given. A call of one of the work's own functions is no
// assertion, whatever its name: deepEqual may be what is tested. Of a language that is not known, and of a file
// that has none of the names, there are none.
func Values(file string, content []byte, names, own []string) TestValues {
	if generated(content) {
		return TestValues{}
	}
	if IsExpected(file) && len(names) == 0 {
		return TestValues{Expected: Nudged(content)}
	}
	style, ok := styleOfTest(file)
	if !ok {
		return TestValues{}
	}
	t := testText{text: string(content), code: source.Bare(string(content), style).Code, own: own, shell: shell.MatchString(file), data: path.Ext(file) == ".json"}
	t.compares = t.data || comparing.MatchString(t.code)
	t.messageFirst = slices.Contains([]string{".java", ".kt", ".scala", ".php"}, path.Ext(file))
	if path.Ext(file) == ".rs" {
		t.from = max(0, strings.Index(t.code, "#[cfg(test)]"))
	}
	t.read(style)
	t.keep(names)
	var v TestValues
	asked, roles := map[string]bool{}, make([]Kind, len(t.values))
	for i, l := range t.values {
		if roles[i] = t.role(i); roles[i] == another {
			if m, ok := l.rotated(); ok {
				v.Inputs = append(v.Inputs, m)
			}
			if m, ok := l.mixed(i); ok {
				v.Mixed = append(v.Mixed, m)
			}
			if m, ok := l.stepped(1); ok {
				v.Close = append(v.Close, m)
			}
			if m, ok := l.stepped(2); ok {
				v.Closer = append(v.Closer, m)
			}
			asked[l.text] = true
		}
	}
	for i, l := range t.values {
		if roles[i] == wrong {
			v.Expected = append(v.Expected, l.nudged(len(v.Expected)))
			if (l.rich() || asked[l.text]) && !slices.Contains(v.Telling, l.text) {
				v.Telling = append(v.Telling, l.text)
			}
		}
	}
	return v
}

// Failing is a file of tests that fails when it is run, but can be read: what passes with
// it does not run it. Of a language for which there is none it is one that cannot be read.
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

// IsData tells of a file's name that it is not a program.
func IsData(file string) bool {
	_, code := styleOfTest(file)
	return !code || path.Ext(file) == ".json"
}

// IsExpected tells of the name of a file that it holds what is expected, as one value.
func IsExpected(file string) bool { return IsData(file) && expectedFile.MatchString(file) }

// Nudged is what makes a file a little other than it is, as one value; nothing of a file
// without letters and digits.
func Nudged(content []byte) []Mutant {
	text := string(content)
	if !strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsFunc(text, unicode.IsDigit) {
		return nil
	}
	return []Mutant{testValue{kind: 's', to: len(text), text: text}.nudged(0)}
}

// TextOf is the text of the tests of these names in a file; all of it if no names are
// given.
func TextOf(file string, content []byte, names []string) string {
	style, ok := styleOfTest(file)
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
	return all.String()
}

var expectedFile = regex.New(`(?i)(?:^|[/._-])(?:expected|golden|want|approved|__snapshots__|stdout)(?:[/._-]|$)|\.(?:snap|out|golden)$`)

// styleOfTest is how a file of this name writes strings and comments.
func styleOfTest(file string) (source.Style, bool) {
	if l := languageOf(file); l != nil {
		return l.style, true
	}
	switch path.Ext(file) {
	case ".go":
		return goStyle(), true
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".kt", ".cs", ".swift", ".scala":
		s := source.CStyle(`"`)
		s.Char = true
		return s, true
	case ".json":
		return source.CStyle(`"`), true
	case ".sh", ".bash", ".bats":
		return source.Style{Lines: []string{"# "}, Quotes: []string{`"`, "'"}}, true
	case ".php":
		return source.CStyle(`"`, "'"), true
	case ".rb":
		return source.Style{Lines: []string{"#"}, Quotes: []string{`"`, "'"}}, true
	}
	return source.Style{}, false
}

// starts are the places where tests begin.
func (t *testText) starts() [][]int {
	if t.begins == nil {
		t.begins = testBegins.FindAllStringIndex(t.code, -1)
	}
	return t.begins
}

// ends is where the test of this number does, and that of number -1 the text before all.
func (t *testText) ends(n int) int {
	if starts := t.starts(); n+1 < len(starts) {
		return starts[n+1][0]
	}
	return len(t.text)
}

// named tells whether the test of this number has one of these names.
func (t *testText) named(n int, names []string) bool {
	starts := t.starts()
	to := starts[n][1] + maxHead
	if !strings.HasPrefix(strings.TrimSpace(t.text[starts[n][0]:]), "@") {
		to = min(to, t.ends(n)) // else its name may stand behind what it is given
	} else if n+1 < len(starts) {
		to = starts[n+1][1] + maxHead
	}
	head := t.text[starts[n][0]:min(len(t.text), to)]
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(head, name) })
}

const maxHead = 120

// testBegins matches what a test begins with.
var testBegins = regex.New(`(?m)^[ \t]*(?:func[ \t]+(?:\([^)]*\)[ \t]*)?(?:Test|Fuzz|Example|Benchmark)|(?:async[ \t]+)?def[ \t]+test|(?:(?:pub|async)[ \t]+)*fn[ \t]|(?:test|it|specify|scenario)(?:\.\w+)*[ \t]*\(|@(?:Parameterized)?Test\b|@(?:pytest\.mark|parameterized|ddt|data)\b|(?:TEST|TEST_F|TEST_CASE)\(|it[ \t]+["'])`)

// bracket is one that is open where a value stands.
type bracket struct {
	at     int
	open   byte
	callee string // of a parenthesis: what it calls, as it is written; "" where it groups
}

// testText is a file of tests with the values in it.
type testText struct {
	text, code  string
	from        int            // where tests begin
	begins      [][]int        // where each does, see starts
	defines     map[string]int // see definitions
	own         []string       // functions of the work
	shell, data bool           // it is a script of a shell, or no program

	compares     bool // somewhere in it values are compared
	messageFirst bool // an assertion's first argument may be what is said if it fails
	values       []testValue
}

var shell = regex.New(`\.(?:sh|bash|bats)$`)

// read finds the values and, of each, the brackets around it.
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
		if l.around = slices.Clone(open); i >= t.from && !t.skipped(i) && l.to > l.from {
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

// valueAt is the value that begins at a place of the code.
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
	if isWordByte(before) || before == '.' {
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

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// skipped tells of a line that holds no values of tests: it imports, or annotates.
func (t *testText) skipped(at int) bool { return noValues.MatchString(t.line(at)) }

func (t *testText) line(at int) string {
	from := strings.LastIndexByte(t.code[:at], '\n') + 1
	return strings.TrimSpace(t.code[from : from+source.LineEnd(t.code[from:])])
}

var noValues = regex.New(`^(?:import\b|from\b|package\b|use\s|using\b|#|require\b|include\b|@(?:Test|Rule|Before|After)|module\b|extern\b)`)
