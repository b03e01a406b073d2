package dialect

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

var golang = sync.OnceValue(func() Dialect {
	return Dialect{correct: goCorrect, rules: []rule{
		{kind: name, re: line(`FAIL\t(?P<name>\S+ \[(?:build|setup) failed\])`)},
		{kind: subject, re: line(`FAIL\t(?P<name>\S+)\t(?:\(cached\)|[\d.]+s)`)},
		{kind: bad, re: line(`FAIL`)},
		{kind: none, re: line(`ok  \t\S+\t(?:\(cached\)|[\d.]+s)(?:\tcoverage: .*)? \[no tests to run\]`)},
		{kind: count, re: line(`(?P<pass>)ok  \t\S+\t(?:\(cached\)|[\d.]+s).*`)},
		{kind: none, re: line(`\?   \t\S+\t\[no test files\]`)},
		{kind: none, re: line(`(?:testing: warning: no tests to run|no packages to test)`)},
		{kind: count, re: line(`PASS`)},
		{kind: name, re: line(`\s*--- FAIL: (?P<name>\S+)(?: \([\d.]+s\))?`)},
		{kind: mark, re: line(`\s*--- (?:PASS|SKIP): \S+ \([\d.]+s\)`)},
		{kind: mark, re: line(`=== (?:RUN|PAUSE|CONT|NAME) +\S+`)},
		{kind: first, re: regex.New(`^\s*(?P<err>\S+\.go:\d+(?::\d+)?: \S.*)$`)},
		{kind: first, re: regex.New(`^(?P<err>(?:panic|fatal error): \S.*)$`)},
		{kind: broken, re: line(`go: (?:cannot find main module.*|go\.mod file not found.*|errors parsing go\.mod:|updates to go\.mod needed.*|unknown command.*|no such tool.*|malformed .*)`)},
		{kind: broken, re: line(`(?:flag provided but not defined: .*|invalid value .* for flag .*|stat .*: directory not found|pattern \S+: .*)`)},
	}}
})

// goCorrect: tests passed in one package are tests, of which the text tells no number.
func goCorrect(r *reading) {
	r.Bad = r.Bad || r.marks[0] || r.marks[1]
	passed := r.marks[4] || r.marks[7] && !r.marks[3] && !r.marks[6]
	if passed || r.Bad {
		r.None = false
	}
	if r.marks[4] {
		r.Passed, r.Uncounted = 1, true
	}
	r.Summed = r.Summed || r.None || r.Bad
	if r.Bad && !onlySetup(r.Failing) {
		r.Broken = false
	} else if r.Broken { // a package that is not there
		r.Bad, r.Failing, r.subjects = false, nil, nil
	}
}

func onlySetup(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !strings.HasSuffix(n, " [setup failed]") })
}

var cargo = sync.OnceValue(func() Dialect {
	return Dialect{correct: noneIfZero, rules: []rule{
		{kind: count, re: line(`test result: (?P<verdict>ok|FAILED)\. (?P<pass>\d+) passed; (?P<fail>\d+) failed; (?P<skip>\d+) ignored; \d+ measured; \d+ filtered out(?:; finished in [\d.]+s)?`)},
		{kind: mark, re: line(`running \d+ tests?`)},
		{kind: mark, re: line(` +(?:Finished|Compiling|Running|Doc-tests) .*`)},
		{kind: enter, re: line(`failures:`), to: "failures"},
		{kind: mark, in: "failures", re: line(`---- .+ stdout ----`), to: "output"},
		{kind: name, in: "failures", re: line(`    (?P<name>\S.*)`)},
		{kind: mark, re: line(`thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:`), next: true},
		{kind: first, re: line(`thread '.*' panicked at (?P<err>'.*)`)},
		{kind: red, re: line(`error: test failed, to rerun pass .*`)},
		{kind: red, re: line(`error: \d+ targets? failed:`)},
		{kind: red, re: line(`error: doctest failed, to rerun pass .*`)},
		{kind: bad, re: line(`error: could not compile .*`)},
		{kind: broken, re: line(`error: (?:could not find .Cargo\.toml.|unexpected argument|no such (?:sub)?command|no test target named|no targets? |package ID specification|failed to (?:parse|load) manifest|toolchain|failed to get|no matching package|the option|Found argument|unknown).*`)},
		{kind: first, re: line(`(?P<err>error(?:\[E\d+\])?: .+)`)},
		{kind: start, re: line(` +Summary \[ *[\d.]+s\] +\d+(?:/\d+)? tests? run: (?P<counts>.*)`)},
		{kind: name, re: line(` +(?:FAIL|TIMEOUT|SIG\w+) \[ *[\d.]+s\] +(?:\( *\d+/\d+\) +)?(?P<name>\S+ .+)`)},
	}}
})

