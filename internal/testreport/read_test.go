package testreport_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/testreport"
)

const (
	jestRed   = "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n"
	jestGreen = "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\n"
)

func TestReadByExitCodeAndText(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, command string
		code          int
		output        string
		want          testreport.Result
	}{
		{"exit 0, but the summary has failures", "npx jest", 0, jestRed, testreport.Fail},
		{"exit 0, but the summary says FAILED", "python3 -m unittest", 0, "Ran 1 test in 0.001s\n\nFAILED (unexpected successes=1)\n", testreport.Fail},
		{"exit 0, no summary", "npx jest", 0, "● sum › adds\nFAIL\n", testreport.Pass},
		{"exit 1, but all tests pass", "npx jest", 1, jestGreen, testreport.Gate},
		{"unknown nonzero code", "npx jest", testreport.Nonzero, "", testreport.Fail},
		{"unknown code", "npx jest", testreport.UnknownExit, jestGreen, testreport.Pass},
		{"masked, no output", "npx jest | grep x", 0, "", testreport.Unknown},
		{"masked, tests pass, but exit 1", "npx jest | grep x", 1, jestGreen, testreport.Unknown},
		{"masked", "npx jest | tail", 0, jestRed, testreport.Fail},
		{"the last summary counts", "npx jest | cat", 0, jestRed + jestGreen, testreport.Pass},
		{"prose", "npx jest | tail", 0, "2 tests failed, FAIL, not ok, Tests: 1 failed\n", testreport.Unknown},
		{"not a test", "cat log", 0, jestRed, testreport.NotATest},
		{"not a test that fails", "go vet ./...", 1, jestRed, testreport.NotATest},
		{"a script that prints a summary of jest", "./check", 1, jestRed, testreport.Fail},
		{"a script that prints one line like jest", "./check", 1, "Time: 1 s\n", testreport.NotATest},
		{"a limit", "timeout 5 npx jest", 124, "", testreport.Timeout},
		{"a signal", "npx jest", 143, "", testreport.Signal},
		{"the exit code counts failures, and looks like a signal", "npx mocha", 130, "  1 passing (1s)\n  130 failing\n", testreport.Fail},
		{"not found", "npx jest", 127, "sh: 1: jest: not found\n", testreport.RunnerError},
		{"not found, masked", "jest | tail", 0, "bash: line 1: jest: command not found\n", testreport.RunnerError},
		{"npm reports the failure", "npm test 2>&1 | tail", 0, "npm ERR! Test failed.  See above for more details.\n", testreport.Fail},
		{"the printed code is 1", "npx jest > log; echo exit=$?", 0, "exit=1\n", testreport.Fail},
		{"the printed code is 0", "npx jest > log; echo exit=$?", 0, "exit=0\n", testreport.Pass},
		{"the command before the tests may have failed", "npm run lint && npx jest", 1, "2 problems\n", testreport.Unknown},
		{"the command before the tests passed", "npm run lint && npx jest", 1, jestRed, testreport.Fail},
		{"the second of two", "go test . && npx jest", 1, "ok  \tx\t0.1s\n" + jestRed, testreport.Fail},
		{"the command after the tests failed", "npx jest && eslint .", 1, jestGreen, testreport.Gate},
		{"one masked and failed", "npx jest | tail && go test .", 0, jestRed + "ok  \tx\t0.1s\n", testreport.Fail},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := testreport.Read(testreport.Run{Command: c.command, ExitCode: c.code, Output: []byte(c.output)})
			if got.Result != c.want {
				t.Errorf("`%s` (exit %d) is %s, want %s: %+v", c.command, c.code, got.Result, c.want, got)
			}
		})
	}
}

func TestReadReportFile(t *testing.T) {
	t.Parallel()
	got := testreport.Read(testreport.Run{
		Command: "pytest -q --junitxml=out.xml", ExitCode: 1,
		Files: func(path string) ([]byte, error) {
			if path != "out.xml" {
				return nil, os.ErrNotExist
			}
			return []byte(`<testsuite name="s"><testcase classname="a" name="b"><failure message="no"/></testcase></testsuite>`), nil
		},
	})
	want := testreport.Verdict{
		Result: testreport.Fail, Framework: "pytest", Failing: []string{"a.b"}, FirstError: "a.b: no", ExitCode: 1, Failed: 1,
	}
	if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "inOutput" }, cmp.Ignore())); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

