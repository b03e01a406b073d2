package dialect

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// native holds the runners of other languages.
var native = []dialect{
	{name: "go", correct: goCorrect, rules: []rule{
		{kind: failedTest, line: `FAIL\t(?P<name>\S+ \[(?:build|setup) failed\])`},
		{kind: failedFile, line: `FAIL\t(?P<name>\S+)\t(?:\(cached\)|[\d.]+s)`},
		{kind: otherFailure, line: `FAIL`},
		{kind: noTests, line: `ok  \t\S+\t(?:\(cached\)|[\d.]+s)(?:\tcoverage: .*)? \[no tests to run\]`},
		{kind: counts, line: `(?P<pass>)ok  \t\S+\t(?:\(cached\)|[\d.]+s).*`},
		{kind: noTests, line: `\?   \t\S+\t\[no test files\]`},
		{kind: noTests, line: `(?:testing: warning: no tests to run|no packages to test)`},
		{kind: counts, line: `PASS`},
		{kind: failedTest, line: `\s*--- FAIL: (?P<name>\S+)(?: \([\d.]+s\))?`},
		{kind: typicalLine, line: `\s*--- (?:PASS|SKIP): \S+ \([\d.]+s\)`},
		{kind: typicalLine, line: `=== (?:RUN|PAUSE|CONT|NAME) +\S+`},
		{kind: firstError, line: `\s*(?P<err>\S+\.go:\d+(?::\d+)?: \S.*)`},
		{kind: firstError, line: `(?P<err>(?:panic|fatal error): \S.*)`},
		{kind: runnerError, line: `go: (?:cannot find main module.*|go\.mod file not found.*|errors parsing go\.mod:|updates to go\.mod needed.*|unknown command.*|no such tool.*|malformed .*)`},
		{kind: runnerError, line: `(?:flag provided but not defined: .*|invalid value .* for flag .*|stat .*: directory not found|pattern \S+: .*)`},
	}},
	{name: "cargo", correct: correctEmpty, rules: []rule{
		{kind: counts, line: `test result: (?P<verdict>ok|FAILED)\. (?P<pass>\d+) passed; (?P<fail>\d+) failed; (?P<skip>\d+) ignored; \d+ measured; \d+ filtered out(?:; finished in [\d.]+s)?`},
		{kind: typicalLine, line: `running \d+ tests?`},
		{kind: typicalLine, line: ` +(?:Finished|Compiling|Running|Doc-tests) .*`},
		{kind: sectionStart, line: `failures:`, nextSection: "failures"},
		{kind: typicalLine, section: "failures", line: `---- .+ stdout ----`, nextSection: "output"},
		{kind: failedTest, section: "failures", line: `    (?P<name>\S.*)`},
		{kind: typicalLine, line: `thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:`, errorFollows: true},
		{kind: firstError, line: `thread '.*' panicked at (?P<err>'.*)`},
		{kind: unconfirmedFailure, line: `error: test failed, to rerun pass .*`},
		{kind: unconfirmedFailure, line: `error: \d+ targets? failed:`},
		{kind: unconfirmedFailure, line: `error: doctest failed, to rerun pass .*`},
		{kind: otherFailure, line: `error: could not compile .*`},
		{kind: runnerError, line: `error: (?:could not find .Cargo\.toml.|unexpected argument|no such (?:sub)?command|no test target named|no targets? |package ID specification|failed to (?:parse|load) manifest|toolchain|failed to get|no matching package|the option|Found argument|unknown).*`},
		{kind: firstError, line: `(?P<err>error(?:\[E\d+\])?: .+)`},
		{kind: summaryStart, line: ` +Summary \[ *[\d.]+s\] +\d+(?:/\d+)? tests? run: (?P<counts>.*)`},
		{kind: failedTest, line: ` +(?:FAIL|TIMEOUT|SIG\w+) \[ *[\d.]+s\] +(?:\( *\d+/\d+\) +)?(?P<name>\S+ .+)`},
	}},
	{name: "pytest", correct: pytestCorrect, rules: []rule{
		{kind: summaryStart, line: `(?:=+ )?(?P<counts>(?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests? (?:passed|failed))(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?`},
		{kind: typicalLine, line: `=+ test session starts =+`},
		{kind: typicalLine, line: `platform \S+ -- Python .*`},
		{kind: typicalLine, line: `collect(?:ed|ing) .*items?.*`},
		{kind: typicalLine, line: `rootdir: .*`},
		{kind: resetNames, line: `=+ short test summary info =+`, nextSection: "short"},
		{kind: sectionStart, line: `=+ (?:FAILURES|ERRORS) =+`, nextSection: "failures"},
		{kind: failedTest, section: "short", line: `(?:FAILED|ERROR) (?P<name>\S+?\[.*?\]|\S.*?)(?: - (?P<err>.*))?`},
		{kind: failedTest, section: "failures", line: `_{3,} (?:ERROR (?:collecting|at \w+ of) )?(?P<name>\S.*?) _{3,}`},
		{kind: firstError, section: "failures", line: `E   +(?P<err>\S.*)`},
		{kind: interrupted, line: `!+ (?:KeyboardInterrupt|_pytest\.outcomes\.Exit.*) !+`},
		{kind: runnerError, line: `(?:ERROR: (?:usage: .*|file or directory not found: .*|not found: .*|unrecognized arguments: .*|.*error: .*)|INTERNALERROR> .*|ImportError while loading conftest .*|\S+: error: .*)`},
		{kind: gateFailed, line: `(?:ERROR: )?FAIL Required test coverage of .*`},
		{kind: sectionStart, line: `=+ [A-Za-z].* =+`, nextSection: "other"},
	}},
	{name: "unittest", errorsInTotal: true, correct: correctEmpty, readLine: unittestName, rules: []rule{
		{kind: summaryStart, line: `Ran (?P<total>\d+) tests? in [\d.]+s`, nextSection: "end"},
		{kind: counts, section: "end", line: `(?P<verdict>OK|FAILED)(?: \((?P<counts>.*)\))?`},
		{kind: noTests, line: `NO TESTS RAN(?: \(.*\))?`},
		{kind: sectionStart, line: `={70}`, nextSection: "failures"},
		{kind: firstError, section: "failures", line: `(?P<err>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Failure)(?:: .*)?)`},
		{kind: noTests, line: `Ran 0 tests in [\d.]+s`},
		{kind: interrupted, line: `KeyboardInterrupt`},
	}},
	{name: "rspec", correct: rspecCorrect, rules: []rule{
		{kind: summaryStart, line: `(?P<total>\d+) examples?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) pending)?(?:, (?P<errors>\d+) errors? occurred outside of examples)?`},
		{kind: typicalLine, line: `Finished in [\d.]+ .*\(files took .* to load\)`},
		{kind: sectionStart, line: `Failures:`, nextSection: "failures"},
		{kind: sectionStart, line: `Pending: \(.*\)`, nextSection: "pending"},
		{kind: typicalLine, section: "failures", line: ` +Failure/Error: .*`, errorFollows: true},
		{kind: resetNames, line: `Failed examples:`, nextSection: "failed"},
		{kind: failedTest, section: "failed", line: `rspec \S.*? # (?P<name>.+)`},
		{kind: failedTest, line: `An error occurred while loading (?P<name>\S+)\.`, errorFollows: true},
		{kind: noTests, line: `(?:No examples found\.|All examples were filtered out.*)`},
		{kind: gateFailed, line: `(?:Line|Branch) coverage \(.*\) is below the expected minimum coverage .*`},
		{kind: runnerError, line: `invalid option: .*`},
	}},
	{name: "minitest", errorsInTotal: true, readLine: minitestName, rules: []rule{
		{kind: summaryStart, line: `(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<fail>\d+) failures, (?P<errors>\d+) errors, (?:\d+ pendings, \d+ omissions, \d+ notifications|(?P<skip>\d+) skips)`},
		{kind: typicalLine, line: `Run options: .*--seed \d+`},
		{kind: typicalLine, line: `Finished in [\d.]+s?(?: seconds\.|, .* runs/s, .*)`},
		{kind: sectionStart, line: ` +\d+\) (?:Failure|Error):`, nextSection: "name"},
		{kind: typicalLine, line: `# Running:`},
	}},
	{name: "bats", correct: correctEmpty, rules: []rule{
		{kind: summaryStart, line: `(?P<total>\d+) tests?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) skipped)?(?:, \d+ not run)?(?:, \d+ interrupted)?(?: in [\d.]+ seconds)?`},
		{kind: failedTest, line: `.*✗ (?P<name>.+?)(?: \[\d+\])?`, errorFollows: true},
		{kind: typicalLine, line: `.*✓ .+`},
		{kind: runnerError, line: `(?:Error: (?:Bad command line option|Must specify|Cannot).*|(?:Error|ERROR): Test file .* does not exist.*)`},
	}},
	{name: "prove", rules: []rule{
		{kind: summaryStart, line: `Result: (?P<verdict>PASS|FAIL|NOTESTS)`},
		{kind: typicalLine, line: `Files=\d+, Tests=\d+, .*`},
		{kind: typicalLine, line: `All tests successful\.`},
		{kind: sectionStart, line: `Test Summary Report`, nextSection: "report"},
		{kind: failedTest, line: `#\s+Failed test '(?P<name>.+)'`, errorFollows: true},
		{kind: failedFile, section: "report", line: `(?P<name>\S+)\s+\(Wstat: .*\)`},
		{kind: noTests, line: `(?:No tests run!|skipped: .*)`},
		{kind: runnerError, line: `(?:Can't locate .* in @INC .*|Unknown option: .*|Cannot detect source of .*)`},
		{kind: firstError, line: `(?P<err>.+ at \S+ line \d+\.)`},
	}},
	{name: "junit", correct: junitCorrect, rules: []rule{
		{kind: typicalLine, line: `JUnit version .*`},
		{kind: summaryStart, line: `Time: [\d.,]+`},
		{kind: counts, line: `OK \((?P<pass>\d+) tests?\)`},
		{kind: counts, line: `Tests run: (?P<total>\d+),  Failures: (?P<fail>\d+)`},
		{kind: typicalLine, line: `FAILURES!!!`},
		{kind: typicalLine, line: `There (?:was|were) \d+ failures?:`, nextSection: "failures"},
		{kind: failedTest, section: "failures", line: `\d+\) (?P<name>\S+\(\S+\))`, errorFollows: true},
		{kind: runnerError, line: `(?:(?:\S+: )?Could not find class.*|Error: Could not find or load main class .*)`},
		{kind: counts, line: `\[ +(?P<fail>\d+) tests failed +\]`},
		{kind: counts, line: `\[ +(?P<pass>\d+) tests successful +\]`},
		{kind: typicalLine, line: `\[ +\d+ tests (?:found|started|skipped|aborted) +\]`},
		{kind: failedTest, line: `  JUnit \w+:.*:(?P<name>.+)`},
	}},
	{name: "maven", errorsInTotal: true, rules: []rule{
		{kind: summaryStart, line: `\[(?:ERROR|INFO|WARNING)\] Tests run: (?P<total>\d+), Failures: (?P<fail>\d+), Errors: (?P<errors>\d+), Skipped: (?P<skip>\d+)`},
		{kind: failedTest, line: `\[ERROR\] {3}(?P<name>[\w$.]+?)(?::\d+)?(?:->.*?)?(?: »? ?(?P<err>.*))?`},
		{kind: typicalLine, line: `\[INFO\] BUILD (?:SUCCESS|FAILURE)`},
		{kind: otherFailure, line: `\[ERROR\] COMPILATION ERROR :?`, errorFollows: true},
		{kind: noTests, line: `\[INFO\] No tests to run\.`},
		{kind: noTests, line: `\[ERROR\] .*No tests (?:were executed|matching pattern).*`},
		{kind: runnerError, line: `\[ERROR\] (?:Unknown lifecycle phase|The goal you specified requires|No plugin found|Non-parseable POM|Unable to parse).*`},
		{kind: typicalLine, line: `\[INFO\]  T E S T S`},
	}},
	{name: "gradle", rules: []rule{
		{kind: counts, line: `(?P<total>\d+) tests? completed, (?P<fail>\d+) failed(?:, (?P<skip>\d+) skipped)?`},
		{kind: failedTest, line: `(?P<name>\S.* > .+) FAILED`, errorFollows: true},
		{kind: typicalLine, line: `BUILD (?:SUCCESSFUL|FAILED) in .*`},
		{kind: otherFailure, line: `> There were failing tests\..*`},
		{kind: otherFailure, line: `> Compilation failed; see the compiler .*`},
		{kind: typicalLine, line: `> Task :\S*[tT]est\S*(?: FAILED)?`},
		{kind: noTests, line: `> No tests found for given includes: .*`},
		{kind: runnerError, line: `(?:Task '.*' not found in .*|Directory '.*' does not contain a Gradle build\.)`},
	}},
	{name: "phpunit", errorsInTotal: true, rules: []rule{
		{kind: typicalLine, line: `PHPUnit \d\S* by Sebastian Bergmann(?: and contributors)?\.`},
		{kind: summaryStart, line: `Time: .*, Memory: .*`},
		{kind: counts, line: `OK \((?P<pass>\d+) tests?, \d+ assertions?\)`},
		{kind: counts, line: `(?P<verdict>FAILURES!|ERRORS!)`},
		{kind: counts, line: `(?:WARNINGS!|OK, but .*)`},
		{kind: counts, line: `Tests: (?P<total>\d+), Assertions: \d+(?:, (?P<counts>.*))?\.`},
		{kind: sectionStart, line: `There (?:was|were) \d+ (?:failures?|errors?|PHPUnit errors?):`, nextSection: "failures"},
		{kind: sectionStart, line: `(?:There (?:was|were) \d+ .*:|--)`, nextSection: "other"},
		{kind: failedTest, section: "failures", line: `\d+\) (?P<name>\S.*)`, errorFollows: true},
		{kind: failedTest, line: ` ✘ (?P<name>.+?)(?: \[[\d.]+ ms\])?`},
		{kind: noTests, line: `No tests executed!`},
		{kind: otherFailure, line: `(?:PHP )?(?P<err>(?:Fatal|Parse) error: .*)`},
		{kind: runnerError, line: `(?:Cannot open (?:file|bootstrap script) .*|Could not read ".*"\.|Unknown option ".*"|Test file ".*" not found|unrecognized option .*)`},
		{kind: summaryStart, line: `  Tests: +(?P<counts>.*) \(\d+ assertions?\)`},
		{kind: failedTest, line: `   FAILED +(?P<name>\S.*)`, errorFollows: true},
	}},
	{name: "ctest", rules: []rule{
		{kind: typicalLine, line: `Test project .*`},
		{kind: typicalLine, line: `\s*\d+/\d+ +Test +#\d+: .*`},
		{kind: summaryStart, line: `\d+% tests passed, (?P<fail>\d+) tests? failed out of (?P<total>\d+)`},
		{kind: typicalLine, line: `Total Test time \(real\) = .*`},
		{kind: sectionStart, line: `The following tests FAILED:`, nextSection: "failed"},
		{kind: failedTest, section: "failed", line: `\s*\d+ - (?P<name>.+?) \((?:Failed|Timeout|SEGFAULT|Not Run|ILLEGAL|NUMERICAL|OTHER_FAULT|SIG\w+|Subprocess aborted|Exit code .*|.*[Ee]xception.*|BAD_COMMAND)\).*`},
		{kind: typicalLine, line: `Errors while running CTest`},
		{kind: noTests, line: `No tests were found!!!`},
		{kind: runnerError, line: `(?:Failed to change working directory .*|CMake Error: .*|ctest: unrecognized option.*)`},
	}},
}

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

func pytestCorrect(r *reader) {
	correctEmpty(r)
	if r.errors > 0 { // a collection error is not an error of the runner
		r.RunnerError = r.RunnerError && r.Failed+r.Passed == 0 && strings.Contains(r.FirstError, "not found")
	}
}

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

func rspecCorrect(r *reader) {
	correctEmpty(r)
	r.NoTests = r.NoTests && r.Failed+r.errors == 0
}

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

// junitCorrect removes the failure that JUnit counts for a class that does not exist.
func junitCorrect(r *reader) {
	if r.RunnerError {
		r.Failed, r.Failing = 0, nil
	}
	correctEmpty(r)
}
