package verify

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// readOutput adds to a result what the gate's output says of its tests, where no report
// said it. A code that the command hides, and an output that tells otherwise, are
// named.
func readOutput(r *gate.Result, dir string) testreport.Verdict {
	said := testreport.Read(testreport.Run{
		Command: r.Command, ExitCode: r.ExitCode, Output: []byte(r.Head + "\n" + r.Tail), Files: testreport.FilesIn(dir),
	})
	if r.ExitCode == 0 && said.Masked != "" && said.Result == testreport.Fail {
		r.MasksFailures = true
		r.Warning = fmt.Sprintf("its exit code is masked by `%s`, and its output says that tests failed%s", said.Masked, after(named(said)))
	}
	if len(r.Tests) == 0 {
		r.Passed, r.Failed, r.MultipleRuns = said.Passed, said.Failed, said.Several
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

// failsDespiteExit0: the code is 0 and comes through, no report tells more, and the runner's
// own summary counts failed tests.
func failsDespiteExit0(r gate.Result, said testreport.Verdict) bool {
	return r.ExitCode == 0 && len(r.Tests) == 0 && said.Masked == "" && said.Result == testreport.Fail
}

// named is what failed, in a few words.
func named(said testreport.Verdict) string {
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

// explained puts before the reason of a failed gate what it means for its tests.
func explained(said testreport.Verdict, reason string) string {
	switch said.Result {
	case testreport.NoTests:
		return "no tests were found" + after(reason)
	case testreport.RunnerError:
		return "its tests could not be run" + after(reason)
	}
	return reason
}

// Masked names what in a gate's command hides the exit code of its tests, "" if
// nothing does. root is the work tree.
func Masked(g gate.Gate, root string) string {
	return strings.Join(testreport.Masks(g.ShellCommand(), filesOf(g, root)), ", ")
}

// Silenced names what in a gate's command throws away what its tests say, "" if
// nothing does, or a report tells of them.
func Silenced(g gate.Gate, root string) string {
	if g.Report != "" {
		return ""
	}
	return strings.Join(testreport.Silences(g.ShellCommand(), filesOf(g, root)), ", ")
}

func filesOf(g gate.Gate, root string) func(string) ([]byte, error) {
	return testreport.FilesIn(filepath.Join(root, filepath.FromSlash(g.Dir)))
}