func TestMissingSummaryIsNoPass(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"python3 -m unittest":              true,
		"python3 -m unittest 2>&1":         true,
		"cd a && go test .":                true,
		"python3 -m unittest > log 2>&1":   false,
		"python3 -m unittest | tail":       false,
		"python3 test_x.py":                false,
		"npx jest":                         false,
		"python3 -m pytest -qq":            false,
		"python3 -m unittest && echo done": true,
		"test ! -d b || go test ./b":       false,
		"if [ -d b ]; then go test .; fi":  false,
	} {
		got := testreport.Read(testreport.Run{Command: command, Output: []byte("..\n")})
		if got.MissingSummary != want {
			t.Errorf("%q: unsummed is %v, want %v", command, got.MissingSummary, want)
		}
	}
	if v := testreport.Read(testreport.Run{Command: "python3 -m unittest"}); v.Result != testreport.Unknown || v.Doubt() == "" {
		t.Errorf("nothing was printed: %+v", v)
	}
	summed := testreport.Read(testreport.Run{Command: "python3 -m unittest", Output: []byte("Ran 2 tests in 0.1s\n\nOK\n")})
	if summed.MissingSummary || summed.Result != testreport.Pass {
		t.Errorf("with its summary: %+v", summed)
	}
}

func TestTestCountsAreRead(t *testing.T) {
	t.Parallel()
	type counts struct {
		Passed, Failed, Skipped int
		Uncounted               bool
	}
	for _, c := range []struct {
		command, output string
		code            int
		want            counts
	}{
		{"python3 -m unittest", "Ran 4 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n", 1, counts{1, 2, 1, false}},
		{"python3 -m unittest", "Ran 1 test in 0.1s\n\nFAILED (errors=1)\n", 1, counts{0, 1, 0, false}},
		{"ruby test.rb", "Run options: --seed 1\n\n3 runs, 3 assertions, 1 failures, 1 errors, 0 skips\n", 1, counts{1, 2, 0, false}},
		{"npx ava", "  ✔ adds\n  ✔ [expected fail] later\n  ✘ [fail]: neg\n  ─\n\n  neg\n\n  ─\n\n  1 test failed\n  1 known failure\n", 1, counts{1, 1, 1, false}},
		{"go test ./...", "ok  \ta\t0.1s\nok  \tb\t0.1s\n", 0, counts{1, 0, 0, true}},
	} {
		v := testreport.Read(testreport.Run{Command: c.command, ExitCode: c.code, Output: []byte(c.output)})
		if got := (counts{v.Passed, v.Failed, v.Skipped, v.PassedUncounted}); got != c.want {
			t.Errorf("%s: %q: %+v, want %+v", c.command, c.output, got, c.want)
		}
	}
}

func TestExitCodeMasks(t *testing.T) {
	t.Parallel()
	got := testreport.ExitCodeMasks("go vet ./... | cat; npm test | tail -3; go test . || true", nil)
	if diff := cmp.Diff([]string{"| tail", "|| true"}, got); diff != "" {
		t.Errorf("masks (-want +got):\n%s", diff)
	}
}

// colour adds colour codes to every line, and ends it as Windows does.
func colour(output []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(output) {
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		fmt.Fprintf(&b, "\x1b[31m%s\x1b[0m", line)
		if ended {
			b.WriteString("\r\n")
		}
	}
	return b.Bytes()
}

// TestColoursChangeNothing reads the corpora with colours and with the line ends of Windows.
func TestColoursChangeNothing(t *testing.T) {
	t.Parallel()
	for _, s := range append(corpus(t, "output"), corpus(t, "heldout")...) {
		if bytes.ContainsAny(s.output, "\r\x1b") {
			continue // drawn on a terminal, without lines
		}
		want := s.read()
		s.output = colour(s.output)
		if diff := cmp.Diff(want, s.read(), cmp.AllowUnexported(testreport.Verdict{})); diff != "" {
			t.Errorf("%s (-plain +coloured):\n%s", s.File, diff)
		}
	}
}

