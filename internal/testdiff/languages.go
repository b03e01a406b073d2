package testdiff

import (
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// language describes how tests look. The patterns match code without comments and strings.
type language struct {
	names string // globs of file names
	// head begins a test. Group "name" is its name if that is a word, else the name is the next
	// string. Group "mark" may skip or focus it.
	head  *regex.Regex
	group *regex.Regex // matches the head of a group of tests
	extent
	above *regex.Regex // lines above the head that belong to it: annotations
	// annotated: only a mark above identifies a test.
	annotated bool
	skip      *regex.Regex // in the mark, above it, or in the body
	focus     *regex.Regex // in the mark, or above it
	assert    *regex.Regex // begins an assertion
	whole     *regex.Regex // skips the whole file
}

// style returns how the language writes comments and strings. A comment of Go without a blank is a directive,
// which the patterns read.
func (l language) style() source.Style {
	s, _ := source.StyleOf(l.names)
	if l.names == "*.go" {
		s.Lines = []string{"// ", "//\n"}
	}
	return s
}

// extent says how a test ends.
type extent int

const (
	braces  extent = iota
	parens         // those of the call that it is
	indents        // with the first line that is not further in
	ends           // with the word end, as far in as its head
)

// languages are compiled when a test file is first read.
var languages = sync.OnceValue(func() []language {
	annotation := regex.New(`^\s*[@#\[]`)
	return []language{
		{
			names:  "*.go",
			head:   regex.New(`(?m)^func (?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)\(`),
			skip:   regex.New(`\b[tbf]\.Skip\w*\(`),
			assert: regex.New(`(?m)\bif [^\n]*\{\s*\w+\.(?:Error|Fatal|Fail)\w*\(|\w\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|check|qt|must)\.\w+\(|^[ \t]*\{[^\n]*\},$`),
			whole:  regex.New(`(?m)^//go:build .*(?:ignore|never|skip)`),
		},
		{
			names: "*.js *.jsx *.ts *.tsx *.mjs *.cjs *.mts *.cts *.vue *.svelte",
			head:  regex.New(`(?m)^[ \t]*(?:await\s+)?(?P<mark>[xf]?(?:it|test|specify|describe|context|suite)(?:\.[a-zA-Z]+)*)\s*\(`),
			group: regex.New(`describe|context|suite`), extent: parens,
			skip:   regex.New(`^x|\.(?:skip|todo|fixme|skipIf)\b|\b(?:t|this|ctx|context)\.(?:skip|todo)\(|\bpending\(\)|\b(?:skip|todo)\s*:\s*(?:true|["'` + "`" + `])`),
			focus:  regex.New(`^f(?:it|describe|context|test)|\.only\b|\bonly\s*:\s*true`),
			assert: regex.New(`\bexpect(?:\.\w+)*\(|\bassert(?:\.\w+)*\(|\bt\.(?:is|not|true|false|deepEqual|throws\w*|like|regex|equal|ok|same|strictEqual|match|snapshot|truthy|falsy|notThrows\w*|rejects|plan)\(|\.should\b|\bshould\(`),
		},
		{
			names: "*.py",
			head:  regex.New(`(?m)^[ \t]*(?:async\s+)?(?:def|class)\s+(?P<name>[tT]est\w*|\w+Test(?:s|Case|Suite)?\b)`),
			group: regex.New(`class\s`), extent: indents, above: annotation,
			skip:   regex.New(`@(?:pytest\.mark\.(?:skip|skipif|xfail)|unittest\.(?:skip|skipIf|skipUnless|expectedFailure)|skip\w*|expectedFailure)\b|\bpytest\.(?:skip|xfail|importorskip)\(|\bself\.skipTest\(|\braise\s+(?:unittest\.)?SkipTest|__test__\s*=\s*False`),
			assert: regex.New(`\bassert\b|\bself\.(?:assert\w*|fail)\(|\bpytest\.raises\(`),
			whole:  regex.New(`(?m)^pytestmark\s*=.*(?:skip|xfail)|^pytest\.skip\(|^__test__\s*=\s*False|^collect_ignore`),
		},
		{
			names: "*.rs",
			head:  regex.New(`(?m)^[ \t]*(?:pub\s+)?(?:async\s+)?fn\s+(?P<name>\w+)`), above: annotation, annotated: true,
			skip:   regex.New(`#\[\s*(?:ignore\b|cfg_attr\([^\]]*ignore)`),
			assert: regex.New(`\b(?:debug_)?assert\w*!|\bpanic!|\.unwrap_err\(|\bmatches!`),
		},
		{
			names: "*.java *.kt *.kts *.groovy *.scala",
			head:  regex.New("(?m)^[ \\t]*(?:(?:public|private|protected|internal|open|final|static|suspend|abstract)\\s+)*(?:fun|void|def|class)\\s+`?(?P<name>\\w+)"),
			group: regex.New(`\bclass\s`), above: annotation, annotated: true,
			skip:   regex.New(`@(?:Disabled|Ignore)\w*|\bAssumptions?\.|\bassumeTrue\(|\benabled\s*=\s*false`),
			assert: regex.New(`\bassert\w*\s*[({]|\bAssert\.\w+\(|\bverify\(|\bexpectThat\(|\bfail\(|\bshould\w*\b|\bassertThat\(`),
		},
		{
			names: "*.cs",
			head:  regex.New(`(?m)^[ \t]*(?:(?:public|private|internal|async|static|virtual|override)\s+)*(?:void|Task|ValueTask)\s+(?P<name>\w+)\s*\(`), above: annotation, annotated: true,
			skip:   regex.New(`\[\s*(?:\w+\s*,\s*)*Ignore\b|\bSkip\s*=|\bAssert\.(?:Ignore|Inconclusive|Skip)\(`),
			assert: regex.New(`\bAssert\.\w+|\.Should\(|\bVerify\w*\(`),
		},
		{
			names: "*.rb",
			head:  regex.New(`(?m)^[ \t]*(?:(?P<mark>[xf]?(?:it|specify|describe|context|example|feature|scenario|test)|RSpec\.describe)\b[^\n]*\bdo\b|def\s+(?P<name>test_\w+))`),
			group: regex.New(`describe|context|feature`), extent: ends,
			skip:   regex.New(`^x|(?m)^\s*(?:skip|pending)\b|\bskip:|:skip\b|:pending\b|\bpending:`),
			focus:  regex.New(`^f(?:it|describe|context|specify|example|scenario|feature)|:focus\b|\bfocus:\s*true`),
			assert: regex.New(`\bexpect\b|\bassert\w*\b|\brefute\w*\b|\.should\b|\bmust_\w+`),
		},
		{
			names:  "*.php",
			head:   regex.New(`(?m)^[ \t]*(?:(?:public|final|static)\s+)*function\s+(?P<name>test\w+)|^[ \t]*(?P<mark>it|test)\s*\(`),
			skip:   regex.New(`\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(`),
			focus:  regex.New(`->only\(`),
			assert: regex.New(`(?:->|::)assert\w*\(|\bexpect\(|->expect\w*\(|->fail\(`),
		},
		{
			names: "*.bats",
			head:  regex.New(`(?m)^[ \t]*@test\s`), skip: regex.New(`(?m)^\s*skip\b`),
			focus:  regex.New(`(?m)^\s*bats:focus`),
			assert: regex.New(`(?m)^\s*(?:\[\[?\s|assert\w*\b|refute\w*\b|diff\b|cmp\b|grep\b|test\s|false\b)`),
		},
		{
			names: "*.t",
			head:  regex.New(`(?m)^[ \t]*subtest\s`), skip: regex.New(`\bskip_all\b|\bSKIP:|\btodo_skip\b|\bTODO:`),
			assert: regex.New(`(?m)^\s*(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|can_ok|isa_ok|throws_ok|lives_ok|dies_ok)\b`),
			whole:  regex.New(`\bskip_all\b`),
		},
		{
			names:  "*.cc *.cpp *.cxx *.c *.h *.hpp",
			head:   regex.New(`(?m)^[ \t]*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO)\s*\(\s*(?P<name>[^)]*)\)`),
			skip:   regex.New(`\bDISABLED_|\bGTEST_SKIP\(|\bSKIP\(`),
			assert: regex.New(`\b(?:EXPECT|ASSERT)_\w+|\b(?:REQUIRE|CHECK)\w*\(|\bFAIL\(|\bassert\(`),
		},
		{
			names: "*.exs *.ex",
			head:  regex.New(`(?m)^[ \t]*(?P<mark>test|describe)\b[^\n]*\bdo\b`), group: regex.New(`describe`), extent: ends, above: annotation,
			skip: regex.New(`@(?:module|describe)?tag\s+:?skip\b`), assert: regex.New(`\bassert\w*\b|\brefute\w*\b`),
			whole: regex.New(`@moduletag\s+:?skip\b`),
		},
		{
			names: "*.swift",
			head:  regex.New(`(?m)^[ \t]*(?:(?:public|internal|override|final|@\w+)\s+)*func\s+(?P<name>test\w*)`),
			skip:  regex.New(`\bXCTSkip\w*`), assert: regex.New(`\bXCTAssert\w*|\bXCTFail\b|#expect\b|#require\b`), above: annotation,
		},
		{
			names: "*.dart",
			head:  regex.New(`(?m)^[ \t]*(?P<mark>test|testWidgets|group)\s*\(`),
			group: regex.New(`group`), extent: parens,
			skip: regex.New(`\bskip\s*:\s*(?:true|["'])`), focus: regex.New(`\bsolo\s*:\s*true`), assert: regex.New(`\bexpect\w*\(|\bverify\w*\(`),
			whole: regex.New(`@Skip\(`),
		},
	}
})

// Knows reports whether the tests of a file can be read.
func Knows(file string) bool {
	_, ok := read(file, nil)
	return ok
}

// Extensions returns the known extensions without dots, except Go's: a Go test has a name of its
// own.
func Extensions() []string {
	var all []string
	for _, l := range languages()[1:] {
		all = append(all, strings.Fields(strings.ReplaceAll(l.names, "*.", ""))...)
	}
	return all
}

// read returns the tests of a file, and false if its language is unknown.
func read(file string, content []byte) ([]test, bool) {
	l, known := languageOf(file)
	if !known {
		return nil, false
	}
	return l.read(string(content)), true
}

func languageOf(file string) (language, bool) {
	for _, l := range languages() {
		if source.HasExtension(l.names, file) {
			return l, true
		}
	}
	return language{}, false
}
