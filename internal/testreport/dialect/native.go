package dialect

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

var golang = sync.OnceValue(func() Dialect {
	return Dialect{correct: goCorrect, rules: []rule{
		{kind: failedTest, re: wholeLine(`FAIL\t(?P<name>\S+ \[(?:build|setup) failed\])`)},
		{kind: failedFile, re: wholeLine(`FAIL\t(?P<name>\S+)\t(?:\(cached\)|[\d.]+s)`)},
		{kind: otherFailure, re: wholeLine(`FAIL`)},
		{kind: noTests, re: wholeLine(`ok  \t\S+\t(?:\(cached\)|[\d.]+s)(?:\tcoverage: .*)? \[no tests to run\]`)},
		{kind: counts, re: wholeLine(`(?P<pass>)ok  \t\S+\t(?:\(cached\)|[\d.]+s).*`)},
		{kind: noTests, re: wholeLine(`\?   \t\S+\t\[no test files\]`)},
		{kind: noTests, re: wholeLine(`(?:testing: warning: no tests to run|no packages to test)`)},
		{kind: counts, re: wholeLine(`PASS`)},
		{kind: failedTest, re: wholeLine(`\s*--- FAIL: (?P<name>\S+)(?: \([\d.]+s\))?`)},
		{kind: typicalLine, re: wholeLine(`\s*--- (?:PASS|SKIP): \S+ \([\d.]+s\)`)},
		{kind: typicalLine, re: wholeLine(`=== (?:RUN|PAUSE|CONT|NAME) +\S+`)},
		{kind: firstError, re: regex.New(`^\s*(?P<err>\S+\.go:\d+(?::\d+)?: \S.*)$`)},
		{kind: firstError, re: regex.New(`^(?P<err>(?:panic|fatal error): \S.*)$`)},
		{kind: runnerError, re: wholeLine(`go: (?:cannot find main module.*|go\.mod file not found.*|errors parsing go\.mod:|updates to go\.mod needed.*|unknown command.*|no such tool.*|malformed .*)`)},
		{kind: runnerError, re: wholeLine(`(?:flag provided but not defined: .*|invalid value .* for flag .*|stat .*: directory not found|pattern \S+: .*)`)},
	}}
})

// goCorrect counts a package that passed as one test, because the text does not count tests.
func goCorrect(r *reader) {
	r.OtherFailure = r.OtherFailure || r.matched[0] || r.matched[1]
	passed := r.matched[4] || r.matched[7] && !r.matched[3] && !r.matched[6]
	if passed || r.OtherFailure {
		r.NoTests = false
	}
	if r.matched[4] {
		r.Passed, r.PassedUncounted = 1, true
	}
	r.HasSummary = r.HasSummary || r.NoTests || r.OtherFailure
	if r.OtherFailure && !onlySetup(r.Failing) {
		r.RunnerError = false
	} else if r.RunnerError { // the package does not exist
		r.OtherFailure, r.Failing, r.failedFiles = false, nil, nil
	}
}

func onlySetup(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !strings.HasSuffix(n, " [setup failed]") })
}

var cargo = sync.OnceValue(func() Dialect {
	return Dialect{correct: correctEmpty, rules: []rule{
		{kind: counts, re: wholeLine(`test result: (?P<verdict>ok|FAILED)\. (?P<pass>\d+) passed; (?P<fail>\d+) failed; (?P<skip>\d+) ignored; \d+ measured; \d+ filtered out(?:; finished in [\d.]+s)?`)},
		{kind: typicalLine, re: wholeLine(`running \d+ tests?`)},
		{kind: typicalLine, re: wholeLine(` +(?:Finished|Compiling|Running|Doc-tests) .*`)},
		{kind: sectionStart, re: wholeLine(`failures:`), nextSection: "failures"},
		{kind: typicalLine, section: "failures", re: wholeLine(`---- .+ stdout ----`), nextSection: "output"},
		{kind: failedTest, section: "failures", re: wholeLine(`    (?P<name>\S.*)`)},
		{kind: typicalLine, re: wholeLine(`thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:`), errorFollows: true},
		{kind: firstError, re: wholeLine(`thread '.*' panicked at (?P<err>'.*)`)},
		{kind: unconfirmedFailure, re: wholeLine(`error: test failed, to rerun pass .*`)},
		{kind: unconfirmedFailure, re: wholeLine(`error: \d+ targets? failed:`)},
		{kind: unconfirmedFailure, re: wholeLine(`error: doctest failed, to rerun pass .*`)},
		{kind: otherFailure, re: wholeLine(`error: could not compile .*`)},
		{kind: runnerError, re: wholeLine(`error: (?:could not find .Cargo\.toml.|unexpected argument|no such (?:sub)?command|no test target named|no targets? |package ID specification|failed to (?:parse|load) manifest|toolchain|failed to get|no matching package|the option|Found argument|unknown).*`)},
		{kind: firstError, re: wholeLine(`(?P<err>error(?:\[E\d+\])?: .+)`)},
		{kind: summaryStart, re: wholeLine(` +Summary \[ *[\d.]+s\] +\d+(?:/\d+)? tests? run: (?P<counts>.*)`)},
		{kind: failedTest, re: wholeLine(` +(?:FAIL|TIMEOUT|SIG\w+) \[ *[\d.]+s\] +(?:\( *\d+/\d+\) +)?(?P<name>\S+ .+)`)},
	}}
})

