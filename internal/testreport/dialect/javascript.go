package dialect

import (
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

var jest = sync.OnceValue(func() Dialect {
	return Dialect{correct: jestCorrect, rules: []rule{
		{kind: summaryStart, re: wholeLine(`Test Suites: (?:(?P<suites>\d+) failed, )?(?:.*, )?\d+(?: of \d+)? total`)},
		{kind: counts, re: wholeLine(`Tests: +(?P<counts>.*\d+ total)`)},
		{kind: typicalLine, re: wholeLine(`Snapshots: +.*total`)},
		{kind: typicalLine, re: wholeLine(`Time: +[\d.]+ m?s(?:, estimated [\d.]+ m?s)?`)},
		{kind: typicalLine, re: wholeLine(`Ran all test suites.*\.`)},
		{kind: resetNames, re: wholeLine(`Summary of all failing tests`)},
		{kind: failedTest, re: wholeLine(`  ● (?P<name>.+ › .+)`), errorFollows: true},
		{kind: lastFileFailed, re: wholeLine(`  ● Test suite failed to run`), errorFollows: true},
		{kind: typicalLine, re: wholeLine(`  ● Console`)},
		{kind: failedTest, re: wholeLine(`  ● (?P<name>\S.*)`), errorFollows: true},
		{kind: failedFile, re: wholeLine(`FAIL (?:\S+ )?(?P<name>\S*\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?`)},
		{kind: typicalLine, re: wholeLine(`PASS (?:\S+ )?\S*\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?`)},
		{kind: noTests, re: wholeLine(`No tests found, exiting with code \d`)},
		{kind: noTests, re: wholeLine(`No tests found related to files changed since .*\.`)},
		{kind: gateFailed, re: wholeLine(`Jest: .*coverage threshold for .*`)},
		{kind: runnerError, re: wholeLine(`● (?:Validation Error|Unrecognized CLI Parameters?|Multiple configurations found|Deprecation Error).*`)},
		{kind: runnerError, re: wholeLine(`(?:Error: )?(?:Could not resolve a module for a custom reporter|Can't find a root directory while resolving a config file path|Could not find a config file based on provided values|Jest: Failed to parse the TypeScript config file).*`)},
	}}
})

func jestCorrect(r *reader) {
	for i, n := range r.Failing {
		r.Failing[i] = strings.ReplaceAll(n, " › ", " > ")
	}
	correctEmpty(r)
}

var vitest = sync.OnceValue(func() Dialect {
	return Dialect{correct: correctEmpty, rules: []rule{
		{kind: typicalLine, re: wholeLine(` *(?:RUN|DEV) +v\d+\.\S+ .*`)},
		{kind: summaryStart, re: wholeLine(` *Test Files +(?:(?P<suites>\d+) failed)?.*(?:\(\d+\)|no tests)`)},
		{kind: counts, re: wholeLine(` *Tests +(?P<counts>.*)(?:\(\d+\)|no tests)`)},
		{kind: counts, re: wholeLine(` *Errors +(?P<errors>\d+) errors?`)},
		{kind: counts, re: wholeLine(` *Type Errors +(?P<errors>\d+) .*`)},
		{kind: typicalLine, re: wholeLine(` *Start at +[\d:]+`)},
		{kind: typicalLine, re: wholeLine(` *Duration +[\d.]+m?s.*`)},
		{kind: failedTest, re: wholeLine(` *FAIL +(?P<name>\S.*?)(?: \[ .* \])?`), errorFollows: true},
		{kind: otherFailure, re: wholeLine(`⎯+ *(?:Unhandled (?:Errors?|Rejection)|Uncaught Exception) *⎯+`), nextSection: "unhandled"},
		{kind: firstError, section: "unhandled", re: wholeLine(`(?P<err>\w*(?:Error|Exception)\b.*: .*)`)},
		{kind: noTests, re: wholeLine(`No test files found, exiting with code \d`)},
		{kind: gateFailed, re: wholeLine(`ERROR: Coverage for .*`)},
		{kind: runnerError, re: wholeLine(`⎯+ *Startup Error *⎯+`), errorFollows: true},
		{kind: runnerError, re: wholeLine(`(?:CACError: .*|failed to load config from .*| *MISSING DEPENDENCY .*)`)},
	}}
})

var mocha = sync.OnceValue(func() Dialect {
	return Dialect{readLine: mochaName, correct: correctEmpty, rules: []rule{
		{kind: summaryStart, re: wholeLine(` +(?P<pass>\d+) passing(?: \([\d.]+m?s?\))?`), nextSection: "sum"},
		{kind: counts, section: "sum", re: wholeLine(` +(?P<skip>\d+) pending`)},
		{kind: counts, section: "sum", re: wholeLine(` +(?P<fail>\d+) failing`), nextSection: "failures"},
		{kind: typicalLine, re: wholeLine(`      \+ expected - actual`)},
		{kind: typicalLine, re: wholeLine(` +at (?:async )?Context\.<anonymous> \(.*\)`)},
		{kind: typicalLine, re: wholeLine(` +at (?:listOnTimeout|process\.process\w+) \(node:internal/.*\)`)},
		{kind: noTests, re: wholeLine(`(?:Error: )?No test files found(?:: .*)?`)},
		{kind: noTests, re: wholeLine(`(?:Warning|Error): Cannot find any files matching pattern .*`)},
		{kind: runnerError, re: wholeLine(`.*(?:ERR_MOCHA_INVALID_(?:REPORTER|INTERFACE|ARG_VALUE)).*`)},
		{kind: gateFailed, re: wholeLine(`ERROR: Coverage for .*`)},
	}}
})

var (
	mochaHead = regex.New(`^  \d+\) (.+)$`)
	mochaPart = regex.New(`^ {7,}(\S.*)$`)
)

// mochaName collects a name from the lines of its suites. The last line ends with a colon.
func mochaName(r *reader, line string) bool {
	if r.section == "sum" { // only counts follow; the failures come after them
		return false
	}
	if m := mochaHead.FindStringSubmatch(line); m != nil {
		r.nameParts = []string{m[1]}
	} else if m := mochaPart.FindStringSubmatch(line); m != nil && r.nameParts != nil && len(r.nameParts) < 30 {
		r.nameParts = append(r.nameParts, m[1])
	} else {
		r.nameParts = nil
		return false
	}
	if last := r.nameParts[len(r.nameParts)-1]; strings.HasSuffix(last, ":") {
		r.nameParts[len(r.nameParts)-1] = strings.TrimSuffix(last, ":")
		r.addName(strings.Join(r.nameParts, " > "))
		r.matched[-1] = true
		r.nameParts, r.errorNext = nil, r.FirstError == ""
	}
	return true
}

var node = sync.OnceValue(func() Dialect {
	return Dialect{correct: correctEmpty, rules: []rule{
		{kind: summaryStart, re: wholeLine(`[ℹ#] tests \d+`)},
		{kind: typicalLine, re: wholeLine(`[ℹ#] suites \d+`)},
		{kind: counts, re: wholeLine(`[ℹ#] pass (?P<pass>\d+)`)},
		{kind: counts, re: wholeLine(`[ℹ#] fail (?P<fail>\d+)`)},
		{kind: counts, re: wholeLine(`[ℹ#] cancelled (?P<fail>\d+)`)},
		{kind: counts, re: wholeLine(`[ℹ#] (?:skipped|todo) (?P<skip>\d+)`)},
		{kind: typicalLine, re: wholeLine(`[ℹ#] duration_ms [\d.]+`)},
		{kind: resetNames, re: wholeLine(`✖ failing tests:`), nextSection: "failures"},
		{kind: failedTest, section: "failures", re: wholeLine(`✖ (?P<name>.+) \([\d.]+m?s\)`), errorFollows: true},
		{kind: noTests, re: wholeLine(`Could not find '.*'`)},
		{kind: runnerError, re: wholeLine(`\S*node: bad option: .*`)},
		{kind: gateFailed, re: wholeLine(`[ℹ#] Error: [\d.]+% \w+ coverage does not meet threshold of .*`)},
	}}
})

var ava = sync.OnceValue(func() Dialect {
	return Dialect{correct: avaCorrect, readLine: countTicks, rules: []rule{
		{kind: summaryStart, re: wholeLine(`  ─`)},
		{kind: counts, re: wholeLine(`  (?P<counts>\d+ tests? (?:failed|passed|skipped|todo))`)},
		{kind: counts, re: wholeLine(`  (?P<skip>\d+) (?:tests? todo|known failures?)`)},
		{kind: counts, re: wholeLine(`  (?P<errors>\d+) (?:uncaught exceptions?|unhandled rejections?|unhandled errors?|tests? timed out|tests? remaining .*|tests? (?:was|were) pending .*)`)},
		{kind: failedTest, re: wholeLine(`  ✘ \[fail\]: (?P<name>.+?)(?: (?:Rejected promise returned by test|Error thrown in test|Test finished without running any assertions|Test was expected to fail, but succeeded.*))?`)},
		{kind: otherFailure, re: wholeLine(`  ✘ (?P<err>.*exited (?:with a non-zero exit code|due to).*|Timed out while running tests|No tests found in .*|.* timed out)`)},
		{kind: otherFailure, re: wholeLine(`  Uncaught exception in .*`), errorFollows: true},
		{kind: noTests, re: wholeLine(`  ✘ (?:Couldn.t find any (?:files to test|matching tests)|No tests found|Based on your configuration, \d+ test files? (?:was|were) found, but did not match).*`)},
		{kind: runnerError, re: wholeLine(`  ✘ (?:Error loading .*|Unknown option.*|Could not find package.json.*)`)},
	}}
})

// avaTick matches a test that passed, alone or below its file. A test that fails as expected has a
// tick too.
var avaTick = regex.New(`^  ✔ [^\s[]`)

func countTicks(r *reader, line string) bool {
	if avaTick.MatchString(line) {
		r.ticked++
	}
	return false
}

// avaCorrect counts the ticks, because the summary of a failed run does not count passed tests.
func avaCorrect(r *reader) {
	if r.Failed > 0 && r.Passed == 0 {
		r.Passed = r.ticked
	}
	correctEmpty(r)
}

var jasmine = sync.OnceValue(func() Dialect {
	return Dialect{correct: correctEmpty, rules: []rule{
		{kind: summaryStart, re: wholeLine(`(?:Ran \d+ of )?(?P<total>\d+) specs?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) pending specs?)?`)},
		{kind: typicalLine, re: wholeLine(`Finished in [\d.]+ seconds?`)},
		{kind: typicalLine, re: wholeLine(`Randomized with seed \d+(?: \(.*\))?`)},
		{kind: typicalLine, re: wholeLine(`Started`)},
		{kind: resetNames, re: wholeLine(`Failures:`), nextSection: "failures"},
		{kind: sectionStart, re: wholeLine(`Pending:`), nextSection: "pending"},
		{kind: failedTest, section: "failures", re: wholeLine(`\d+\) (?P<name>.+)`)},
		{kind: sectionStart, section: "failures", re: wholeLine(`  Message:`), errorFollows: true},
		{kind: otherFailure, re: wholeLine(`Suite error: .*`), nextSection: "suite"},
		{kind: sectionStart, section: "suite", re: wholeLine(`  Message:`), errorFollows: true},
		{kind: noTests, re: wholeLine(`Incomplete: No specs found.*`)},
		{kind: noTests, re: wholeLine(`No specs found`)},
		{kind: gateFailed, re: wholeLine(`Incomplete: f.*`)},
	}}
})

var tap = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: summaryStart, re: wholeLine(`Asserts: +(?P<counts>.*) of \d+`)},
		{kind: counts, re: wholeLine(`Suites: +(?P<counts>.*) of \d+ completed`)},
		{kind: typicalLine, re: wholeLine(`Time: +[\d.]+m?s`)},
		{kind: summaryStart, re: wholeLine(`# \{ total: \d+(?:, pass: (?P<pass>\d+))?(?:, fail: (?P<fail>\d+))?(?:, todo: (?P<skip>\d+))?.* \}`)},
		{kind: typicalLine, re: wholeLine(`# time=[\d.]+m?s`)},
		{kind: typicalLine, re: wholeLine(`TAP version \d+`)},
		{kind: gateFailed, re: wholeLine(`(?:# )?ERROR: (?:incomplete t|No t?)?.*[cC]overage.*`)},
		{kind: summaryStart, re: wholeLine(`# tests +\d+`)},
		{kind: counts, re: wholeLine(`# pass +(?P<pass>\d+)`)},
		{kind: counts, re: wholeLine(`# fail +(?P<fail>\d+)`)},
		{kind: counts, re: wholeLine(`# skip(?:ped)? +(?P<skip>\d+)`)},
		{kind: typicalLine, re: wholeLine(`# ok`)},
	}}
})

