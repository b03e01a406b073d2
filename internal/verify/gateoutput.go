package verify

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// readOutput adds test results from the gate's output, if there is no report. It warns about a
// masked exit code and contradicting output.
func readOutput(r *gate.Result, dir string) testreport.Verdict {
	said := testreport.Read(testreport.Run{
		Command: r.Command, ExitCode: r.ExitCode, Output: []byte(r.Head + "\n" + r.Tail), Files: testreport.FilesIn(dir),
	})
	if r.ExitCode == 0 && said.Masked != "" && said.Result == testreport.Fail {
		r.MasksFailures = true
		r.Warning = fmt.Sprintf("its exit code is masked by `%s`, and its output says that tests failed%s", said.Masked, withColon(failureSummary(said)))
	}
	if len(r.Tests) == 0 {
		r.Passed, r.Failed, r.MultipleRuns = said.Passed, said.Failed, said.MultipleRuns
		r.BuildFailed = r.BuildFailed || said.BuildFailed
	}
	if (r.ExitCode != 0 || failsDespiteExit0(*r, said)) && len(r.Failing) == 0 && len(r.Tests) == 0 {
		slices.Sort(said.Failing)
		r.Failing = slices.Compact(said.Failing)
		if r.FirstError == "" && (said.Result == testreport.Fail || said.BuildFailed) {
			r.FirstError = said.FirstError
		}
	}
	return said
}

// failsDespiteExit0 reports whether an unmasked exit 0 contradicts the runner's own summary of
// failed tests, without a report.
func failsDespiteExit0(r gate.Result, said testreport.Verdict) bool {
	return r.ExitCode == 0 && len(r.Tests) == 0 && said.Masked == "" && said.Result == testreport.Fail
}

// failureSummary names what failed.
func failureSummary(said testreport.Verdict) string {
	if len(said.Failing) == 0 {
		return said.FirstError
	}
	const few = 3
	names := strings.Join(said.Failing[:min(few, len(said.Failing))], ", ")
	if more := len(said.Failing) - few; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}

// reasonFor prefixes a failed gate's reason with its meaning for the tests.
func reasonFor(said testreport.Verdict, reason string) string {
	switch said.Result {
	case testreport.NoTests:
		return "no tests were found" + withColon(reason)
	case testreport.RunnerError:
		return "its tests could not run" + withColon(reason)
	}
	return reason
}

// ExitCodeMask names the part of a gate's command that hides the exit code of its tests, or "". root is
// the work tree.
func ExitCodeMask(g gate.Gate, root string) string {
	return strings.Join(testreport.ExitCodeMasks(g.ShellCommand(), filesOf(g, root)), ", ")
}

// HiddenOutput names the part of a gate's command that discards the tests' output, or "". A report
// makes up for it.
func HiddenOutput(g gate.Gate, root string) string {
	if g.Report != "" {
		return ""
	}
	return strings.Join(testreport.SilencingRedirections(g.ShellCommand(), filesOf(g, root)), ", ")
}

func filesOf(g gate.Gate, root string) func(string) ([]byte, error) {
	return testreport.FilesIn(filepath.Join(root, filepath.FromSlash(g.Dir)))
}
