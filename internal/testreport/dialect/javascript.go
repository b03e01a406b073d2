package dialect

import (
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

var jest = sync.OnceValue(func() Dialect {
	return Dialect{correct: jestCorrect, rules: []rule{
		{kind: start, re: line(`Test Suites: (?:(?P<suites>\d+) failed, )?(?:.*, )?\d+(?: of \d+)? total`)},
		{kind: count, re: line(`Tests: +(?P<counts>.*\d+ total)`)},
		{kind: mark, re: line(`Snapshots: +.*total`)},
		{kind: mark, re: line(`Time: +[\d.]+ m?s(?:, estimated [\d.]+ m?s)?`)},
		{kind: mark, re: line(`Ran all test suites.*\.`)},
		{kind: forget, re: line(`Summary of all failing tests`)},
		{kind: name, re: line(`  ● (?P<name>.+ › .+)`), next: true},
		{kind: whole, re: line(`  ● Test suite failed to run`), next: true},
		{kind: mark, re: line(`  ● Console`)},
		{kind: name, re: line(`  ● (?P<name>\S.*)`), next: true},
		{kind: subject, re: line(`FAIL (?:\S+ )?(?P<name>\S*\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?`)},
		{kind: mark, re: line(`PASS (?:\S+ )?\S*\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?`)},
		{kind: none, re: line(`No tests found, exiting with code \d`)},
		{kind: none, re: line(`No tests found related to files changed since .*\.`)},
		{kind: gated, re: line(`Jest: .*coverage threshold for .*`)},
		{kind: broken, re: line(`● (?:Validation Error|Unrecognized CLI Parameters?|Multiple configurations found|Deprecation Error).*`)},
		{kind: broken, re: line(`(?:Error: )?(?:Could not resolve a module for a custom reporter|Can't find a root directory while resolving a config file path|Could not find a config file based on provided values|Jest: Failed to parse the TypeScript config file).*`)},
	}}
})

func jestCorrect(r *reading) {
	for i, n := range r.Failing {
		r.Failing[i] = strings.ReplaceAll(n, " › ", " > ")
	}
	noneIfZero(r)
}

var vitest = sync.OnceValue(func() Dialect {
	return Dialect{correct: noneIfZero, rules: []rule{
		{kind: mark, re: line(` *(?:RUN|DEV) +v\d+\.\S+ .*`)},
		{kind: start, re: line(` *Test Files +(?:(?P<suites>\d+) failed)?.*(?:\(\d+\)|no tests)`)},
		{kind: count, re: line(` *Tests +(?P<counts>.*)(?:\(\d+\)|no tests)`)},
		{kind: count, re: line(` *Errors +(?P<errors>\d+) errors?`)},
		{kind: count, re: line(` *Type Errors +(?P<errors>\d+) .*`)},
		{kind: mark, re: line(` *Start at +[\d:]+`)},
		{kind: mark, re: line(` *Duration +[\d.]+m?s.*`)},
		{kind: name, re: line(` *FAIL +(?P<name>\S.*?)(?: \[ .* \])?`), next: true},
		{kind: bad, re: line(`⎯+ *(?:Unhandled (?:Errors?|Rejection)|Uncaught Exception) *⎯+`), to: "unhandled"},
		{kind: first, in: "unhandled", re: line(`(?P<err>\w*(?:Error|Exception)\b.*: .*)`)},
		{kind: none, re: line(`No test files found, exiting with code \d`)},
		{kind: gated, re: line(`ERROR: Coverage for .*`)},
		{kind: broken, re: line(`⎯+ *Startup Error *⎯+`), next: true},
		{kind: broken, re: line(`(?:CACError: .*|failed to load config from .*| *MISSING DEPENDENCY .*)`)},
	}}
})

var mocha = sync.OnceValue(func() Dialect {
	return Dialect{line: mochaName, correct: noneIfZero, rules: []rule{
		{kind: start, re: line(` +(?P<pass>\d+) passing(?: \([\d.]+m?s?\))?`), to: "sum"},
		{kind: count, in: "sum", re: line(` +(?P<skip>\d+) pending`)},
		{kind: count, in: "sum", re: line(` +(?P<fail>\d+) failing`), to: "failures"},
		{kind: mark, re: line(`      \+ expected - actual`)},
		{kind: mark, re: line(` +at (?:async )?Context\.<anonymous> \(.*\)`)},
		{kind: mark, re: line(` +at (?:listOnTimeout|process\.process\w+) \(node:internal/.*\)`)},
		{kind: none, re: line(`(?:Error: )?No test files found(?:: .*)?`)},
		{kind: none, re: line(`(?:Warning|Error): Cannot find any files matching pattern .*`)},
		{kind: broken, re: line(`.*(?:ERR_MOCHA_INVALID_(?:REPORTER|INTERFACE|ARG_VALUE)).*`)},
		{kind: gated, re: line(`ERROR: Coverage for .*`)},
	}}
})

var (
	mochaHead = regex.New(`^  \d+\) (.+)$`)
	mochaPart = regex.New(`^ {7,}(\S.*)$`)
)

// mochaName gathers a name from the lines of its suites; the last ends with a
// colon.
func mochaName(r *reading, line string) bool {
	if r.section == "sum" { // the counts come between a test's own words and the failures
		return false
	}
	if m := mochaHead.FindStringSubmatch(line); m != nil {
		r.part = []string{m[1]}
	} else if m := mochaPart.FindStringSubmatch(line); m != nil && r.part != nil && len(r.part) < 30 {
		r.part = append(r.part, m[1])
	} else {
		r.part = nil
		return false
	}
	if last := r.part[len(r.part)-1]; strings.HasSuffix(last, ":") {
		r.part[len(r.part)-1] = strings.TrimSuffix(last, ":")
		r.name(strings.Join(r.part, " > "))
		r.marks[-1] = true
		r.part, r.want = nil, r.FirstError == ""
	}
	return true
}

var node = sync.OnceValue(func() Dialect {
	return Dialect{correct: noneIfZero, rules: []rule{
		{kind: start, re: line(`[ℹ#] tests \d+`)},
		{kind: mark, re: line(`[ℹ#] suites \d+`)},
		{kind: count, re: line(`[ℹ#] pass (?P<pass>\d+)`)},
		{kind: count, re: line(`[ℹ#] fail (?P<fail>\d+)`)},
		{kind: count, re: line(`[ℹ#] cancelled (?P<fail>\d+)`)},
		{kind: count, re: line(`[ℹ#] (?:skipped|todo) (?P<skip>\d+)`)},
		{kind: mark, re: line(`[ℹ#] duration_ms [\d.]+`)},
		{kind: forget, re: line(`✖ failing tests:`), to: "failures"},
		{kind: name, in: "failures", re: line(`✖ (?P<name>.+) \([\d.]+m?s\)`), next: true},
		{kind: none, re: line(`Could not find '.*'`)},
		{kind: broken, re: line(`\S*node: bad option: .*`)},
		{kind: gated, re: line(`[ℹ#] Error: [\d.]+% \w+ coverage does not meet threshold of .*`)},
	}}
})

var ava = sync.OnceValue(func() Dialect {
	return Dialect{correct: avaCorrect, line: avaPassed, rules: []rule{
		{kind: start, re: line(`  ─`)},
		{kind: count, re: line(`  (?P<counts>\d+ tests? (?:failed|passed|skipped|todo))`)},
		{kind: count, re: line(`  (?P<skip>\d+) (?:tests? todo|known failures?)`)},
		{kind: count, re: line(`  (?P<errors>\d+) (?:uncaught exceptions?|unhandled rejections?|unhandled errors?|tests? timed out|tests? remaining .*|tests? (?:was|were) pending .*)`)},
		{kind: name, re: line(`  ✘ \[fail\]: (?P<name>.+?)(?: (?:Rejected promise returned by test|Error thrown in test|Test finished without running any assertions|Test was expected to fail, but succeeded.*))?`)},
		{kind: bad, re: line(`  ✘ (?P<err>.*exited (?:with a non-zero exit code|due to).*|Timed out while running tests|No tests found in .*|.* timed out)`)},
		{kind: bad, re: line(`  Uncaught exception in .*`), next: true},
		{kind: none, re: line(`  ✘ (?:Couldn.t find any (?:files to test|matching tests)|No tests found|Based on your configuration, \d+ test files? (?:was|were) found, but did not match).*`)},
		{kind: broken, re: line(`  ✘ (?:Error loading .*|Unknown option.*|Could not find package.json.*)`)},
	}}
})

// avaTick is a test that passed, alone or below its file; one that fails as it is
// expected to is ticked as well.
var avaTick = regex.New(`^  ✔ [^\s[]`)

func avaPassed(r *reading, line string) bool {
	if avaTick.MatchString(line) {
		r.ticks++
	}
	return false
}

// avaCorrect: the summary of a red run does not count the tests that passed.
func avaCorrect(r *reading) {
	if r.Failed > 0 && r.Passed == 0 {
		r.Passed = r.ticks
	}
	noneIfZero(r)
}

var jasmine = sync.OnceValue(func() Dialect {
	return Dialect{correct: noneIfZero, rules: []rule{
		{kind: start, re: line(`(?:Ran \d+ of )?(?P<total>\d+) specs?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) pending specs?)?`)},
		{kind: mark, re: line(`Finished in [\d.]+ seconds?`)},
		{kind: mark, re: line(`Randomized with seed \d+(?: \(.*\))?`)},
		{kind: mark, re: line(`Started`)},
		{kind: forget, re: line(`Failures:`), to: "failures"},
		{kind: enter, re: line(`Pending:`), to: "pending"},
		{kind: name, in: "failures", re: line(`\d+\) (?P<name>.+)`)},
		{kind: enter, in: "failures", re: line(`  Message:`), next: true},
		{kind: bad, re: line(`Suite error: .*`), to: "suite"},
		{kind: enter, in: "suite", re: line(`  Message:`), next: true},
		{kind: none, re: line(`Incomplete: No specs found.*`)},
		{kind: none, re: line(`No specs found`)},
		{kind: gated, re: line(`Incomplete: f.*`)},
	}}
})

var tap = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: start, re: line(`Asserts: +(?P<counts>.*) of \d+`)},
		{kind: count, re: line(`Suites: +(?P<counts>.*) of \d+ completed`)},
		{kind: mark, re: line(`Time: +[\d.]+m?s`)},
		{kind: start, re: line(`# \{ total: \d+(?:, pass: (?P<pass>\d+))?(?:, fail: (?P<fail>\d+))?(?:, todo: (?P<skip>\d+))?.* \}`)},
		{kind: mark, re: line(`# time=[\d.]+m?s`)},
		{kind: mark, re: line(`TAP version \d+`)},
		{kind: gated, re: line(`(?:# )?ERROR: (?:incomplete t|No t?)?.*[cC]overage.*`)},
		{kind: start, re: line(`# tests +\d+`)},
		{kind: count, re: line(`# pass +(?P<pass>\d+)`)},
		{kind: count, re: line(`# fail +(?P<fail>\d+)`)},
		{kind: count, re: line(`# skip(?:ped)? +(?P<skip>\d+)`)},
		{kind: mark, re: line(`# ok`)},
	}}
})