var pytest = sync.OnceValue(func() Dialect {
	return Dialect{correct: pytestCorrect, rules: []rule{
		{kind: start, re: line(`(?:=+ )?(?P<counts>(?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests? (?:passed|failed))(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?`)},
		{kind: mark, re: line(`=+ test session starts =+`)},
		{kind: mark, re: line(`platform \S+ -- Python .*`)},
		{kind: mark, re: line(`collect(?:ed|ing) .*items?.*`)},
		{kind: mark, re: line(`rootdir: .*`)},
		{kind: forget, re: line(`=+ short test summary info =+`), to: "short"},
		{kind: enter, re: line(`=+ (?:FAILURES|ERRORS) =+`), to: "failures"},
		{kind: name, in: "short", re: line(`(?:FAILED|ERROR) (?P<name>\S+?\[.*?\]|\S.*?)(?: - (?P<err>.*))?`)},
		{kind: name, in: "failures", re: line(`_{3,} (?:ERROR (?:collecting|at \w+ of) )?(?P<name>\S.*?) _{3,}`)},
		{kind: first, in: "failures", re: line(`E   +(?P<err>\S.*)`)},
		{kind: stopped, re: line(`!+ (?:KeyboardInterrupt|_pytest\.outcomes\.Exit.*) !+`)},
		{kind: broken, re: line(`(?:ERROR: (?:usage: .*|file or directory not found: .*|not found: .*|unrecognized arguments: .*|.*error: .*)|INTERNALERROR> .*|ImportError while loading conftest .*|\S+: error: .*)`)},
		{kind: gated, re: line(`(?:ERROR: )?FAIL Required test coverage of .*`)},
		{kind: enter, re: line(`=+ [A-Za-z].* =+`), to: "other"},
	}}
})

func pytestCorrect(r *reading) {
	if r.Summed && !r.Bad && r.Failed+r.errs+r.Passed+r.Skipped == 0 {
		r.None = true
	}
	if r.errs > 0 { // what did not collect is not a fault of the runner
		r.Broken = r.Broken && r.Failed+r.Passed == 0 && strings.Contains(r.FirstError, "not found")
	}
}

var unittest = sync.OnceValue(func() Dialect {
	return Dialect{all: true, correct: noneIfZero, line: unittestName, rules: []rule{
		{kind: start, re: line(`Ran (?P<total>\d+) tests? in [\d.]+s`), to: "end"},
		{kind: count, in: "end", re: line(`(?P<verdict>OK|FAILED)(?: \((?P<counts>.*)\))?`)},
		{kind: none, re: line(`NO TESTS RAN(?: \(.*\))?`)},
		{kind: enter, re: line(`={70}`), to: "failures"},
		{kind: first, in: "failures", re: line(`(?P<err>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Failure)(?:: .*)?)`)},
		{kind: none, re: line(`Ran 0 tests in [\d.]+s`)},
		{kind: stopped, re: line(`KeyboardInterrupt`)},
	}}
})

var unittestFailed = regex.New(`^(?:FAIL|ERROR): (\S+) \(([^()]*)\)(.*)$`)

// unittestName reads the heading of a failed test. Since Python 3.11 the class in
// parentheses carries the name of the test too. A module that could not be imported has the
// loader's own class, of which nobody has heard.
func unittestName(r *reading, line string) bool {
	m := unittestFailed.FindStringSubmatch(line)
	if m == nil || r.section != "failures" {
		return false
	}
	id := m[2]
	if !strings.HasSuffix(id, "."+m[1]) && id != m[1] {
		id += "." + m[1]
	}
	r.name(strings.TrimPrefix(id, "unittest.loader._FailedTest.") + m[3])
	return true
}

var rspec = sync.OnceValue(func() Dialect {
	return Dialect{correct: rspecCorrect, rules: []rule{
		{kind: start, re: line(`(?P<total>\d+) examples?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) pending)?(?:, (?P<errors>\d+) errors? occurred outside of examples)?`)},
		{kind: mark, re: line(`Finished in [\d.]+ .*\(files took .* to load\)`)},
		{kind: enter, re: line(`Failures:`), to: "failures"},
		{kind: enter, re: line(`Pending: \(.*\)`), to: "pending"},
		{kind: mark, in: "failures", re: line(` +Failure/Error: .*`), next: true},
		{kind: forget, re: line(`Failed examples:`), to: "failed"},
		{kind: name, in: "failed", re: line(`rspec \S.*? # (?P<name>.+)`)},
		{kind: name, re: line(`An error occurred while loading (?P<name>\S+)\.`), next: true},
		{kind: none, re: line(`(?:No examples found\.|All examples were filtered out.*)`)},
		{kind: gated, re: line(`(?:Line|Branch) coverage \(.*\) is below the expected minimum coverage .*`)},
		{kind: broken, re: line(`invalid option: .*`)},
	}}
})

