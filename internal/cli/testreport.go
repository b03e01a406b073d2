package cli

import (
	"errors"
	"io"
	"os"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/testreport"
)

type testreportCmd struct {
	Command  string `required:"" placeholder:"CMD" help:"the command that ran, as it was typed"`
	ExitCode *int   `placeholder:"CODE" help:"its exit code; without it, only the output counts"`
	File     string `arg:"" optional:"" default:"-" help:"file with its output; - = standard input"`
	Text     bool   `xor:"form" help:"print text instead of JSON"`
	JSON     bool   `xor:"form" name:"json" help:"print a JSON object (default; docs/reference/testreport.schema.json)"`
}

// testReportResult is the output of --json.
type testReportResult struct {
	Result     testreport.Result `json:"result" jsonschema:"what became of the tests; only fail says that one of them failed"`
	Framework  string            `json:"framework" jsonschema:"the runner, empty if it is not known"`
	Failing    []string          `json:"failing" jsonschema:"tests, files or packages that failed, as far as they are named"`
	FirstError string            `json:"first_error" jsonschema:"one line, empty if there is none"`
	ExitCode   *int              `json:"exit_code,omitempty" jsonschema:"of the command; absent if it was not given"`
	Masked     string            `json:"masked,omitempty" jsonschema:"what in the command hides the exit code of the tests"`
	Reason     string            `json:"reason,omitempty" jsonschema:"why a run that ended with 0 is unknown"`
	Counts     *counts           `json:"counts" jsonschema:"tests; null where the output does not count them, as that of go test"`
}

type counts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// countsOf returns the numbers of tests, nil if the output does not count them.
func countsOf(v testreport.Verdict) *counts {
	if v.PassedUncounted || v.Passed+v.Failed+v.Skipped == 0 && v.Result != testreport.NoTests {
		return nil
	}
	return &counts{v.Passed, v.Failed, v.Skipped}
}

// maxReport is the maximum length of the output, in bytes.
const maxReport = 64 << 20

// Run prints the results in the output of a test run.
func (c *testreportCmd) Run(a *app) error {
	output, err := c.output(a)
	if err != nil {
		return err
	}
	run := testreport.Run{Command: c.Command, ExitCode: testreport.UnknownExit, Output: output, Files: testreport.FilesIn(a.dir)}
	if c.ExitCode != nil {
		run.ExitCode = *c.ExitCode
	}
	v := testreport.Read(run)
	if c.Text {
		a.printVerdict(v)
		return nil
	}
	return a.printJSON(testReportResult{
		Result: v.Result, Framework: v.Framework, Failing: append([]string{}, v.Failing...), FirstError: v.FirstError,
		ExitCode: c.ExitCode, Masked: v.Masked, Reason: v.Doubt(), Counts: countsOf(v),
	})
}

func (c *testreportCmd) output(a *app) ([]byte, error) {
	const hint = "name the file that holds what the command printed, or - for the standard input"
	in := a.In
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, failure.New(failure.Usage, hint, "read output: %w", err)
		}
		defer f.Close()
		in = f
	} else {
		a.announceRead("what the command printed; Ctrl-D ends it")
	}
	b, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err != nil {
		return nil, failure.New(failure.Usage, hint, "read output: %w", err)
	}
	if len(b) > maxReport {
		return nil, failure.New(failure.Usage, "use the end of it: tail -c 10M FILE", "read output: %w", errors.New("it is longer than 64 MiB"))
	}
	return b, nil
}

func (a *app) printVerdict(v testreport.Verdict) {
	a.printf("%s", v.Result)
	if v.Framework != "" {
		a.printf("  %s", v.Framework)
	}
	if n := countsOf(v); n != nil {
		a.printf("  %d passed, %d failed, %d skipped", n.Passed, n.Failed, n.Skipped)
	}
	a.printf("\n")
	if doubt := v.Doubt(); doubt != "" {
		a.printf("  %s\n", doubt)
	}
	for _, name := range v.Failing {
		a.printf("  failed  %s\n", term.Clean(name))
	}
	if v.FirstError != "" {
		a.printf("  error   %s\n", term.Clean(v.FirstError))
	}
	if v.Masked != "" {
		a.printf("  `%s` hides the exit code of the tests\n", term.Clean(v.Masked))
	}
}
