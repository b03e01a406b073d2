package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/term"
)

// exitCode ends the tool with a code after everything has been said.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// Codes of commands that judge: verify, audit and guard check.
const (
	disagrees  exitCode = 1 // a gate fails, or does not say what its receipt says
	cannotTell exitCode = 3
)

// taken is the code of a process that drove a loop until a session took it.
const taken exitCode = 16

// exit prints an error, unless all has been said, and returns the exit code.
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

// meaning is one line of the table of exit codes.
type meaning struct {
	code       int
	name, when string
}

// exitCodes is the table: how `pawl run` ends, by outcome, and how the other
// commands do.
func exitCodes() []meaning {
	when := map[loop.Outcome]string{
		loop.Verified:     "every task is done with the evidence wanted, and every gate passed on the final tree",
		loop.Finished:     "an explore or periodic loop reached its own end; or every task of the plan was done before",
		loop.Errored:      "Pawl or the agent could not go on; the message says what and what to do",
		loop.Unverified:   "claimed, and nothing failed, but nothing could tell; or only with changed tests or other gate inputs",
		loop.Iterations:   "the limit of iterations was reached; the work is kept",
		loop.Duration:     "the time limit was reached; the work is kept",
		loop.Budget:       "the limit of cost or tokens was reached; the work is kept",
		loop.Stuck:        "everything that could be tried for a task was tried, or it was claimed without a change while a gate is red",
		loop.BlockedEnd:   "the agent says that it cannot, with its reason",
		loop.Tampered:     "the agent kept changing protected files",
		loop.CancelledEnd: "by a user: Ctrl-C or pawl stop",
	}
	var table []meaning
	for _, o := range loop.Outcomes() {
		table = append(table, meaning{o.ExitCode(loop.ByInterrupt), string(o), when[o]})
		if o == loop.Errored {
			table = append(table, meaning{int(failure.Usage), "usage", "wrong flags, an unreadable plan, a dirty tree, a loop that is not there"})
		}
	}
	return append(table,
		meaning{int(taken), "taken", "it has not ended: a user's session took the loop, which goes on there"},
		meaning{loop.CancelledEnd.ExitCode(loop.ByTerm), string(loop.CancelledEnd), "by TERM"},
		meaning{loop.CancelledEnd.ExitCode(loop.ByHangup), string(loop.CancelledEnd), "by HUP: the terminal went away"},
	)
}

// judgingCodes is the table of the commands that judge.
func judgingCodes() []meaning {
	return []meaning{
		{0, "pawl verify", "every gate passes"},
		{int(disagrees), "pawl verify", "a gate fails"},
		{int(cannotTell), "pawl verify", "no gate fails, but one could not tell"},
		{0, "pawl audit", "every gate says what its receipt says, and the evidence is what was wanted"},
		{int(disagrees), "pawl audit", "a gate contradicts its receipt, or the receipt was altered"},
		{int(cannotTell), "pawl audit", "there is no receipt to compare with, a gate could not tell, or the commit has less evidence than wanted"},
		{0, "pawl doctor", "nothing is broken; there may be warnings"},
		{int(disagrees), "pawl doctor", "something breaks loops, and it says what to do about it"},
		{0, "pawl guard check", "the call is allowed"},
		{int(disagrees), "pawl guard check", "it is denied"},
		{int(cannotTell), "pawl guard check", "a user is asked; where nobody sits it is denied"},
		{int(failure.Usage), "pawl run --dry-run", "the loop could not begin, and it says why; the same of pawl start"},
		{int(failure.Error), "pawl log --verify", "the journal is damaged"},
		{int(failure.Usage), "pawl plan check", "the plan cannot be worked on"},
	}
}

// codesText is what `pawl help exit-codes` prints.
func codesText() string {
	var b strings.Builder
	b.WriteString("How the tool ends.\n")
	for _, t := range []struct {
		title string
		table []meaning
	}{{"pawl run and pawl resume, by the loop's outcome", exitCodes()}, {"commands that judge", judgingCodes()}} {
		fmt.Fprintf(&b, "\n%s\n", t.title)
		for _, m := range t.table {
			fmt.Fprintf(&b, "  %3d  %-18s  %s\n", m.code, m.name, m.when)
		}
	}
	return b.String()
}