func rspecCorrect(r *reading) {
	noneIfZero(r)
	r.None = r.None && r.Failed+r.errs == 0
}

var minitest = sync.OnceValue(func() Dialect {
	return Dialect{all: true, line: minitestName, rules: []rule{
		{kind: start, re: line(`(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<fail>\d+) failures, (?P<errors>\d+) errors, (?:\d+ pendings, \d+ omissions, \d+ notifications|(?P<skip>\d+) skips)`)},
		{kind: mark, re: line(`Run options: .*--seed \d+`)},
		{kind: mark, re: line(`Finished in [\d.]+s?(?: seconds\.|, .* runs/s, .*)`)},
		{kind: enter, re: line(` +\d+\) (?:Failure|Error):`), to: "name"},
		{kind: mark, re: line(`# Running:`)},
	}}
})

var minitestTest = regex.New(`^(\S+#\S+?)(?: \[.*\])?:?$`)

func minitestName(r *reading, line string) bool {
	if r.section != "name" {
		return false
	}
	r.section = ""
	if m := minitestTest.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		r.name(m[1])
		r.want = r.FirstError == ""
	}
	return true
}

var bats = sync.OnceValue(func() Dialect {
	return Dialect{correct: noneIfZero, rules: []rule{
		{kind: start, re: line(`(?P<total>\d+) tests?, (?P<fail>\d+) failures?(?:, (?P<skip>\d+) skipped)?(?:, \d+ not run)?(?:, \d+ interrupted)?(?: in [\d.]+ seconds)?`)},
		{kind: name, re: line(`.*✗ (?P<name>.+?)(?: \[\d+\])?`), next: true},
		{kind: mark, re: line(`.*✓ .+`)},
		{kind: broken, re: line(`(?:Error: (?:Bad command line option|Must specify|Cannot).*|(?:Error|ERROR): Test file .* does not exist.*)`)},
	}}
})

var prove = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: start, re: line(`Result: (?P<verdict>PASS|FAIL|NOTESTS)`)},
		{kind: mark, re: line(`Files=\d+, Tests=\d+, .*`)},
		{kind: mark, re: line(`All tests successful\.`)},
		{kind: enter, re: line(`Test Summary Report`), to: "report"},
		{kind: name, re: line(`#\s+Failed test '(?P<name>.+)'`), next: true},
		{kind: subject, in: "report", re: line(`(?P<name>\S+)\s+\(Wstat: .*\)`)},
		{kind: none, re: line(`(?:No tests run!|skipped: .*)`)},
		{kind: broken, re: line(`(?:Can't locate .* in @INC .*|Unknown option: .*|Cannot detect source of .*)`)},
		{kind: first, re: line(`(?P<err>.+ at \S+ line \d+\.)`)},
	}}
})

var junit = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: mark, re: line(`JUnit version .*`)},
		{kind: start, re: line(`Time: [\d.,]+`)},
		{kind: count, re: line(`OK \((?P<pass>\d+) tests?\)`)},
		{kind: count, re: line(`Tests run: (?P<total>\d+),  Failures: (?P<fail>\d+)`)},
		{kind: mark, re: line(`FAILURES!!!`)},
		{kind: mark, re: line(`There (?:was|were) \d+ failures?:`), to: "failures"},
		{kind: name, in: "failures", re: line(`\d+\) (?P<name>\S+\(\S+\))`), next: true},
		{kind: broken, re: line(`(?:(?:\S+: )?Could not find class.*|Error: Could not find or load main class .*)`)},
		{kind: count, re: line(`\[ +(?P<fail>\d+) tests failed +\]`)},
		{kind: count, re: line(`\[ +(?P<pass>\d+) tests successful +\]`)},
		{kind: mark, re: line(`\[ +\d+ tests (?:found|started|skipped|aborted) +\]`)},
		{kind: name, re: line(`  JUnit \w+:.*:(?P<name>.+)`)},
	}, correct: junitCorrect}
})

// junitCorrect: a class that is not there counts as a failed test.
func junitCorrect(r *reading) {
	if r.Broken {
		r.Failed, r.Failing = 0, nil
	}
	noneIfZero(r)
}