var bun = sync.OnceValue(func() Dialect {
	return Dialect{correct: correctEmpty, rules: []rule{
		{kind: typicalLine, re: wholeLine(`bun test v\d\S*(?: \(.*\))?`)},
		{kind: summaryStart, re: wholeLine(` *(?P<pass>\d+) pass`)},
		{kind: counts, re: wholeLine(` *(?P<skip>\d+) (?:skip|todo)`)},
		{kind: counts, re: wholeLine(` *(?P<fail>\d+) fail`)},
		{kind: counts, re: wholeLine(` *(?P<errors>\d+) errors?`)},
		{kind: typicalLine, re: wholeLine(`Ran \d+ tests? across \d+ files?\..*`)},
		{kind: failedTest, re: wholeLine(`(?:\(fail\)|✗) (?P<name>.+?)(?: \[[\d.]+m?s\])?`)},
		{kind: firstError, re: wholeLine(`error: (?P<err>.+)`)},
		{kind: noTests, re: wholeLine(`(?:No tests found!|Test filter ".*" had no matches|The following filters did not match any test files.*|error: 0 test files matching .*)`)},
	}}
})

var playwright = sync.OnceValue(func() Dialect {
	return Dialect{correct: playwrightCorrect, rules: []rule{
		{kind: summaryStart, re: wholeLine(`Running \d+ tests? using \d+ workers?`)},
		{kind: summaryStart, re: wholeLine(` +[✓✘±-] +\d+ .*:\d+:\d+ › .*`)},
		{kind: summaryStart, re: wholeLine(` {2}\d+\) .*:\d+:\d+ › .+`), nextSection: "detail", errorFollows: true},
		{kind: summaryStart, re: wholeLine(`[·F°×T±]+`)},
		{kind: counts, re: wholeLine(` {2}(?P<fail>\d+) failed`), nextSection: "failed"},
		{kind: counts, re: wholeLine(` {2}(?P<fail>\d+) interrupted`), nextSection: "interrupted"},
		{kind: counts, re: wholeLine(` {2}(?P<errors>\d+) errors? (?:was|were) not a part of any test, see above for details`)},
		{kind: counts, re: wholeLine(` {2}(?P<pass>\d+) flaky`), nextSection: "flaky"},
		{kind: counts, re: wholeLine(` {2}(?P<skip>\d+) (?:skipped|did not run)`), nextSection: "rest"},
		{kind: counts, re: wholeLine(` {2}(?P<pass>\d+) passed(?: \([\d.]+\w+\))?`), nextSection: "rest"},
		{kind: failedTest, section: "failed", re: wholeLine(` {4}(?P<name>\S.*?)(?: ─*)?`)},
		{kind: noTests, re: wholeLine(`Error: No tests found\.?`)},
		{kind: runnerError, re: wholeLine(`Error: (?:Project\(s\) .* not found.*|.*playwright\.config\..*)`)},
		{kind: unconfirmedFailure, re: wholeLine(`(?P<err>\w*Error: .*)`)}, // a file that does not load
		{kind: otherFailure, re: wholeLine(` {2}Timed out waiting .* for the .*`)},
		{kind: runnerError, re: wholeLine(`error: unknown (?:option|command) .*`)},
	}}
})

// playwrightCorrect ignores the absence of tests if a file did not load.
func playwrightCorrect(r *reader) {
	correctEmpty(r)
	r.NoTests = r.NoTests && !r.OtherFailure
}
