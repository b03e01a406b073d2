package mutant

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// role tells what the value of this number is for: another input may be given, or a
// wrong one be expected; "" where neither is sure.
func (t *testText) role(n int) Kind {
	l := t.values[n]
	if t.shell {
		return t.operand(l)
	}
	if kind, ok := t.compared(l.begin, l.end, l.around); ok {
		return kind
	}
	for i, b := range slices.Backward(l.around) {
		switch {
		case collects.MatchString(b.callee):
		case b.callee != "":
			return t.argument(n, b, i)
		case b.open == '[' && b.at > 0 && (isWordByte(t.code[b.at-1]) || t.code[b.at-1] == ')' || t.code[b.at-1] == ']'):
			return "" // an index
		case t.isBlock(b):
			return t.row(n)
		}
		if kind, ok := t.compared(t.collection(b), t.closing(b.at), l.around[:i]); ok {
			return kind
		}
	}
	return t.row(n)
}

// operand tells what a word of a shell's script is for: wrong is expected of what is
// compared by a test or an assertion.
func (t *testText) operand(l testValue) Kind {
	line := t.line(l.begin)
	before := strings.TrimRight(t.text[:l.begin], " ")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if operator.MatchString(before) && !argumentOf.MatchString(before) || asserts.MatchString(line) && strings.HasSuffix(line, strings.TrimSpace(t.code[l.begin:l.end])) {
		return wrong
	}
	return ""
}

var (
	operator   = regex.New(`(?:\[|\btest) .*(?:\s(?:==?|!=)|-(?:eq|ne))$`)
	argumentOf = regex.New(`"?\$[{]?[#?@*0-9][^ ]*\s*(?:==?|!=|-eq|-ne)$`)
	asserts    = regex.New(`^(?:assert_?(?:equals?|output|eq|same)|check|expect|is)\b`)
)

// collects matches calls that make a collection of what they are given.
var collects = regex.New(`(?i)(?:^|\.)(?:of|as_?list|\w*listof|\w*arrayof|\w*setof|\w*mapof|list|tuple|set|dict|array|vec!?|freeze)\s*$`)

// isBlock tells of a brace that it holds statements, and no values.
func (t *testText) isBlock(b bracket) bool {
	before := strings.TrimRight(t.code[max(0, b.at-maxCallee):b.at], " \t\n")
	return b.open == '{' && (opensBlock.MatchString(before) || !typedValues.MatchString(before) && statement.MatchString(t.line(b.at)))
}

var (
	typedValues = regex.New(`[\]}][\w.*]*$`)
	statement   = regex.New(`^(?:\}\s*)?(?:else|if|for|while|switch|select|try|catch|do|class|static|public|private|void|int|func|function)\b`)
)

// opensBlock is what stands before the brace that begins a block.
var opensBlock = regex.New(`(?:\)|=>|->|\b(?:else|do|try|finally|begin))$`)

// collection is where a collection begins, with the type that it names: []string{.
func (t *testText) collection(b bracket) int {
	return b.at - len(typeOfCollection.FindString(t.code[max(0, b.at-maxCallee):b.at]))
}

var typeOfCollection = regex.New(`(?:(?:new\s+|&|vec!)?(?:\[\w*\])*[\w.]*(?:\[\w*\])*\s*)$`)

