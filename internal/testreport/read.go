package testreport

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport/dialect"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// Exit codes that are none.
const (
	Nonzero     = -1 // it ended with an error of unknown number
	UnknownExit = -2 // how it ended is not known
)

// Run is a command that ended, and what it printed.
type Run struct {
	Command  string // as given to a shell
	ExitCode int    // or Nonzero, Unheard
	Output   []byte // standard output and error, as they came
	// Files reads package.json, Makefiles and reports below the folder that the
	// command ran in; nil reads none.
	Files func(path string) ([]byte, error)
}

// Result is what became of the tests of a run.
type Result string

// The results. Fail alone says that a test failed.
const (
	Pass        Result = "pass"
	Fail        Result = "fail"
	NoTests     Result = "no_tests"     // none were found or chosen
	RunnerError Result = "runner_error" // the runner did not get to run them
	Gate        Result = "gate"         // green, but that did not suffice: coverage, or a check after them
	Timeout     Result = "timeout"      // the limit that the command set
	Signal      Result = "signal"       // ended from outside, or crashed
	NotATest    Result = "not_a_test"
	Unknown     Result = "unknown"
)

// Verdict is what a run said.
type Verdict struct {
	Result    Result
	Framework string   // "" if not known
	Failing   []string // in the order they came, at most 1000
	// FirstError is one line, "" if there is none.
	FirstError string
	ExitCode   int
	// Masked is what hides the exit code of the tests: "| tail", "|| true"; "" if
	// it comes through.
	Masked string
	// Unsummed: it ended well without the summary that its runner always prints: it
	// may have been made to end before its tests did, so the result is Unknown.
	Unsummed                bool
	Passed, Failed, Skipped int // as far as the output counts them
	// Uncounted: the output does not say how many tests passed; Passed is 1 where some did.
	Uncounted bool
	// Several: the tests were run more than once, and the numbers are not those of all.
	Several bool
	// BuildFailed: it failed since something could not be built.
	BuildFailed bool

	inOutput bool // the output says so too
}

// Read returns the verdict on a command's tests: from its exit code first, and
// from the runner's output if that code is lost.
func Read(run Run) Verdict {
	calls := testrun.Read(run.Command, run.Files)
	text := plainText(run.Output)
	all := make([]Verdict, 0, len(calls))
	for _, c := range calls {
		if v := reading(run, c, text); v.Result != NotATest {
			all = append(all, v)
		}
	}
	v := merge(all)
	v.Several = len(all) > 1 || len(all) == 1 && all[0].Several
	v.Unsummed = slices.ContainsFunc(all, func(v Verdict) bool { return v.Unsummed })
	v.ExitCode = run.ExitCode
	var line string
	if line, v.BuildFailed = v.unbuilt(text); v.FirstError == "" {
		v.FirstError = oneLine(line)
	}
	return v
}

// Doubt is why a run that ended well is Unknown, "" if it is not for want of a summary.
func (v Verdict) Doubt() string {
	if !v.Unsummed {
		return ""
	}
	return "exit 0, but " + v.Framework + " printed no summary: its tests may not have come to their end"
}

// Masks names what hides the exit codes of the tests that a command runs, none
// if they come through.
func Masks(command string, files func(path string) ([]byte, error)) []string {
	var masks []string
	for _, c := range testrun.Read(command, files) {
		if c.Sure && c.Mask != "" && !slices.Contains(masks, c.Mask) {
			masks = append(masks, c.Mask)
		}
	}
	return masks
}

// Silences names the redirections that throw away what the tests say that a command
// runs, none if there are none.
func Silences(command string, files func(path string) ([]byte, error)) []string {
	var silences []string
	for _, c := range testrun.Read(command, files) {
		if c.Sure && c.Silenced != "" && !slices.Contains(silences, c.Silenced) {
			silences = append(silences, c.Silenced)
		}
	}
	return silences
}

// TestFiles are the files that a command names to the test runners which it starts,
// from its folder and with slashes.
func TestFiles(command string, files func(path string) ([]byte, error)) []string {
	var named []string
	for _, c := range testrun.Read(command, files) {
		named = append(named, c.TestFiles()...)
	}
	return named
}

// Reach returns the commands that gates come to, and the files that lead there, relative
// to the root, which read is relative to as well: see [testrun.Reach].
func Reach(gates []gate.Gate, read func(path string) ([]byte, error)) (steps []testrun.Step, through []string) {
	for _, g := range gates {
		dir := filepath.ToSlash(g.Dir)
		found, files := testrun.Reach(g.ShellCommand(), func(file string) ([]byte, error) { return read(path.Join(dir, file)) })
		for _, s := range found {
			s.Dir = path.Join(dir, s.Dir)
			if s.From != "" {
				s.From = path.Join(dir, s.From)
			}
			steps = append(steps, s)
		}
		for _, file := range files {
			through = append(through, path.Join(dir, file))
		}
	}
	return steps, through
}

