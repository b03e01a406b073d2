package testreport

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport/dialect"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// Values of Run.ExitCode without an exit code.
const (
	Nonzero     = -1 // the command failed with an unknown code
	UnknownExit = -2 // unknown whether the command failed
)

// Run is a finished command with its output.
type Run struct {
	Command  string // as given to a shell
	ExitCode int    // or Nonzero, UnknownExit
	Output   []byte // standard output and error, interleaved
	// Files reads package.json, Makefiles and reports below the folder of the command. If it is
	// nil, no files are read.
	Files func(path string) ([]byte, error)
}

// Result is the result of the tests of a run.
type Result string

// The results. Only Fail means that a test failed.
const (
	Pass        Result = "pass"
	Fail        Result = "fail"
	NoTests     Result = "no_tests"     // no tests were found or selected
	RunnerError Result = "runner_error" // the runner could not run them
	Gate        Result = "gate"         // all tests passed, but coverage or a check after them failed
	Timeout     Result = "timeout"      // a time limit that the command sets
	Signal      Result = "signal"       // killed or crashed
	NotATest    Result = "not_a_test"
	Unknown     Result = "unknown"
)

// Verdict is what Read found out about a run.
type Verdict struct {
	Result    Result
	Framework string   // "" if unknown
	Failing   []string // in the order of the output, at most 1000
	// FirstError is one line, "" if there is none.
	FirstError string
	ExitCode   int
	// Masked is the part of the command that hides the exit code of the tests, such as "| tail" or
	// "|| true". It is "" if the exit code is that of the tests.
	Masked string
	// MissingSummary reports that the run exited with 0, but without the summary that its runner
	// always prints. Something may have ended it before its tests, so the result is Unknown.
	MissingSummary          bool
	Passed, Failed, Skipped int // as counted by the output
	// PassedUncounted reports that the output does not count passed tests; Passed is then 0 or 1.
	PassedUncounted bool
	// MultipleRuns reports that tests ran more than once; the numbers may not include all runs.
	MultipleRuns bool
	// BuildFailed reports that the run failed because something did not compile.
	BuildFailed bool

	inOutput bool // the output confirms the result
}

// Read returns the verdict on a command's tests. It uses the exit code, or the runner's output if
// the exit code is masked.
func Read(run Run) Verdict {
	calls := testrun.Read(run.Command, run.Files)
	text := plainText(run.Output)
	all := make([]Verdict, 0, len(calls))
	for _, c := range calls {
		if v := readCall(run, c, text); v.Result != NotATest {
			all = append(all, v)
		}
	}
	v := mergeVerdicts(all)
	v.MultipleRuns = len(all) > 1 || len(all) == 1 && all[0].MultipleRuns
	v.MissingSummary = slices.ContainsFunc(all, func(v Verdict) bool { return v.MissingSummary })
	v.ExitCode = run.ExitCode
	var line string
	if line, v.BuildFailed = v.compileError(text); v.FirstError == "" {
		v.FirstError = oneLine(line)
	}
	return v
}

// Doubt explains why a run with exit code 0 is Unknown. It returns "" unless the summary is
// missing.
func (v Verdict) Doubt() string {
	if !v.MissingSummary {
		return ""
	}
	return "exit 0, but " + v.Framework + " printed no summary: its tests may not have come to their end"
}

// ExitCodeMasks returns the parts of a command that hide the exit codes of its tests.
func ExitCodeMasks(command string, files func(path string) ([]byte, error)) []string {
	return eachOfTests(command, files, func(c testrun.Call) string { return c.Mask })
}

// SilencingRedirections returns the redirections of a command that discard the output of its tests.
func SilencingRedirections(command string, files func(path string) ([]byte, error)) []string {
	return eachOfTests(command, files, func(c testrun.Call) string { return c.Silenced })
}