// closing is the place behind the bracket that closes one.
func (t *testText) closing(at int) int {
	depth := 0
	for i := at; i < len(t.code); i++ {
		switch t.code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(t.code)
}

// compared tells of a stretch that a comparison is made with what it is for.
func (t *testText) compared(from, to int, around []bracket) (Kind, bool) {
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

// argument tells what an argument of a call is for; i is the call's place among the
// brackets.
func (t *testText) argument(n int, call bracket, i int) Kind {
	name := strings.TrimSpace(call.callee)
	last := name[strings.LastIndexAny(name, ".:")+1:]
	switch {
	case tables.MatchString(last):
		return t.row(n)
	case quiet.MatchString(last):
		return ""
	case negative.MatchString(name):
		return ""
	case equal.MatchString(last) && !slices.Contains(t.own, last):
		if t.message(n, call) {
			return ""
		}
		return wrong
	case t.values[n].kind == 'b':
		return ""
	case i == len(t.values[n].around)-1 && t.helper(last, slices.Index(t.arguments(call), strings.TrimSpace(t.code[t.values[n].begin:t.values[n].end]))):
		return wrong
	}
	return another
}

var (
	tables   = regex.New(`(?i)^(?:parametrize|each|cases?|table|entry|arguments)$`)
	quiet    = regex.New(`(?i)^(?:test|it|describe|context|suite|run|subtest|subtests|printf?|println!?|eprintln!?|fprintf|sprintf|format!?|puts|errorf?|fatalf?|fatal|logf?|fail\w*|throws?\w*|rejects|raises|assertraises\w*|assertthrows\w*|require|import|include|skip\w*|\w*exit|\w*error|\w*exception|warn\w*|die|todo|timeout|settimeout|sleep|isinstance|panic!?|environ|setenv|getenv|mkdtemp|tempdir|displayname|named|usefaketimers|range|len)$`)
	negative = regex.New(`(?i)\.not\.|not_?(?:equal|in|same|contain|be)|assert_ne|_ne\b|doesnot|isnot|refute|notstrict|notdeep|almost|near|close`)
	equal    = regex.New(`(?i)^(?:\w*_?equals?(?:_to)?|\w*equal(?:to|s)?|(?:assert|expect|check|require)_?(?:eq|streq|is|same|in)\w*|assert_eq!|\w*_(?:eq|streq)|eq|is|tobe|toequal|tostrictequal|isequalto|isequal|same|includes|contains\w*|tocontain\w*|assertcontains|has|deepequal|strcmp|strncmp|memcmp)$`)
)

// message tells of an argument of an assertion that it is what is said if it fails, or
// how far the values may differ.
func (t *testText) message(n int, call bracket) bool {
	args := t.arguments(call)
	if len(args) > 0 && args[0] == "t" {
		args = args[1:] // of Go
	}
	at := 0
	for i, l := range t.values[n].around {
		if l.at == call.at && i+1 < len(t.values[n].around) {
			return false // a collection
		}
	}
	own := strings.TrimSpace(t.code[t.values[n].begin:t.values[n].end])
	for at < len(args) && args[at] != own {
		at++
	}
	return len(args) > 2 && (at > 1 || at == 0 && t.values[n].kind == 's' && t.messageFirst)
}

// arguments are those of a call, as bare code.
func (t *testText) arguments(call bracket) (args []string) {
	from, depth := call.at+1, 0
	end := t.closing(call.at) - 1
	for i := from; i < end; i++ {
		switch t.code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				args, from = append(args, strings.TrimSpace(t.code[from:i])), i+1
			}
		}
	}
	return append(args, strings.TrimSpace(t.code[min(from, end):end]))
}

// helper tells whether the file itself defines what is called, and compares there the
// parameter of this number, from 0.
func (t *testText) helper(name string, n int) bool {
	at, defined := t.definitions()[name]
	if !defined || n < 0 {
		return false
	}
	params := t.arguments(bracket{at: at})
	if n >= len(params) {
		return false
	}
	body := t.code[at+1 : min(len(t.code), at+1+maxHelper)]
	return slices.ContainsFunc(identifiers.FindAllString(params[n], -1), func(p string) bool {
		if !strings.Contains(body, p) {
			return false
		}
		return regex.New(`(?:[=!]==?\s*|(?i:equals?|strcmp|memcmp|_eq!?)\([^()]*(?:\([^()]*\)[^()]*)?)\b` + p + `\b|\b` + p + `\b\s*(?:[=!]==?|\.\w*(?i:equal|compare)\w*)`).MatchString(body)
	})
}

// definitions are the functions that the file defines, each with the place of the
// parenthesis before its parameters. They are found once: a file may have thousands of calls.
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

// place is that of a value among those that stand directly in one bracket.
func (t *testText) place(n, depth int) int {
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

// row tells what a value is for that stands in no call: by its key, by its place in a
// row of a table, or by the name that it is given.
func (t *testText) row(n int) Kind {
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
		switch t.place(n, d) {
		case lastOfRow:
			return wrong
		case firstOfRow:
			return another
		}
	}
	return ""
}

// inCollection tells whether a value stands directly in one, and in no block.
func (t *testText) inCollection(l testValue) bool {
	if len(l.around) == 0 {
		return false
	}
	b := l.around[len(l.around)-1]
	return b.open == '[' || b.open == '{' && !t.isBlock(b)
}

var (
	keyed  = regex.New(`^(?::[^:]|=>)`)
	key    = regex.New(`(?:(\w*)([^\w\s])?)\s*(:=|=>|:|=)$`)
	asked  = regex.New(`(?i)^(?:in|inputs?|args?|given|argument|param\w*)$`)
	wanted = regex.New(`(?i)^(?:want\w*|exp|expect\w*|out|output|result|answer)$`)
	named  = regex.New(`(?i)^(?:name|desc\w*|title|label|msg|message|id|path|file\w*|dir|timeout|size|n|i|k)$`)
)