// weight orders results: of several runs the heaviest is told.
var weight = []Result{NotATest, Pass, Unknown, NoTests, Gate, RunnerError, Signal, Timeout, Fail}

// merge is the verdict of several test runs of one command. What the output says
// outweighs what only follows from the exit code, which may be of another run.
func merge(all []Verdict) Verdict {
	best := Verdict{Result: NotATest}
	for _, v := range all {
		heavier := slices.Index(weight, v.Result) > slices.Index(weight, best.Result)
		switch {
		case best.Result == Fail && v.Result == Fail && best.inOutput && v.inOutput && v.Framework == best.Framework:
			// The same lines, read for another call: what they say is said.
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

// reading is the verdict on one test run.
func reading(run Run, c testrun.Call, text plain) Verdict {
	said, framework := listen(c, run, text)
	v := Verdict{
		Framework: framework, Failing: said.Failing, FirstError: oneLine(said.FirstError), Masked: c.Mask,
		Passed: said.Passed, Failed: said.Failed, Skipped: said.Skipped,
		Uncounted: said.Uncounted, Several: said.Several,
		inOutput: said.Summed || said.Bad || said.Broken || said.None || said.Gate || said.Stopped,
	}
	code, known := exitCode(run, c, text)
	switch {
	case !c.Sure && said.Marks < 2:
		v.Result = NotATest
	case c.Untested:
		v.Result = NoTests
	case !known:
		v.Result = bySummary(said, text)
	case code != 0:
		v.Result = byCode(code, c, said, text)
	case said.None && said.Failed == 0 && !said.Bad:
		v.Result = NoTests
	case c.Sure && said.Summed && (said.Failed > 0 || said.Red): // something has changed the code: the tests, or a plugin of the runner's
		v.Result = Fail
	default:
		v.Result = Pass
	}
	if v.Result == Pass && run.ExitCode != 0 && run.ExitCode != UnknownExit && !known {
		v.Result = Unknown // something failed, and it may have been the tests
	}
	v.Unsummed = v.Result == Pass && known && !v.inOutput && c.Mask == "" && !c.Through && !c.Elsewhere && !c.Perhaps && slices.Contains(sumUp, c.Runner)
	if v.Unsummed {
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

// sumUp are runners that print a summary whatever their options.
var sumUp = []string{"unittest", "go", "cargo"}

// exitCode is the code of the test run itself, if that can be known: it came
// through, or the command printed it.
func exitCode(run Run, c testrun.Call, text plain) (int, bool) {
	if c.Mask == "" {
		return run.ExitCode, run.ExitCode != UnknownExit
	}
	before, after, ok := strings.Cut(c.Echo, "\x00")
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

// byCode: the test run ended with an error.
func byCode(code int, c testrun.Call, said dialect.Said, text plain) Result {
	failed := said.Failed > 0 || said.Bad
	switch {
	case c.Limited && (code == 124 || code == 137):
		return Timeout
	case said.Stopped, signalled(code) && (!failed || !said.Summed):
		return Signal
	case failed:
		return Fail
	case code == 126 || code == 127, c.Runner == "pytest" && (code == 3 || code == 4), c.Runner == "node" && code == 9, said.Broken:
		return RunnerError
	case said.None, c.Runner == "pytest" && code == 5:
		return NoTests
	case text.has(notRun):
		return RunnerError
	case said.Gate, said.Summed && len(said.Failing) == 0:
		return Gate
	case c.Before && said.Marks == 0:
		return Unknown
	}
	return Fail
}

// signalled: a shell reports the signal that ended its child as 128 + its number.
func signalled(code int) bool {
	switch code - 128 {
	case 1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 15, 24, 25, 31:
		return true
	}
	return false
}

// bySummary: only what was printed can tell.
func bySummary(said dialect.Said, text plain) Result {
	switch {
	case said.Failed > 0 || said.Bad, len(said.Failing) > 0 && !said.Summed && said.Marks > 1:
		return Fail
	case said.Stopped:
		return Signal
	case said.Broken:
		return RunnerError
	case said.None:
		return NoTests
	case said.Gate:
		return Gate
	case said.Summed:
		return Pass
	case text.has(notRun):
		return RunnerError
	case text.has(wrapperFailed):
		return Fail
	}
	return Unknown
}
