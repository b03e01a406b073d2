package testdiff

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/source"
)

// language is how the tests of one look. The patterns are matched on bare code.
type language struct {
	names string // globs of file names
	style source.Style
	// head begins a test: group "name" is its name where that is a word, else it is
	// the first string after the head; group "mark" is what may skip or focus it.
	head  *regexp.Regexp
	group *regexp.Regexp // matches the head of what holds tests and is none
	extent
	above *regexp.Regexp // lines above the head that belong to it: annotations
	// annotated: only a mark above tells that it is a test.
	annotated bool
	skip      *regexp.Regexp // in the mark, above, or in the body
	focus     *regexp.Regexp // in the mark, or above
	assert    *regexp.Regexp // begins an assertion
	whole     *regexp.Regexp // skips the file as a whole
}

// extent is how a test ends.
type extent int

const (
	braces  extent = iota
	parens         // those of the call that it is
	indents        // with the first line that is not further in
	ends           // with the word end, as far in as its head
)

// languages are those that are known. Compiled where a test file is read.
var languages = sync.OnceValue(func() []language {
	annotation := regexp.MustCompile(`^\s*[@#\[]`)
	return []language{
		{ // a comment without a blank is a directive
			names: "*.go", style: source.Style{Lines: []string{"// ", "//\n"}, Blocks: [][2]string{{"/*", "*/"}}, Quotes: []string{"`", `"`}, Char: true},
			head:   regexp.MustCompile(`(?m)^func (?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)\(`),
			skip:   regexp.MustCompile(`\b[tbf]\.Skip\w*\(`),
			assert: regexp.MustCompile(`(?m)\bif [^\n]*\{\s*\w+\.(?:Error|Fatal|Fail)\w*\(|\w\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|check|qt|must)\.\w+\(|^[ \t]*\{[^\n]*\},$`),
			whole:  regexp.MustCompile(`(?m)^//go:build .*(?:ignore|never|skip)`),
		},
		{
			names: "*.js *.jsx *.ts *.tsx *.mjs *.cjs *.mts *.cts *.vue *.svelte", style: source.CStyle("`", `"`, "'"),
			head:  regexp.MustCompile(`(?m)^[ \t]*(?:await\s+)?(?P<mark>[xf]?(?:it|test|specify|describe|context|suite)(?:\.[a-zA-Z]+)*)\s*\(`),
			group: regexp.MustCompile(`describe|context|suite`), extent: parens,
			skip:   regexp.MustCompile(`^x|\.(?:skip|todo|fixme|skipIf)\b|\b(?:t|this|ctx|context)\.(?:skip|todo)\(|\bpending\(\)|\b(?:skip|todo)\s*:\s*(?:true|["'` + "`" + `])`),
			focus:  regexp.MustCompile(`^f(?:it|describe|context|test)|\.only\b|\bonly\s*:\s*true`),
			assert: regexp.MustCompile(`\bexpect(?:\.\w+)*\(|\bassert(?:\.\w+)*\(|\bt\.(?:is|not|true|false|deepEqual|throws\w*|like|regex|equal|ok|same|strictEqual|match|snapshot|truthy|falsy|notThrows\w*|rejects|plan)\(|\.should\b|\bshould\(`),
		},
		{
			names: "*.py", style: source.Style{Lines: []string{"#"}, Quotes: []string{`"""`, "'''", `"`, "'"}},
			head:  regexp.MustCompile(`(?m)^[ \t]*(?:async\s+)?(?:def|class)\s+(?P<name>[tT]est\w*)`),
			group: regexp.MustCompile(`class\s`), extent: indents, above: annotation,
			skip:   regexp.MustCompile(`@(?:pytest\.mark\.(?:skip|skipif|xfail)|unittest\.(?:skip|skipIf|skipUnless|expectedFailure)|skip\w*|expectedFailure)\b|\bpytest\.(?:skip|xfail|importorskip)\(|\bself\.skipTest\(|\braise\s+(?:unittest\.)?SkipTest|__test__\s*=\s*False`),
			assert: regexp.MustCompile(`\bassert\b|\bself\.(?:assert\w*|fail)\(|\bpytest\.raises\(`),
			whole:  regexp.MustCompile(`(?m)^pytestmark\s*=.*(?:skip|xfail)|^pytest\.skip\(|^__test__\s*=\s*False|^collect_ignore`),
		},
		{
			names: "*.rs", style: source.Style{Lines: []string{"//"}, Blocks: [][2]string{{"/*", "*/"}}, Quotes: []string{`"`}, Char: true},
			head: regexp.MustCompile(`(?m)^[ \t]*(?:pub\s+)?(?:async\s+)?fn\s+(?P<name>\w+)`), above: annotation, annotated: true,
			skip:   regexp.MustCompile(`#\[\s*(?:ignore\b|cfg_attr\([^\]]*ignore)`),
			assert: regexp.MustCompile(`\b(?:debug_)?assert\w*!|\bpanic!|\.unwrap_err\(|\bmatches!`),
		},
		{
			names: "*.java *.kt *.kts *.groovy *.scala", style: source.Style{Lines: []string{"//"}, Blocks: [][2]string{{"/*", "*/"}}, Quotes: []string{`"""`, `"`}, Char: true},
			head:  regexp.MustCompile("(?m)^[ \\t]*(?:(?:public|private|protected|internal|open|final|static|suspend|abstract)\\s+)*(?:fun|void|def|class)\\s+`?(?P<name>\\w+)"),
			group: regexp.MustCompile(`\bclass\s`), above: annotation, annotated: true,
			skip:   regexp.MustCompile(`@(?:Disabled|Ignore)\w*|\bAssumptions?\.|\bassumeTrue\(|\benabled\s*=\s*false`),
			assert: regexp.MustCompile(`\bassert\w*\s*[({]|\bAssert\.\w+\(|\bverify\(|\bexpectThat\(|\bfail\(|\bshould\w*\b|\bassertThat\(`),
		},
		{
			names: "*.cs", style: source.Style{Lines: []string{"//"}, Blocks: [][2]string{{"/*", "*/"}}, Quotes: []string{`"`}, Char: true},
			head: regexp.MustCompile(`(?m)^[ \t]*(?:(?:public|private|internal|async|static|virtual|override)\s+)*(?:void|Task|ValueTask)\s+(?P<name>\w+)\s*\(`), above: annotation, annotated: true,
			skip:   regexp.MustCompile(`\[\s*(?:\w+\s*,\s*)*Ignore\b|\bSkip\s*=|\bAssert\.(?:Ignore|Inconclusive|Skip)\(`),
			assert: regexp.MustCompile(`\bAssert\.\w+|\.Should\(|\bVerify\w*\(`),
		},
		{
			names: "*.rb", style: source.Style{Lines: []string{"#"}, Quotes: []string{`"`, "'"}},
			head:  regexp.MustCompile(`(?m)^[ \t]*(?:(?P<mark>[xf]?(?:it|specify|describe|context|example|feature|scenario|test)|RSpec\.describe)\b[^\n]*\bdo\b|def\s+(?P<name>test_\w+))`),
			group: regexp.MustCompile(`describe|context|feature`), extent: ends,
			skip:   regexp.MustCompile(`^x|(?m)^\s*(?:skip|pending)\b|\bskip:|:skip\b|:pending\b|\bpending:`),
			focus:  regexp.MustCompile(`^f(?:it|describe|context|specify|example|scenario|feature)|:focus\b|\bfocus:\s*true`),
			assert: regexp.MustCompile(`\bexpect\b|\bassert\w*\b|\brefute\w*\b|\.should\b|\bmust_\w+`),
		},
		{
			names: "*.php", style: source.Style{Lines: []string{"//", "#"}, Blocks: [][2]string{{"/*", "*/"}}, Quotes: []string{`"`, "'"}},
			head:   regexp.MustCompile(`(?m)^[ \t]*(?:(?:public|final|static)\s+)*function\s+(?P<name>test\w+)|^[ \t]*(?P<mark>it|test)\s*\(`),
			skip:   regexp.MustCompile(`\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(`),
			focus:  regexp.MustCompile(`->only\(`),
			assert: regexp.MustCompile(`(?:->|::)assert\w*\(|\bexpect\(|->expect\w*\(|->fail\(`),
		},
		{
			names: "*.bats", style: source.Style{Lines: []string{"#"}, Quotes: []string{`"`, "'"}},
			head: regexp.MustCompile(`(?m)^[ \t]*@test\s`), skip: regexp.MustCompile(`(?m)^\s*skip\b`),
			focus:  regexp.MustCompile(`(?m)^\s*bats:focus`),
			assert: regexp.MustCompile(`(?m)^\s*(?:\[\[?\s|assert\w*\b|refute\w*\b|diff\b|cmp\b|grep\b|test\s|false\b)`),
		},
		{
			names: "*.t", style: source.Style{Lines: []string{"#"}, Quotes: []string{`"`, "'"}},
			head: regexp.MustCompile(`(?m)^[ \t]*subtest\s`), skip: regexp.MustCompile(`\bskip_all\b|\bSKIP:|\btodo_skip\b|\bTODO:`),
			assert: regexp.MustCompile(`(?m)^\s*(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|can_ok|isa_ok|throws_ok|lives_ok|dies_ok)\b`),
			whole:  regexp.MustCompile(`\bskip_all\b`),
		},
		{
			names: "*.cc *.cpp *.cxx *.c *.h *.hpp", style: source.Style{Lines: []string{"//"}, Blocks: [][2]string{{"/*", "*/"}}, Quotes: []string{`"`}, Char: true},
			head:   regexp.MustCompile(`(?m)^[ \t]*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO)\s*\(\s*(?P<name>[^)]*)\)`),
			skip:   regexp.MustCompile(`\bDISABLED_|\bGTEST_SKIP\(|\bSKIP\(`),
			assert: regexp.MustCompile(`\b(?:EXPECT|ASSERT)_\w+|\b(?:REQUIRE|CHECK)\w*\(|\bFAIL\(|\bassert\(`),
		},
		{
			names: "*.exs *.ex", style: source.Style{Lines: []string{"#"}, Quotes: []string{`"""`, `"`}},
			head: regexp.MustCompile(`(?m)^[ \t]*(?P<mark>test|describe)\b[^\n]*\bdo\b`), group: regexp.MustCompile(`describe`), extent: ends, above: annotation,
			skip: regexp.MustCompile(`@(?:module|describe)?tag\s+:?skip\b`), assert: regexp.MustCompile(`\bassert\w*\b|\brefute\w*\b`),
			whole: regexp.MustCompile(`@moduletag\s+:?skip\b`),
		},
		{
			names: "*.swift", style: source.CStyle(`"""`, `"`),
			head: regexp.MustCompile(`(?m)^[ \t]*(?:(?:public|internal|override|final|@\w+)\s+)*func\s+(?P<name>test\w*)`),
			skip: regexp.MustCompile(`\bXCTSkip\w*`), assert: regexp.MustCompile(`\bXCTAssert\w*|\bXCTFail\b|#expect\b|#require\b`), above: annotation,
		},
		{
			names: "*.dart", style: source.CStyle(`"""`, "'''", `"`, "'"),
			head:  regexp.MustCompile(`(?m)^[ \t]*(?P<mark>test|testWidgets|group)\s*\(`),
			group: regexp.MustCompile(`group`), extent: parens,
			skip: regexp.MustCompile(`\bskip\s*:\s*(?:true|["'])`), focus: regexp.MustCompile(`\bsolo\s*:\s*true`), assert: regexp.MustCompile(`\bexpect\w*\(|\bverify\w*\(`),
			whole: regexp.MustCompile(`@Skip\(`),
		},
	}
})

// Knows tells whether the tests of a file can be read.
func Knows(file string) bool {
	_, ok := read(file, nil)
	return ok
}

// Extensions are those of the files that can be read, without the dot, but for
// Go's, which tells its tests by name alone.
func Extensions() []string {
	var all []string
	for _, l := range languages()[1:] {
		all = append(all, strings.Fields(strings.ReplaceAll(l.names, "*.", ""))...)
	}
	return all
}

// read gives the tests of a file; false if its language is not known.
func read(file string, content []byte) ([]test, bool) {
	name := path.Base(file)
	for _, l := range languages() {
		for glob := range strings.FieldsSeq(l.names) {
			if ok, err := path.Match(glob, name); ok && err == nil {
				return l.read(string(content)), true
			}
		}
	}
	return nil, false
}
