package mutant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// roleOf says what the n-th value is for: wrong = expected, another = input, "" = unsure.
func (t *testText) roleOf(n int) Kind {
	l := t.values[n]
	if t.shell {
		return t.shellRole(l)
	}
	if kind, ok := t.comparedRole(l.begin, l.end, l.around); ok {
		return kind
	}
	for i, b := range slices.Backward(l.around) {
		switch {
		case collectionCall.MatchString(b.callee):
		case b.callee != "":
			return t.argumentRole(n, b, i)
		case b.open == '[' && b.at > 0 && (source.IsWord(t.code[b.at-1]) || t.code[b.at-1] == ')' || t.code[b.at-1] == ']'):
			return "" // an index
		case t.isBlock(b):
			return t.tableRole(n)
		}
		if kind, ok := t.comparedRole(t.collection(b), t.closingBracket(b.at), l.around[:i]); ok {
			return kind
		}
	}
	return t.tableRole(n)
}

// shellRole says what a word of a shell script is for. Words that a test or assertion compares are
// expected.
func (t *testText) shellRole(l testValue) Kind {
	line := t.line(l.begin)
	before := strings.TrimRight(t.text[:l.begin], " ")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if finds.MatchString(before) && !finding.MatchString(line) && !strings.ContainsAny(l.text, `[\*$^`) {
		return wrong
	}
	if operator.MatchString(before) && !argumentOf.MatchString(before) || asserts.MatchString(line) && strings.HasSuffix(line, strings.TrimSpace(t.code[l.begin:l.end])) {
		return wrong
	}
	return ""
}

var (
	operator   = regex.New(`(?:\[|\btest) .*(?:\s(?:==?|!=)|-(?:eq|ne))$`)
	argumentOf = regex.New(`"?\$[{]?[#?@*0-9][^ ]*\s*(?:==?|!=|-eq|-ne)$`)
	// finds matches what precedes a text that grep must find, and finding lines where it may be missing.
	finds   = regex.New(`(?:^|[\s|;])[ef]?grep(?:\s+-[a-zA-Z]+)*$`)
	finding = regex.New(`^(?:!|if\b|while\b|until\b)|&&|\bgrep\s+-[a-zA-Z]*[cLv]|=\s*"?\$\(`)
	asserts = regex.New(`^(?:assert_?(?:equals?|output|eq|same)|check|expect|is)\b`)
)

// collectionCall matches calls that make a collection of their arguments.
var collectionCall = regex.New(`(?i)(?:^|\.)(?:of|as_?list|\w*listof|\w*arrayof|\w*setof|\w*mapof|list|tuple|set|dict|array|vec!?|freeze)\s*$`)

// isBlock reports whether a brace contains statements.
func (t *testText) isBlock(b bracket) bool {
	before := strings.TrimRight(t.code[max(0, b.at-maxCallee):b.at], " \t\n")
	return b.open == '{' && (opensBlock.MatchString(before) || !typedValues.MatchString(before) && statement.MatchString(t.line(b.at)))
}

var (
	typedValues = regex.New(`[\]}][\w.*]*$`)
	statement   = regex.New(`^(?:\}\s*)?(?:else|if|for|while|switch|select|try|catch|do|class|static|public|private|void|int|func|function)\b`)
)

// opensBlock matches what precedes a block's brace.
var opensBlock = regex.New(`(?:\)|=>|->|\b(?:else|do|try|finally|begin))$`)

// collection returns where a collection begins, with its type: []string{.
func (t *testText) collection(b bracket) int {
	return b.at - len(typeOfCollection.FindString(t.code[max(0, b.at-maxCallee):b.at]))
}

var typeOfCollection = regex.New(`(?:(?:new\s+|&|vec!)?(?:\[\w*\])*[\w.]*(?:\[\w*\])*\s*)$`)

// closingBracket returns the place after a bracket's end.
func (t *testText) closingBracket(at int) int {
	depth := 0
	for i := at; i < len(t.code); i++ {
		if depth += source.Depth(t.code[i]); depth == 0 && source.Depth(t.code[i]) < 0 {
			return i + 1
		}
	}
	return len(t.code)
}