var maven = sync.OnceValue(func() Dialect {
	return Dialect{all: true, rules: []rule{
		{kind: start, re: line(`\[(?:ERROR|INFO|WARNING)\] Tests run: (?P<total>\d+), Failures: (?P<fail>\d+), Errors: (?P<errors>\d+), Skipped: (?P<skip>\d+)`)},
		{kind: name, re: line(`\[ERROR\] {3}(?P<name>[\w$.]+?)(?::\d+)?(?:->.*?)?(?: »? ?(?P<err>.*))?`)},
		{kind: mark, re: line(`\[INFO\] BUILD (?:SUCCESS|FAILURE)`)},
		{kind: bad, re: line(`\[ERROR\] COMPILATION ERROR :?`), next: true},
		{kind: none, re: line(`\[INFO\] No tests to run\.`)},
		{kind: none, re: line(`\[ERROR\] .*No tests (?:were executed|matching pattern).*`)},
		{kind: broken, re: line(`\[ERROR\] (?:Unknown lifecycle phase|The goal you specified requires|No plugin found|Non-parseable POM|Unable to parse).*`)},
		{kind: mark, re: line(`\[INFO\]  T E S T S`)},
	}}
})

var gradle = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: count, re: line(`(?P<total>\d+) tests? completed, (?P<fail>\d+) failed(?:, (?P<skip>\d+) skipped)?`)},
		{kind: name, re: line(`(?P<name>\S.* > .+) FAILED`), next: true},
		{kind: mark, re: line(`BUILD (?:SUCCESSFUL|FAILED) in .*`)},
		{kind: bad, re: line(`> There were failing tests\..*`)},
		{kind: bad, re: line(`> Compilation failed; see the compiler .*`)},
		{kind: mark, re: line(`> Task :\S*[tT]est\S*(?: FAILED)?`)},
		{kind: none, re: line(`> No tests found for given includes: .*`)},
		{kind: broken, re: line(`(?:Task '.*' not found in .*|Directory '.*' does not contain a Gradle build\.)`)},
	}}
})

var phpunit = sync.OnceValue(func() Dialect {
	return Dialect{all: true, rules: []rule{
		{kind: mark, re: line(`PHPUnit \d\S* by Sebastian Bergmann(?: and contributors)?\.`)},
		{kind: start, re: line(`Time: .*, Memory: .*`)},
		{kind: count, re: line(`OK \((?P<pass>\d+) tests?, \d+ assertions?\)`)},
		{kind: count, re: line(`(?P<verdict>FAILURES!|ERRORS!)`)},
		{kind: count, re: line(`(?:WARNINGS!|OK, but .*)`)},
		{kind: count, re: line(`Tests: (?P<total>\d+), Assertions: \d+(?:, (?P<counts>.*))?\.`)},
		{kind: enter, re: line(`There (?:was|were) \d+ (?:failures?|errors?|PHPUnit errors?):`), to: "failures"},
		{kind: enter, re: line(`(?:There (?:was|were) \d+ .*:|--)`), to: "other"},
		{kind: name, in: "failures", re: line(`\d+\) (?P<name>\S.*)`), next: true},
		{kind: name, re: line(` ✘ (?P<name>.+?)(?: \[[\d.]+ ms\])?`)},
		{kind: none, re: line(`No tests executed!`)},
		{kind: bad, re: line(`(?:PHP )?(?P<err>(?:Fatal|Parse) error: .*)`)},
		{kind: broken, re: line(`(?:Cannot open (?:file|bootstrap script) .*|Could not read ".*"\.|Unknown option ".*"|Test file ".*" not found|unrecognized option .*)`)},
		{kind: start, re: line(`  Tests: +(?P<counts>.*) \(\d+ assertions?\)`)},
		{kind: name, re: line(`   FAILED +(?P<name>\S.*)`), next: true},
	}}
})

var ctest = sync.OnceValue(func() Dialect {
	return Dialect{rules: []rule{
		{kind: mark, re: line(`Test project .*`)},
		{kind: mark, re: line(`\s*\d+/\d+ +Test +#\d+: .*`)},
		{kind: start, re: line(`\d+% tests passed, (?P<fail>\d+) tests? failed out of (?P<total>\d+)`)},
		{kind: mark, re: line(`Total Test time \(real\) = .*`)},
		{kind: enter, re: line(`The following tests FAILED:`), to: "failed"},
		{kind: name, in: "failed", re: line(`\s*\d+ - (?P<name>.+?) \((?:Failed|Timeout|SEGFAULT|Not Run|ILLEGAL|NUMERICAL|OTHER_FAULT|SIG\w+|Subprocess aborted|Exit code .*|.*[Ee]xception.*|BAD_COMMAND)\).*`)},
		{kind: mark, re: line(`Errors while running CTest`)},
		{kind: none, re: line(`No tests were found!!!`)},
		{kind: broken, re: line(`(?:Failed to change working directory .*|CMake Error: .*|ctest: unrecognized option.*)`)},
	}}
})
