package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/clihelp"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/term"
)

// exitCode is an error that ends the tool with a code and prints nothing more.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// Exit codes of the commands that check: verify, audit and guard check.
const (
	codeFailed    exitCode = 1 // a gate fails or contradicts its receipt
	codeUndecided exitCode = 3
)

// codeTaken is the exit code of a driver whose loop a session took over.
const codeTaken exitCode = 16

// exit prints an error, unless it only holds a code, and returns the exit code.
func (a *app) exit(err error) int {
	var code exitCode
	var s signalled
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &s):
		return 128 + int(s.signal)
	}
	term.Error(a.Err, err)
	return int(failure.CodeOf(err))
}

// codeMeaning is one row of the table of exit codes.
type codeMeaning struct {
	code       int
	name, when string
}

// exitCodes returns the table of `pawl run`: the exit code of each outcome, and the general ones.
func exitCodes() []codeMeaning {
	when := map[loop.Outcome]string{
		loop.Verified:     "every task is done with the required evidence; every gate passes on the final tree",
		loop.Finished:     "an explore or periodic loop reached its limit, or the plan had no open task and the gates pass",
		loop.Errored:      "Pawl or the agent failed, or the plan had no open task and a gate fails; the message says what to do",
		loop.Unverified:   "done and nothing fails, but the evidence is not enough, or changed tests wait for your approval",
		loop.Iterations:   "the iteration limit was reached; the work is kept",
		loop.Duration:     "the time limit was reached; the work is kept",
		loop.Budget:       "the cost or token limit was reached; the work is kept",
		loop.Stuck:        "a task failed after all attempts, or was claimed done without a change while a gate fails",
		loop.BlockedEnd:   "the agent says that it cannot continue, and why",
		loop.Tampered:     "the agent kept changing protected files",
		loop.CancelledEnd: "you stopped it: Ctrl-C or pawl stop",
	}
	var table []codeMeaning
	for _, o := range loop.Outcomes() {
		table = append(table, codeMeaning{o.ExitCode(loop.ByInterrupt), string(o), when[o]})
		if o == loop.Errored {
			table = append(table, codeMeaning{int(failure.Usage), "usage", "a wrong flag, an unreadable plan, uncommitted changes or an unknown loop"})
		}
	}
	return append(table,
		codeMeaning{int(codeTaken), "taken", "not ended: a session took the loop and continues it"},
		codeMeaning{loop.CancelledEnd.ExitCode(loop.ByTerm), string(loop.CancelledEnd), "stopped by SIGTERM"},
		codeMeaning{loop.CancelledEnd.ExitCode(loop.ByHangup), string(loop.CancelledEnd), "stopped by SIGHUP: the terminal was closed"},
		codeMeaning{loop.CancelledEnd.ExitCode(loop.ByPipe), string(loop.CancelledEnd), "the reader of its output is gone, as with | head"},
	)
}

// exitRows returns that table for the manual page.
func exitRows() []clihelp.Row {
	var rows []clihelp.Row
	for _, m := range exitCodes() {
		rows = append(rows, clihelp.Row{Name: fmt.Sprintf("%d %s", m.code, m.name), Help: m.when})
	}
	return rows
}

// checkCodes returns the table of the commands that check.
func checkCodes() []codeMeaning {
	return []codeMeaning{
		{0, "pawl verify", "every gate passes"},
		{int(codeFailed), "pawl verify", "a gate fails"},
		{int(codeUndecided), "pawl verify", "no gate fails, but one could not be decided"},
		{0, "pawl audit", "every gate matches its receipt, and the evidence is enough"},
		{int(codeFailed), "pawl audit", "a gate contradicts its receipt, or the receipt was altered"},
		{int(codeUndecided), "pawl audit", "no receipt, an undecided gate, or less evidence than required"},
		{0, "pawl prove", "tests notice each broken function"},
		{int(codeFailed), "pawl prove", "tests miss a broken function or, where there is none, a broken line"},
		{int(codeUndecided), "pawl prove", "nothing could be tried"},
		{0, "pawl doctor", "nothing is broken; there may be warnings"},
		{int(codeFailed), "pawl doctor", "something breaks loops; the output says how to fix it"},
		{0, "pawl guard check", "the call is allowed"},
		{int(codeFailed), "pawl guard check", "the call is denied"},
		{int(codeUndecided), "pawl guard check", "the user is asked; in an unattended loop the call is denied"},
		{int(failure.Usage), "pawl run --dry-run", "the loop could not start, and why; the same for pawl start"},
		{int(failure.Error), "pawl log --verify", "the journal is damaged"},
		{int(failure.Usage), "pawl plan check", "the plan has errors"},
	}
}

// codesText returns the text of `pawl help exit-codes`.
func codesText() string {
	var b strings.Builder
	b.WriteString("Exit codes of pawl.\n")
	for _, t := range []struct {
		title string
		table []codeMeaning
	}{{"pawl run and pawl resume, by the loop's outcome", exitCodes()}, {"commands that check", checkCodes()}} {
		fmt.Fprintf(&b, "\n%s\n", t.title)
		for _, m := range t.table {
			fmt.Fprintf(&b, "  %3d  %-18s  %s\n", m.code, m.name, m.when)
		}
	}
	return b.String()
}
