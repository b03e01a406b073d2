package dialect

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// javascript holds the runners of JavaScript.
var javascript = []dialect{
	{name: "jest", correct: jestCorrect, rules: []rule{
		{kind: summaryStart, line: `Test Suites: (?:(?P<suites>\d+) failed, )?(?:.*, )?\d+(?: of \d+)? total`},
		{kind: counts, line: `Tests: +(?P<counts>.*\d+ total)`},
		{kind: typicalLine, line: `Snapshots: +.*total`},
		{kind: typicalLine, line: `Time: +[\d.]+ m?s(?:, estimated [\d.]+ m?s)?`},
		{kind: typicalLine, line: `Ran all test suites.*\.`},
		{kind: resetNames, line: `Summary of all failing tests`},
		{kind: failedTest, line: `  ● (?P<name>.+ › .+)`, errorFollows: true},
		{kind: lastFileFailed, line: `  ● Test suite failed to run`, errorFollows: true},
		{kind: typicalLine, line: `  ● Console`},
		{kind: failedTest, line: `  ● (?P<name>\S.*)`, errorFollows: true},
		{kind: failedFile, line: `FAIL (?:\S+ )?(?P<name>\S*\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?`},
		{kind: typicalLine, line: `PASS (?:\S+ )?\S*\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?`},
		{kind: noTests, line: `No tests found, exiting with code \d`},
		{kind: noTests, line: `No tests found related to files changed since .*\.`},
		{kind: gateFailed, line: `Jest: .*coverage threshold for .*`},
		{kind: runnerError, line: `● (?:Validation Error|Unrecognized CLI Parameters?|Multiple configurations found|Deprecation Error).*`},
		{kind: runnerError, line: `(?:Error: )?(?:Could not resolve a module for a custom reporter|Can't find a root directory while resolving a config file path|Could not find a config file based on provided values|Jest: Failed to parse the TypeScript config file).*`},
	}},
	{name: "vitest", correct: correctEmpty, rules: []rule{
		{kind: typicalLine, line: ` *(?:RUN|DEV) +v\d+\.\S+ .*`},
		{kind: summaryStart, line: ` *Test Files +(?:(?P<suites>\d+) failed)?.*(?:\(\d+\)|no tests)`},
		{kind: counts, line: ` *Tests +(?P<counts>.*)(?:\(\d+\)|no tests)`},
		{kind: counts, line: ` *Errors +(?P<errors>\d+) errors?`},
		{kind: counts, line: ` *Type Errors +(?P<errors>\d+) .*`},
		{kind: typicalLine, line: ` *Start at +[\d:]+`},
		{kind: typicalLine, line: ` *Duration +[\d.]+m?s.*`},
		{kind: failedTest, line: ` *FAIL +(?P<name>\S.*?)(?: \[ .* \])?`, errorFollows: true},
		{kind: otherFailure, line: `⎯+ *(?:Unhandled (?:Errors?|Rejection)|Uncaught Exception) *⎯+`, nextSection: "unhandled"},
		{kind: firstError, section: "unhandled", line: `(?P<err>\w*(?:Error|Exception)\b.*: .*)`},
		{kind: noTests, line: `No test files found, exiting with code \d`},
		{kind: gateFailed, line: `ERROR: Coverage for .*`},
		{kind: runnerError, line: `⎯+ *Startup Error *⎯+`, errorFollows: true},
		{kind: runnerError, line: `(?:CACError: .*|failed to load config from .*| *MISSING DEPENDENCY .*)`},
	}},
	{name: "mocha", readLine: mochaName, correct: correctEmpty, rules: []rule{
		{kind: summaryStart, line: ` +(?P<pass>\d+) passing(?: \([\d.]+m?s?\))?`, nextSection: "sum"},
		{kind: counts, section: "sum", line: ` +(?P<skip>\d+) pending`},
		{kind: counts, section: "sum", line: ` +(?P<fail>\d+) failing`, nextSection: "failures"},
		{kind: typicalLine, line: `      \+ expected - actual`},
		{kind: typicalLine, line: ` +at (?:async )?Context\.<anonymous> \(.*\)`},
		{kind: typicalLine, line: ` +at (?:listOnTimeout|process\.process\w+) \(node:internal/.*\)`},
		{kind: noTests, line: `(?:Error: )?No test files found(?:: .*)?`},
		{kind: noTests, line: `(?:Warning|Error): Cannot find any files matching pattern .*`},
		{kind: runnerError, line: `.*(?:ERR_MOCHA_INVALID_(?:REPORTER|INTERFACE|ARG_VALUE)).*`},
		{kind: gateFailed, line: `ERROR: Coverage for .*`},
	}},
	{name: "node", correct: correctEmpty, rules: []rule{
		{kind: summaryStart, line: `[ℹ#] tests \d+`},
		{kind: typicalLine, line: `[ℹ#] suites \d+`},
		{kind: counts, line: `[ℹ#] pass (?P<pass>\d+)`},
		{kind: counts, line: `[ℹ#] fail (?P<fail>\d+)`},
		{kind: counts, line: `[ℹ#] cancelled (?P<fail>\d+)`},
		{kind: counts, line: `[ℹ#] (?:skipped|todo) (?P<skip>\d+)`},
		{kind: typicalLine, line: `[ℹ#] duration_ms [\d.]+`},
		{kind: resetNames, line: `✖ failing tests:`, nextSection: "failures"},
		{kind: failedTest, section: "failures", line: `✖ (?P<name>.+) \([\d.]+m?s\)`, errorFollows: true},
		{kind: noTests, line: `Could not find '.*'`},
		{kind: runnerError, line: `\S*node: bad option: .*`},
		{kind: gateFailed, line: `[ℹ#] Error: [\d.]+% \w+ coverage does not meet threshold of .*`},
	}},
	{name: "ava", correct: avaCorrect, readLine: countTicks, rules: []rule{
		{kind: summaryStart, line: `  ─`},
		{kind: counts, line: `  (?P<counts>\d+ tests? (?:failed|passed|skipped|todo))`},
		{kind: counts, line: `  (?P<skip>\d+) (?:tests? todo|known failures?)`},
		{kind: counts, line: `  (?P<errors>\d+) (?:uncaught exceptions?|unhandled rejections?|unhandled errors?|tests? timed out|tests? remaining .*|tests? (?:was|were) pending .*)`},
		{kind: failedTest, line: `  ✘ \[fail\]: (?P<name>.+?)(?: (?:Rejected promise returned by test|Error thrown in test|Test finished without running any assertions|Test was expected to fail, but succeeded.*))?`},
		{kind: otherFailure, line: `  ✘ (?P<err>.*exited (?:with a non-zero exit code|due to).*|Timed out while running tests|No tests found in .*|.* timed out)`},
		{kind: otherFailure, line: `  Uncaught exception in .*`, errorFollows: true},
		{kind: noTests, line: `  ✘ (?:Couldn.t find any (?:files to test|matching tests)|No tests found|Based on your configuration, \d+ test files? (?:was|were) found, but did not match).*`},
		{kind: runnerError, line: `  ✘ (?:Error loading .*|Unknown option.*|Could not find package.json.*)`},
	}},
	{name: "jasmine", correct: correctEmpty, rules: []rule{
		{kind: summaryStart, line: `(?:Ran \d+ of )?(?P<total>\d+) specs?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) pending specs?)?`},
		{kind: typicalLine, line: `Finished in [\d.]+ seconds?`},
		{kind: typicalLine, line: `Randomized with seed \d+(?: \(.*\))?`},
		{kind: typicalLine, line: `Started`},
		{kind: resetNames, line: `Failures:`, nextSection: "failures"},
		{kind: sectionStart, line: `Pending:`, nextSection: "pending"},
		{kind: failedTest, section: "failures", line: `\d+\) (?P<name>.+)`},
		{kind: sectionStart, section: "failures", line: `  Message:`, errorFollows: true},
		{kind: otherFailure, line: `Suite error: .*`, nextSection: "suite"},
		{kind: sectionStart, section: "suite", line: `  Message:`, errorFollows: true},
		{kind: noTests, line: `Incomplete: No specs found.*`},
		{kind: noTests, line: `No specs found`},
		{kind: gateFailed, line: `Incomplete: f.*`},
	}},
	{name: "tap", rules: []rule{
		{kind: summaryStart, line: `Asserts: +(?P<counts>.*) of \d+`},
		{kind: counts, line: `Suites: +(?P<counts>.*) of \d+ completed`},
		{kind: typicalLine, line: `Time: +[\d.]+m?s`},
		{kind: summaryStart, line: `# \{ total: \d+(?:, pass: (?P<pass>\d+))?(?:, fail: (?P<fail>\d+))?(?:, todo: (?P<skip>\d+))?.* \}`},
		{kind: typicalLine, line: `# time=[\d.]+m?s`},
		{kind: typicalLine, line: `TAP version \d+`},
		{kind: gateFailed, line: `(?:# )?ERROR: (?:incomplete t|No t?)?.*[cC]overage.*`},
		{kind: summaryStart, line: `# tests +\d+`},
		{kind: counts, line: `# pass +(?P<pass>\d+)`},
		{kind: counts, line: `# fail +(?P<fail>\d+)`},
		{kind: counts, line: `# skip(?:ped)? +(?P<skip>\d+)`},
		{kind: typicalLine, line: `# ok`},
	}},
	{name: "bun", correct: correctEmpty, rules: []rule{
		{kind: typicalLine, line: `bun test v\d\S*(?: \(.*\))?`},
		{kind: summaryStart, line: ` *(?P<pass>\d+) pass`},
		{kind: counts, line: ` *(?P<skip>\d+) (?:skip|todo)`},
		{kind: counts, line: ` *(?P<fail>\d+) fail`},
		{kind: counts, line: ` *(?P<errors>\d+) errors?`},
		{kind: typicalLine, line: `Ran \d+ tests? across \d+ files?\..*`},
		{kind: failedTest, line: `(?:\(fail\)|✗) (?P<name>.+?)(?: \[[\d.]+m?s\])?`},
		{kind: firstError, line: `error: (?P<err>.+)`},
		{kind: noTests, line: `(?:No tests found!|Test filter ".*" had no matches|The following filters did not match any test files.*|error: 0 test files matching .*)`},
	}},
	{name: "playwright", correct: playwrightCorrect, rules: []rule{
		{kind: summaryStart, line: `Running \d+ tests? using \d+ workers?`},
		{kind: summaryStart, line: ` +[✓✘±-] +\d+ .*:\d+:\d+ › .*`},
		{kind: summaryStart, line: ` {2}\d+\) .*:\d+:\d+ › .+`, nextSection: "detail", errorFollows: true},
		{kind: summaryStart, line: `[·F°×T±]+`},
		{kind: counts, line: ` {2}(?P<fail>\d+) failed`, nextSection: "failed"},
		{kind: counts, line: ` {2}(?P<fail>\d+) interrupted`, nextSection: "interrupted"},
		{kind: counts, line: ` {2}(?P<errors>\d+) errors? (?:was|were) not a part of any test, see above for details`},
		{kind: counts, line: ` {2}(?P<pass>\d+) flaky`, nextSection: "flaky"},
		{kind: counts, line: ` {2}(?P<skip>\d+) (?:skipped|did not run)`, nextSection: "rest"},
		{kind: counts, line: ` {2}(?P<pass>\d+) passed(?: \([\d.]+\w+\))?`, nextSection: "rest"},
		{kind: failedTest, section: "failed", line: ` {4}(?P<name>\S.*?)(?: ─*)?`},
		{kind: noTests, line: `Error: No tests found\.?`},
		{kind: runnerError, line: `Error: (?:Project\(s\) .* not found.*|.*playwright\.config\..*)`},
		{kind: unconfirmedFailure, line: `(?P<err>\w*Error: .*)`}, // a file that does not load
		{kind: otherFailure, line: ` {2}Timed out waiting .* for the .*`},
		{kind: runnerError, line: `error: unknown (?:option|command) .*`},
	}},
}

func jestCorrect(r *reader) {
	for i, n := range r.Failing {
		r.Failing[i] = strings.ReplaceAll(n, " › ", " > ")
	}
	correctEmpty(r)
}

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

// playwrightCorrect ignores the absence of tests if a file did not load.
func playwrightCorrect(r *reader) {
	correctEmpty(r)
	r.NoTests = r.NoTests && !r.OtherFailure
}