var pytest = sync.OnceValue(func() Dialect {
	return Dialect{correct: pytestCorrect, rules: []rule{
		{kind: summaryStart, re: wholeLine(`(?:=+ )?(?P<counts>(?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests? (?:passed|failed))(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?`)},
		{kind: typicalLine, re: wholeLine(`=+ test session starts =+`)},
		{kind: typicalLine, re: wholeLine(`platform \S+ -- Python .*`)},
		{kind: typicalLine, re: wholeLine(`collect(?:ed|ing) .*items?.*`)},
		{kind: typicalLine, re: wholeLine(`rootdir: .*`)},
		{kind: resetNames, re: wholeLine(`=+ short test summary info =+`), nextSection: "short"},
		{kind: sectionStart, re: wholeLine(`=+ (?:FAILURES|ERRORS) =+`), nextSection: "failures"},
		{kind: failedTest, section: "short", re: wholeLine(`(?:FAILED|ERROR) (?P<name>\S+?\[.*?\]|\S.*?)(?: - (?P<err>.*))?`)},
		{kind: failedTest, section: "failures", re: wholeLine(`_{3,} (?:ERROR (?:collecting|at \w+ of) )?(?P<name>\S.*?) _{3,}`)},
		{kind: firstError, section: "failures", re: wholeLine(`E   +(?P<err>\S.*)`)},
		{kind: interrupted, re: wholeLine(`!+ (?:KeyboardInterrupt|_pytest\.outcomes\.Exit.*) !+`)},
		{kind: runnerError, re: wholeLine(`(?:ERROR: (?:usage: .*|file or directory not found: .*|not found: .*|unrecognized arguments: .*|.*error: .*)|INTERNALERROR> .*|ImportError while loading conftest .*|\S+: error: .*)`)},
		{kind: gateFailed, re: wholeLine(`(?:ERROR: )?FAIL Required test coverage of .*`)},
		{kind: sectionStart, re: wholeLine(`=+ [A-Za-z].* =+`), nextSection: "other"},
	}}
})

func pytestCorrect(r *reader) {
	if r.HasSummary && !r.OtherFailure && r.Failed+r.errors+r.Passed+r.Skipped == 0 {
		r.NoTests = true
	}
	if r.errors > 0 { // a collection error is not an error of the runner
		r.RunnerError = r.RunnerError && r.Failed+r.Passed == 0 && strings.Contains(r.FirstError, "not found")
	}
}

var unittest = sync.OnceValue(func() Dialect {
	return Dialect{errorsInTotal: true, correct: correctEmpty, readLine: unittestName, rules: []rule{
		{kind: summaryStart, re: wholeLine(`Ran (?P<total>\d+) tests? in [\d.]+s`), nextSection: "end"},
		{kind: counts, section: "end", re: wholeLine(`(?P<verdict>OK|FAILED)(?: \((?P<counts>.*)\))?`)},
		{kind: noTests, re: wholeLine(`NO TESTS RAN(?: \(.*\))?`)},
		{kind: sectionStart, re: wholeLine(`={70}`), nextSection: "failures"},
		{kind: firstError, section: "failures", re: wholeLine(`(?P<err>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Failure)(?:: .*)?)`)},
		{kind: noTests, re: wholeLine(`Ran 0 tests in [\d.]+s`)},
		{kind: interrupted, re: wholeLine(`KeyboardInterrupt`)},
	}}
})