// comparedRole says what a range is for that a comparison uses.
func (t *testText) comparedRole(from, to int, around []bracket) (Kind, bool) {
	before, after := strings.TrimRight(t.code[:from], " \t\n-"), strings.TrimLeft(t.code[to:], " \t\n")
	op := equals.FindString(before[max(0, len(before)-3):])
	if op == "" {
		op = equalsThen.FindString(after)
	}
	if op == "" {
		return "", false
	}
	line := t.line(from)
	asserts := strings.HasPrefix(line, "assert") || slices.ContainsFunc(around, func(b bracket) bool { return asserting.MatchString(b.callee) })
	switch {
	case loops.MatchString(line), counts.MatchString(line), skips.MatchString(t.code[to:min(len(t.code), to+maxCallee)]):
		return "", true
	case strings.HasPrefix(op, "!") == asserts:
		if op[0] == '=' && !strings.HasPrefix(line, "if") && !strings.HasPrefix(line, "} else if") {
			return wrong, true
		}
		return "", true
	}
	return wrong, true
}

var (
	equals     = regex.New(`(?:===|!==|==|!=)$`)
	equalsThen = regex.New(`^(?:===|!==|==|!=)`)
	asserting  = regex.New(`(?i)assert|expect|\bok\b|require|check|ensure|\bis\b|verify`)
	counts     = regex.New(`(?i)\b(?:fail\w*|err\w*|bad|broken)\s*(?:[=!]==?|[<>])`)
	loops      = regex.New(`^(?:while|for|until)\b`)
	skips      = regex.New(`^[^\n]*\n?\s*[\w.]*[sS]kip`)
)

// argumentRole says what an argument of a call is for; i is the call's index among the brackets.
func (t *testText) argumentRole(n int, call bracket, i int) Kind {
	name := strings.TrimSpace(call.callee)
	last := name[strings.LastIndexAny(name, ".:")+1:]
	switch {
	case tables.MatchString(last):
		return t.tableRole(n)
	case quiet.MatchString(last), asksText.MatchString(last) && !slices.Contains(t.workFunctions, last):
		return ""
	case negative.MatchString(name):
		return ""
	case equal.MatchString(last) && !slices.Contains(t.workFunctions, last):
		if t.isMessage(n, call) {
			return ""
		}
		return wrong
	case t.values[n].kind == 'b':
		return ""
	case i == len(t.values[n].around)-1 && t.isAssertHelper(last, slices.Index(t.arguments(call), t.codeOf(n))):
		return wrong
	}
	return another
}

var (
	tables = regex.New(`(?i)^(?:parametrize|each|cases?|table|entry|arguments)$`)
	quiet  = regex.New(`(?i)^(?:test|it|describe|context|suite|run|subtest|subtests|printf?|println!?|eprintln!?|fprintf|sprintf|format!?|puts|errorf?|fatalf?|fatal|logf?|fail\w*|throws?\w*|rejects|raises|assertraises\w*|assertthrows\w*|require|import|include|skip\w*|\w*exit|\w*error|\w*exception|warn\w*|die|todo|timeout|settimeout|sleep|isinstance|panic!?|environ|setenv|getenv|mkdtemp|tempdir|displayname|named|usefaketimers|range|len)$`)
	// asksText matches what libraries ask of a text or object: a runner finds tests by such names.
	asksText = regex.New(`(?i)^(?:starts_?with|ends_?with|has_?(?:prefix|suffix)|(?:full)?match(?:es|string)?|getattr|hasattr)[?]?$`)
	negative = regex.New(`(?i)\.not\.|not_?(?:equal|in|same|contain|be)|assert_ne|_ne\b|doesnot|isnot|refute|notstrict|notdeep|almost|near|close`)
	equal    = regex.New(`(?i)^(?:\w*_?equals?(?:_to)?|\w*equal(?:to|s)?|(?:assert|expect|check|require)_?(?:eq|streq|is|same|in)\w*|assert_eq!|\w*_(?:eq|streq)|eq|is|tobe|toequal|tostrictequal|isequalto|isequal|same|includes|contains\w*|tocontain\w*|assertcontains|has|deepequal|strcmp|strncmp|memcmp)$`)
)