// TestReadIsFast checks that the time for any text grows as its size does. On a busy machine ten
// megabytes may take long, but not many times as long as one.
func TestReadIsFast(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"lines":   "FAIL src/a.test.js\n  ● a › b\n  1) x\n       y:\n",
		"no end":  "(((([[[[{{{{ not ok 1 ",
		"tap":     "not ok 1 - a\n",
		"json":    "{\"numTotalTests\":1,\n",
		"xml":     "<testsuite><testcase>\n",
		"returns": "50%\r",
	} {
		timeOf := func(megabytes int) time.Duration {
			output := []byte(strings.Repeat(line, megabytes<<20/len(line)))
			began := time.Now()
			testreport.Read(testreport.Run{Command: "make test", ExitCode: 1, Output: output})
			return time.Since(began)
		}
		if one, ten := timeOf(1), timeOf(10); ten > 20*time.Second && ten > 40*one {
			t.Errorf("%s took %s, a tenth of it %s", name, ten, one)
		}
	}
}

// The same lines count once, even if several calls of a runner could have printed them. With
// several runs, the numbers of the last one are not those of all.
func TestSeveralRunsInOneCommand(t *testing.T) {
	t.Parallel()
	const red = "FAIL: test_add (test_calc.AddTest)\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n"
	const green, one = "Ran 3 tests in 0.001s\n\nOK\n", "Ran 1 test in 0.001s\n\nOK\n"
	for _, c := range []struct {
		command        string
		code           int
		output         string
		passed, failed int
		several        bool
	}{
		{"python3 -m unittest", 1, red, 2, 1, false},
		{"python3 -m unittest a && python3 -m unittest b", 1, red, 2, 1, true},
		{"python3 -m unittest a && python3 -m unittest b", 0, green + one, 1, 0, true},
		{"make test && make check", 1, red, 2, 1, true},
		{"sh ci.sh", 1, red, 2, 1, false},
		{"sh ci.sh", 0, green + one, 1, 0, true},
		{"npx jest && python3 -m unittest", 1, jestRed + red, 4, 2, true},
	} {
		v := testreport.Read(testreport.Run{Command: c.command, ExitCode: c.code, Output: []byte(c.output)})
		if v.Passed != c.passed || v.Failed != c.failed || v.MultipleRuns != c.several {
			t.Errorf("%s, exit %d: %d pass, %d fail, several %v, want %d, %d, %v", c.command, c.code, v.Passed, v.Failed, v.MultipleRuns, c.passed, c.failed, c.several)
		}
	}
}

// FuzzReadRun checks that a run with a nonzero, unmasked exit code never passes, whatever its
// output.
func FuzzReadRun(f *testing.F) {
	for _, command := range []string{"npx jest | tail", "npm test", "go test -json ./...", "make check; echo $?", "bats --pretty . || true", "timeout 5 node x.js"} {
		f.Add(command, 1, []byte(jestGreen))
		f.Add(command, 0, []byte("1..1\nok 1\n"))
	}
	f.Fuzz(func(t *testing.T, command string, code int, output []byte) {
		run := testreport.Run{Command: command, ExitCode: code, Output: output}
		v := testreport.Read(run)
		if v.Result == testreport.Pass && v.Masked == "" && code != 0 && code != testreport.UnknownExit {
			t.Errorf("exit %d is a pass", code)
		}
		if v.Result != testreport.Fail && len(v.Failing) > 0 {
			t.Errorf("%s names what failed: %q", v.Result, v.Failing)
		}
		if strings.ContainsAny(v.FirstError, "\n\x1b") || len(v.FirstError) > 1000 {
			t.Errorf("first error is not a line: %q", v.FirstError)
		}
		again := testreport.Read(run)
		if diff := cmp.Diff(v, again, cmp.AllowUnexported(testreport.Verdict{})); diff != "" {
			t.Errorf("read twice:\n%s", diff)
		}
	})
}

// A test module that cannot be imported has its own name, not that of the loader's class.
func TestUnimportableModuleIsNamed(t *testing.T) {
	t.Parallel()
	out, err := os.ReadFile("testdata/heldout/unittest/import.txt")
	if err != nil {
		t.Fatal(err)
	}
	v := testreport.Read(testreport.Run{Command: "python3 -m unittest", ExitCode: 1, Output: out})
	if len(v.Failing) != 1 || v.Failing[0] != "test_imp" {
		t.Errorf("failing %q", v.Failing)
	}
}