var unittestFailed = regex.New(`^(?:FAIL|ERROR): (\S+) \(([^()]*)\)(.*)$`)

// unittestName reads the heading of a failed test. Since Python 3.11 the class in parentheses also
// contains the name of the test. A module that could not be imported has a class of the loader,
// which is removed.
func unittestName(r *reader, line string) bool {
	m := unittestFailed.FindStringSubmatch(line)
	if m == nil || r.section != "failures" {
		return false
	}
	id := m[2]
	if !strings.HasSuffix(id, "."+m[1]) && id != m[1] {
		id += "." + m[1]
	}
	r.addName(strings.TrimPrefix(id, "unittest.loader._FailedTest.") + m[3])
	return true
}

var rspec = sync.OnceValue(func() Dialect {
	return Dialect{correct: rspecCorrect, rules: []rule{
		{kind: summaryStart, re: wholeLine(`(?P<total>\d+) examples?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) pending)?(?:, (?P<errors>\d+) errors? occurred outside of examples)?`)},
		{kind: typicalLine, re: wholeLine(`Finished in [\d.]+ .*\(files took .* to load\)`)},
		{kind: sectionStart, re: wholeLine(`Failures:`), nextSection: "failures"},
		{kind: sectionStart, re: wholeLine(`Pending: \(.*\)`), nextSection: "pending"},
		{kind: typicalLine, section: "failures", re: wholeLine(` +Failure/Error: .*`), errorFollows: true},
		{kind: resetNames, re: wholeLine(`Failed examples:`), nextSection: "failed"},
		{kind: failedTest, section: "failed", re: wholeLine(`rspec \S.*? # (?P<name>.+)`)},
		{kind: failedTest, re: wholeLine(`An error occurred while loading (?P<name>\S+)\.`), errorFollows: true},
		{kind: noTests, re: wholeLine(`(?:No examples found\.|All examples were filtered out.*)`)},
		{kind: gateFailed, re: wholeLine(`(?:Line|Branch) coverage \(.*\) is below the expected minimum coverage .*`)},
		{kind: runnerError, re: wholeLine(`invalid option: .*`)},
	}}
})

func rspecCorrect(r *reader) {
	correctEmpty(r)
	r.NoTests = r.NoTests && r.Failed+r.errors == 0
}

var minitest = sync.OnceValue(func() Dialect {
	return Dialect{errorsInTotal: true, readLine: minitestName, rules: []rule{
		{kind: summaryStart, re: wholeLine(`(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<fail>\d+) failures, (?P<errors>\d+) errors, (?:\d+ pendings, \d+ omissions, \d+ notifications|(?P<skip>\d+) skips)`)},
		{kind: typicalLine, re: wholeLine(`Run options: .*--seed \d+`)},
		{kind: typicalLine, re: wholeLine(`Finished in [\d.]+s?(?: seconds\.|, .* runs/s, .*)`)},
		{kind: sectionStart, re: wholeLine(` +\d+\) (?:Failure|Error):`), nextSection: "name"},
		{kind: typicalLine, re: wholeLine(`# Running:`)},
	}}
})

var minitestTest = regex.New(`^(\S+#\S+?)(?: \[.*\])?:?$`)

func minitestName(r *reader, line string) bool {
	if r.section != "name" {
		return false
	}
	r.section = ""
	if m := minitestTest.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		r.addName(m[1])
		r.errorNext = r.FirstError == ""
	}
	return true
}

var bats = sync.OnceValue(func() Dialect {
	return Dialect{correct: correctEmpty, rules: []rule{
		{kind: summaryStart, re: wholeLine(`(?P<total>\d+) tests?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) skipped)?(?:, \d+ not run)?(?:, \d+ interrupted)?(?: in [\d.]+ seconds)?`)},
		{kind: failedTest, re: wholeLine(`.*✗ (?P<name>.+?)(?: \[\d+\])?`), errorFollows: true},
		{kind: typicalLine, re: wholeLine(`.*✓ .+`)},
		{kind: runnerError, re: wholeLine(`(?:Error: (?:Bad command line option|Must specify|Cannot).*|(?:Error|ERROR): Test file .* does not exist.*)`)},
	}}
})