// isMessage reports whether an assertion's argument is its failure message or tolerance.
func (t *testText) isMessage(n int, call bracket) bool {
	args := t.arguments(call)
	if len(args) > 0 && args[0] == "t" {
		args = args[1:] // of Go
	}
	for i, l := range t.values[n].around {
		if l.at == call.at && i+1 < len(t.values[n].around) {
			return false // a collection
		}
	}
	at := slices.Index(args, t.codeOf(n))
	return len(args) > 2 && (at < 0 || at > 1 || at == 0 && t.values[n].kind == 's' && t.messageFirst)
}

// codeOf returns the code of the n-th value.
func (t *testText) codeOf(n int) string {
	return strings.TrimSpace(t.code[t.values[n].begin:t.values[n].end])
}

// arguments returns the code of a call's arguments.
func (t *testText) arguments(call bracket) []string {
	from := call.at + 1
	return splitAtCommas(t.code[from:max(from, t.closingBracket(call.at)-1)])
}

// splitAtCommas returns the parts of code between commas that are in no brackets.
func splitAtCommas(code string) (parts []string) {
	from, depth := 0, 0
	for i := range len(code) {
		if depth += source.Depth(code[i]); depth == 0 && code[i] == ',' {
			parts, from = append(parts, strings.TrimSpace(code[from:i])), i+1
		}
	}
	return append(parts, strings.TrimSpace(code[from:]))
}

// isAssertHelper reports whether the file defines the called function and compares its n-th
// parameter, from 0.
func (t *testText) isAssertHelper(name string, n int) bool {
	at, defined := t.definitions()[name]
	if !defined || n < 0 {
		return false
	}
	params := t.arguments(bracket{at: at})
	if last := len(params) - 1; n > last && strings.Contains(params[last], "...") {
		n = last
	}
	if n >= len(params) {
		return false
	}
	body := t.code[at+1 : min(len(t.code), at+1+maxHelper)]
	return slices.ContainsFunc(identifiers.FindAllString(params[n], -1), func(p string) bool {
		if !strings.Contains(body, p) {
			return false
		}
		return regex.New(`(?:[=!]==?\s*|(?i:equals?|strcmp|memcmp|_eq!?)\([^()]*(?:\([^()]*\)[^()]*)?(?:(?:of|asList|list|tuple|sorted|set)\()?)\b` + p + `\b|\b` + p + `\b\s*(?:[=!]==?|\.\w*(?i:equal|compare)\w*)`).MatchString(body)
	})
}

// definitions maps the file's functions to the parenthesis before their parameters. It caches: a
// file may contain thousands of calls.
func (t *testText) definitions() map[string]int {
	if t.defines == nil {
		t.defines = map[string]int{}
		for _, m := range definition.FindAllStringSubmatchIndex(t.code, -1) {
			name := t.code[max(m[2], m[4]):max(m[3], m[5])]
			if _, earlier := t.defines[name]; !earlier {
				t.defines[name] = m[1] - 1
			}
		}
	}
	return t.defines
}

var definition = regex.New(`(?:\b(?:func|def|function|fn|int|void|bool|boolean|static)\s+)+[*&]?(\w+)\b[^(\n]*\(|` +
	`\b(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b[^(\n]*)?\(`)

const maxHelper = 600

// The places of a value among those of one bracket.
const (
	alone = iota
	firstOfRow
	withinRow
	lastOfRow
)

// position returns the position of a value among those directly in one bracket.
func (t *testText) position(n, depth int) int {
	at := t.values[n].around[depth].at
	first, last := n, n
	in := func(i int) bool {
		return i >= 0 && i < len(t.values) && len(t.values[i].around) > depth && t.values[i].around[depth].at == at
	}
	for in(first - 1) {
		first--
	}
	for in(last + 1) {
		last++
	}
	switch {
	case first == last:
		return alone
	case n == first:
		return firstOfRow
	case n == last:
		return lastOfRow
	}
	return withinRow
}