var bun = sync.OnceValue(func() Dialect {
	return Dialect{correct: noneIfZero, rules: []rule{
		{kind: mark, re: line(`bun test v\d\S*(?: \(.*\))?`)},
		{kind: start, re: line(` *(?P<pass>\d+) pass`)},
		{kind: count, re: line(` *(?P<skip>\d+) (?:skip|todo)`)},
		{kind: count, re: line(` *(?P<fail>\d+) fail`)},
		{kind: count, re: line(` *(?P<errors>\d+) errors?`)},
		{kind: mark, re: line(`Ran \d+ tests? across \d+ files?\..*`)},
		{kind: name, re: line(`(?:\(fail\)|✗) (?P<name>.+?)(?: \[[\d.]+m?s\])?`)},
		{kind: first, re: line(`error: (?P<err>.+)`)},
		{kind: none, re: line(`(?:No tests found!|Test filter ".*" had no matches|The following filters did not match any test files.*|error: 0 test files matching .*)`)},
	}}
})

var playwright = sync.OnceValue(func() Dialect {
	return Dialect{correct: playwrightCorrect, rules: []rule{
		{kind: start, re: line(`Running \d+ tests? using \d+ workers?`)},
		{kind: start, re: line(` +[✓✘±-] +\d+ .*:\d+:\d+ › .*`)},
		{kind: start, re: line(` {2}\d+\) .*:\d+:\d+ › .+`), to: "detail", next: true},
		{kind: start, re: line(`[·F°×T±]+`)},
		{kind: count, re: line(` {2}(?P<fail>\d+) failed`), to: "failed"},
		{kind: count, re: line(` {2}(?P<fail>\d+) interrupted`), to: "interrupted"},
		{kind: count, re: line(` {2}(?P<errors>\d+) errors? (?:was|were) not a part of any test, see above for details`)},
		{kind: count, re: line(` {2}(?P<pass>\d+) flaky`), to: "flaky"},
		{kind: count, re: line(` {2}(?P<skip>\d+) (?:skipped|did not run)`), to: "rest"},
		{kind: count, re: line(` {2}(?P<pass>\d+) passed(?: \([\d.]+\w+\))?`), to: "rest"},
		{kind: name, in: "failed", re: line(` {4}(?P<name>\S.*?)(?: ─*)?`)},
		{kind: none, re: line(`Error: No tests found\.?`)},
		{kind: broken, re: line(`Error: (?:Project\(s\) .* not found.*|.*playwright\.config\..*)`)},
		{kind: red, re: line(`(?P<err>\w*Error: .*)`)}, // of a file that does not load
		{kind: bad, re: line(` {2}Timed out waiting .* for the .*`)},
		{kind: broken, re: line(`error: unknown (?:option|command) .*`)},
	}}
})

// playwrightCorrect: a file that does not load has no tests to find.
func playwrightCorrect(r *reading) {
	noneIfZero(r)
	r.None = r.None && !r.Bad
}