// eachOfTests returns a part of each test run of a command, without duplicates and empty ones.
func eachOfTests(command string, files func(path string) ([]byte, error), part func(testrun.Call) string) (parts []string) {
	for _, c := range testrun.Read(command, files) {
		if text := part(c); c.IsTestRun && text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return parts
}

// TestFiles returns the files that a command passes to its test runners, relative to its folder and
// with slashes.
func TestFiles(command string, files func(path string) ([]byte, error)) []string {
	var named []string
	for _, c := range testrun.Read(command, files) {
		named = append(named, c.TestFiles()...)
	}
	return named
}

// Reach returns the commands that gates run directly or through scripts, and the files of those
// scripts. Paths are relative to the root, also for read. See [testrun.Reach].
func Reach(gates []gate.Gate, read func(path string) ([]byte, error)) (steps []testrun.Step, through []string) {
	for _, g := range gates {
		dir := filepath.ToSlash(g.Dir)
		found, files := testrun.Reach(dir, g.ShellCommand(), read)
		steps, through = append(steps, found...), append(through, files...)
	}
	return steps, through
}

// resultOrder lists results by increasing priority: a command with several runs has the last of
// them.
var resultOrder = []Result{NotATest, Pass, Unknown, NoTests, Gate, RunnerError, Signal, Timeout, Fail}

// mergeVerdicts returns the verdict on several test runs of one command. A result that the output
// confirms has priority over one from the exit code, which may be of another run.
func mergeVerdicts(all []Verdict) Verdict {
	best := Verdict{Result: NotATest}
	for _, v := range all {
		heavier := slices.Index(resultOrder, v.Result) > slices.Index(resultOrder, best.Result)
		switch {
		case best.Result == Fail && v.Result == Fail && best.inOutput && v.inOutput && v.Framework == best.Framework:
			// Both calls read the same lines of the output, so they are not added twice.
		case best.Result == Fail && v.Result == Fail && best.inOutput && v.inOutput:
			best.Failing = append(best.Failing, v.Failing...)
			best.Passed, best.Failed, best.Skipped = best.Passed+v.Passed, best.Failed+v.Failed, best.Skipped+v.Skipped
		case best.Result == Fail && !best.inOutput && v.inOutput && v.Result != Pass && v.Result != Gate,
			heavier && (v.inOutput || !best.inOutput || best.Result == Pass || best.Result == Gate):
			best = v
		}
	}
	return best
}

// readCall returns the verdict on one test run of a command.
func readCall(run Run, c testrun.Call, text plainOutput) Verdict {
	results, framework := readOutput(c, run, text)
	v := Verdict{
		Framework: framework, Failing: results.Failing, FirstError: oneLine(results.FirstError), Masked: c.Mask,
		Passed: results.Passed, Failed: results.Failed, Skipped: results.Skipped,
		PassedUncounted: results.PassedUncounted, MultipleRuns: results.MultipleSummaries,
		inOutput: results.HasSummary || results.OtherFailure || results.RunnerError || results.NoTests || results.GateFailed || results.Interrupted,
	}
	code, known := exitCode(run, c, text)
	switch {
	case !c.IsTestRun && results.LineKinds < 2:
		v.Result = NotATest
	case c.HasNoTests:
		v.Result = NoTests
	case !known:
		v.Result = resultByText(results, text)
	case code != 0:
		v.Result = resultByCode(code, c, results, text)
	case results.NoTests && results.Failed == 0 && !results.OtherFailure:
		v.Result = NoTests
	case c.IsTestRun && results.HasSummary && (results.Failed > 0 || results.SummaryFailed): // the tests or a plugin of the runner changed the exit code
		v.Result = Fail
	default:
		v.Result = Pass
	}
	if v.Result == Pass && run.ExitCode != 0 && run.ExitCode != UnknownExit && !known {
		v.Result = Unknown // something failed, perhaps the tests
	}
	v.MissingSummary = v.Result == Pass && known && !v.inOutput && c.Mask == "" && !c.FromScript && !c.OutputToFile && !c.Conditional && slices.Contains(summaryRunners, c.Runner)
	if v.MissingSummary {
		v.Result = Unknown
	}
	if v.Result != Fail {
		v.Failing = nil
		if v.Result == Pass || v.Result == NotATest || v.Result == Unknown {
			v.FirstError = ""
		}
	}
	return v
}

// summaryRunners lists the runners that always print a summary, whatever their options.
var summaryRunners = []string{"unittest", "go", "cargo"}

// exitCode returns the exit code of the test run itself. It is known if the command does not mask
// it or prints it.
func exitCode(run Run, c testrun.Call, text plainOutput) (int, bool) {
	if c.Mask == "" {
		return run.ExitCode, run.ExitCode != UnknownExit
	}
	before, after, ok := strings.Cut(c.EchoLine, "\x00")
	if !ok {
		return 0, false
	}
	for _, line := range slices.Backward(text.lines) {
		rest, isEcho := strings.CutPrefix(line, before)
		rest, ends := strings.CutSuffix(rest, after)
		if code, err := strconv.ParseUint(rest, 10, 8); isEcho && ends && err == nil {
			return int(code), true
		}
	}
	return 0, false
}

// resultByCode returns the result of a test run with a nonzero exit code.
func resultByCode(code int, c testrun.Call, results dialect.Results, text plainOutput) Result {
	failed := results.Failed > 0 || results.OtherFailure
	switch {
	case c.HasTimeLimit && (code == 124 || code == 137):
		return Timeout
	case results.Interrupted, isSignalCode(code) && (!failed || !results.HasSummary):
		return Signal
	case failed:
		return Fail
	case code == 126 || code == 127, c.Runner == "pytest" && (code == 3 || code == 4), c.Runner == "node" && code == 9, results.RunnerError:
		return RunnerError
	case results.NoTests, c.Runner == "pytest" && code == 5:
		return NoTests
	case text.matches(notStarted):
		return RunnerError
	case results.GateFailed, results.HasSummary && len(results.Failing) == 0:
		return Gate
	case c.FollowsOther && results.LineKinds == 0:
		return Unknown
	}
	return Fail
}

// isSignalCode reports whether an exit code stands for a signal: a shell returns 128 + the number
// of the signal that ended its child.
func isSignalCode(code int) bool {
	switch code - 128 {
	case 1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 15, 24, 25, 31:
		return true
	}
	return false
}

// resultByText returns the result of a test run whose exit code is unknown.
func resultByText(results dialect.Results, text plainOutput) Result {
	switch {
	case results.Failed > 0 || results.OtherFailure, len(results.Failing) > 0 && !results.HasSummary && results.LineKinds > 1:
		return Fail
	case results.Interrupted:
		return Signal
	case results.RunnerError:
		return RunnerError
	case results.NoTests:
		return NoTests
	case results.GateFailed:
		return Gate
	case results.HasSummary:
		return Pass
	case text.matches(notStarted):
		return RunnerError
	case text.matches(wrapperFailed):
		return Fail
	}
	return Unknown
}