var prove = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: summaryStart, re: wholeLine(`Result: (?P<verdict>PASS|FAIL|NOTESTS)`)},
		{kind: typicalLine, re: wholeLine(`Files=\d+, Tests=\d+, .*`)},
		{kind: typicalLine, re: wholeLine(`All tests successful\.`)},
		{kind: sectionStart, re: wholeLine(`Test Summary Report`), nextSection: "report"},
		{kind: failedTest, re: wholeLine(`#\s+Failed test '(?P<name>.+)'`), errorFollows: true},
		{kind: failedFile, section: "report", re: wholeLine(`(?P<name>\S+)\s+\(Wstat: .*\)`)},
		{kind: noTests, re: wholeLine(`(?:No tests run!|skipped: .*)`)},
		{kind: runnerError, re: wholeLine(`(?:Can't locate .* in @INC .*|Unknown option: .*|Cannot detect source of .*)`)},
		{kind: firstError, re: wholeLine(`(?P<err>.+ at \S+ line \d+\.)`)},
	}}
})

var junit = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: typicalLine, re: wholeLine(`JUnit version .*`)},
		{kind: summaryStart, re: wholeLine(`Time: [\d.,]+`)},
		{kind: counts, re: wholeLine(`OK \((?P<pass>\d+) tests?\)`)},
		{kind: counts, re: wholeLine(`Tests run: (?P<total>\d+),  Failures: (?P<fail>\d+)`)},
		{kind: typicalLine, re: wholeLine(`FAILURES!!!`)},
		{kind: typicalLine, re: wholeLine(`There (?:was|were) \d+ failures?:`), nextSection: "failures"},
		{kind: failedTest, section: "failures", re: wholeLine(`\d+\) (?P<name>\S+\(\S+\))`), errorFollows: true},
		{kind: runnerError, re: wholeLine(`(?:(?:\S+: )?Could not find class.*|Error: Could not find or load main class .*)`)},
		{kind: counts, re: wholeLine(`\[ +(?P<fail>\d+) tests failed +\]`)},
		{kind: counts, re: wholeLine(`\[ +(?P<pass>\d+) tests successful +\]`)},
		{kind: typicalLine, re: wholeLine(`\[ +\d+ tests (?:found|started|skipped|aborted) +\]`)},
		{kind: failedTest, re: wholeLine(`  JUnit \w+:.*:(?P<name>.+)`)},
	}, correct: junitCorrect}
})

// junitCorrect removes the failure that JUnit counts for a class that does not exist.
func junitCorrect(r *reader) {
	if r.RunnerError {
		r.Failed, r.Failing = 0, nil
	}
	correctEmpty(r)
}

var maven = sync.OnceValue(func() Dialect {
	return Dialect{errorsInTotal: true, rules: []rule{
		{kind: summaryStart, re: wholeLine(`\[(?:ERROR|INFO|WARNING)\] Tests run: (?P<total>\d+), Failures: (?P<fail>\d+), Errors: (?P<errors>\d+), Skipped: (?P<skip>\d+)`)},
		{kind: failedTest, re: wholeLine(`\[ERROR\] {3}(?P<name>[\w$.]+?)(?::\d+)?(?:->.*?)?(?: »? ?(?P<err>.*))?`)},
		{kind: typicalLine, re: wholeLine(`\[INFO\] BUILD (?:SUCCESS|FAILURE)`)},
		{kind: otherFailure, re: wholeLine(`\[ERROR\] COMPILATION ERROR :?`), errorFollows: true},
		{kind: noTests, re: wholeLine(`\[INFO\] No tests to run\.`)},
		{kind: noTests, re: wholeLine(`\[ERROR\] .*No tests (?:were executed|matching pattern).*`)},
		{kind: runnerError, re: wholeLine(`\[ERROR\] (?:Unknown lifecycle phase|The goal you specified requires|No plugin found|Non-parseable POM|Unable to parse).*`)},
		{kind: typicalLine, re: wholeLine(`\[INFO\]  T E S T S`)},
	}}
})