// tableRole says what a value outside calls is for: by its key, its column, or its variable's name.
func (t *testText) tableRole(n int) Kind {
	l := t.values[n]
	before, after := strings.TrimRight(t.code[:l.begin], " \t-"), strings.TrimLeft(t.code[l.end:], " \t")
	if keyed.MatchString(after) && l.kind != 'b' {
		if t.data {
			return ""
		}
		return another
	}
	before = strings.TrimRight(t.text[:len(before)], " \t")
	if m := key.FindStringSubmatch(before[max(0, len(before)-maxCallee):]); m != nil {
		switch {
		case m[3] == "=" && m[2] == "]" && l.kind == 's': // of C
			return another
		case m[3] != "=" && m[3] != ":=" && !t.inCollection(l):
			return ""
		case wanted.MatchString(m[1]):
			return wrong
		case m[2] != "" && asked.MatchString(m[1]):
			return another
		case m[2] != "" && !named.MatchString(m[1]), m[1] != "" && m[1][0] <= '9':
			return wrong // the key is a value
		case named.MatchString(m[1]) || l.kind == 'b' || l.kind == 'n' && !strings.HasSuffix(before, ":"):
			return ""
		}
		return another
	}
	if d := len(l.around) - 1; d > 0 && t.compares && l.around[d].callee == "" && !t.isBlock(l.around[d-1]) {
		if of := strings.TrimSpace(l.around[d-1].callee); tables.MatchString(of[strings.LastIndexAny(of, ".:")+1:]) {
			return another // a list of cases, each of one value
		}
		if loopOver.MatchString(t.code[max(0, l.around[d-1].at-maxCallee):l.around[d-1].at]) {
			return another // the same, in the head of a loop
		}
		if kind, known := t.columnRole(l); known {
			return kind
		}
		switch t.position(n, d) {
		case lastOfRow:
			return wrong
		case firstOfRow:
			return another
		}
	}
	return ""
}

// inCollection reports whether a value is directly in a collection and not in a block.
func (t *testText) inCollection(l testValue) bool {
	if len(l.around) == 0 {
		return false
	}
	b := l.around[len(l.around)-1]
	return b.open == '[' || b.open == '{' && !t.isBlock(b)
}

var (
	// loopOver matches what precedes the parenthesis of a loop over a list.
	loopOver = regex.New(`\bfor(?:each|\s+await)?\s*$`)

	keyed  = regex.New(`^(?::[^:]|=>)`)
	key    = regex.New(`(?:(\w*)([^\w\s])?)\s*(:=|=>|:|=)$`)
	asked  = regex.New(`(?i)^(?:in|inputs?|args?|given|argument|param\w*)$`)
	wanted = regex.New(`(?i)^(?:want\w*|exp|expect\w*|out|output|result|answer)$`)
	named  = regex.New(`(?i)^(?:name|desc\w*|title|label|msg|message|id|path|file\w*|dir|timeout|size|n|i|k)$`)
)

// isGiven reports whether a value is that of a variable which the test gives to the work's functions: what it
// then expects is no other value than the one that it gave.
func (t *testText) isGiven(l testValue) bool {
	from := l.begin
	if len(l.around) > 0 {
		for _, b := range l.around {
			if !t.isBlock(b) {
				from = t.collection(b)
				break
			}
		}
	}
	m := givenVariable.FindStringSubmatch(t.code[max(0, from-maxCallee):from])
	if m == nil {
		return false
	}
	rest := t.code[from:]
	return slices.ContainsFunc(t.workFunctions, func(name string) bool {
		return regex.New(`\b` + regexp.QuoteMeta(name) + `\((?:[^()]*[^()\w.])?` + m[1] + `\s*[,)]`).MatchString(rest)
	})
}

// givenVariable matches what precedes the value of a variable.
var givenVariable = regex.New(`(\w+)\s*(?::?=|:?=\s*range|\bin|\bof)\s*$`)