var gradle = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: counts, re: wholeLine(`(?P<total>\d+) tests? completed, (?P<fail>\d+) failed(?:, (?P<skip>\d+) skipped)?`)},
		{kind: failedTest, re: wholeLine(`(?P<name>\S.* > .+) FAILED`), errorFollows: true},
		{kind: typicalLine, re: wholeLine(`BUILD (?:SUCCESSFUL|FAILED) in .*`)},
		{kind: otherFailure, re: wholeLine(`> There were failing tests\..*`)},
		{kind: otherFailure, re: wholeLine(`> Compilation failed; see the compiler .*`)},
		{kind: typicalLine, re: wholeLine(`> Task :\S*[tT]est\S*(?: FAILED)?`)},
		{kind: noTests, re: wholeLine(`> No tests found for given includes: .*`)},
		{kind: runnerError, re: wholeLine(`(?:Task '.*' not found in .*|Directory '.*' does not contain a Gradle build\.)`)},
	}}
})

var phpunit = sync.OnceValue(func() Dialect {
	return Dialect{errorsInTotal: true, rules: []rule{
		{kind: typicalLine, re: wholeLine(`PHPUnit \d\S* by Sebastian Bergmann(?: and contributors)?\.`)},
		{kind: summaryStart, re: wholeLine(`Time: .*, Memory: .*`)},
		{kind: counts, re: wholeLine(`OK \((?P<pass>\d+) tests?, \d+ assertions?\)`)},
		{kind: counts, re: wholeLine(`(?P<verdict>FAILURES!|ERRORS!)`)},
		{kind: counts, re: wholeLine(`(?:WARNINGS!|OK, but .*)`)},
		{kind: counts, re: wholeLine(`Tests: (?P<total>\d+), Assertions: \d+(?:, (?P<counts>.*))?\.`)},
		{kind: sectionStart, re: wholeLine(`There (?:was|were) \d+ (?:failures?|errors?|PHPUnit errors?):`), nextSection: "failures"},
		{kind: sectionStart, re: wholeLine(`(?:There (?:was|were) \d+ .*:|--)`), nextSection: "other"},
		{kind: failedTest, section: "failures", re: wholeLine(`\d+\) (?P<name>\S.*)`), errorFollows: true},
		{kind: failedTest, re: wholeLine(` ✘ (?P<name>.+?)(?: \[[\d.]+ ms\])?`)},
		{kind: noTests, re: wholeLine(`No tests executed!`)},
		{kind: otherFailure, re: wholeLine(`(?:PHP )?(?P<err>(?:Fatal|Parse) error: .*)`)},
		{kind: runnerError, re: wholeLine(`(?:Cannot open (?:file|bootstrap script) .*|Could not read ".*"\.|Unknown option ".*"|Test file ".*" not found|unrecognized option .*)`)},
		{kind: summaryStart, re: wholeLine(`  Tests: +(?P<counts>.*) \(\d+ assertions?\)`)},
		{kind: failedTest, re: wholeLine(`   FAILED +(?P<name>\S.*)`), errorFollows: true},
	}}
})

var ctest = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: typicalLine, re: wholeLine(`Test project .*`)},
		{kind: typicalLine, re: wholeLine(`\s*\d+/\d+ +Test +#\d+: .*`)},
		{kind: summaryStart, re: wholeLine(`\d+% tests passed, (?P<fail>\d+) tests? failed out of (?P<total>\d+)`)},
		{kind: typicalLine, re: wholeLine(`Total Test time \(real\) = .*`)},
		{kind: sectionStart, re: wholeLine(`The following tests FAILED:`), nextSection: "failed"},
		{kind: failedTest, section: "failed", re: wholeLine(`\s*\d+ - (?P<name>.+?) \((?:Failed|Timeout|SEGFAULT|Not Run|ILLEGAL|NUMERICAL|OTHER_FAULT|SIG\w+|Subprocess aborted|Exit code .*|.*[Ee]xception.*|BAD_COMMAND)\).*`)},
		{kind: typicalLine, re: wholeLine(`Errors while running CTest`)},
		{kind: noTests, re: wholeLine(`No tests were found!!!`)},
		{kind: runnerError, re: wholeLine(`(?:Failed to change working directory .*|CMake Error: .*|ctest: unrecognized option.*)`)},
	}}
})
