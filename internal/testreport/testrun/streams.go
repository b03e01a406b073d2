package testrun

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// streams tell for the two outputs of a command by which redirection each is thrown
// away, as a user would write it; "" where it goes somewhere.
type streams struct{ out, err string }

const nowhere = "/dev/null"

// after is where the outputs go behind redirections, which count in their order:
// `>/dev/null 2>&1` throws both away, `2>&1 >/dev/null` one.
func (s streams) after(redirs []*syntax.Redirect) streams {
	for _, r := range redirs {
		to := shell.Constant(r.Word)
		thrown := func(as string) string {
			if to != nowhere {
				return ""
			}
			return as + nowhere
		}
		second := r.N != nil && r.N.Value == "2"
		switch {
		case r.Op == syntax.RdrAll || r.Op == syntax.AppAll:
			s = streams{thrown("&>"), thrown("&>")}
		case r.Op == syntax.DplOut && second && to == "1":
			s.err = s.out
		case r.Op == syntax.DplOut && second && to == "-":
			s.err = "2>&-"
		case r.Op == syntax.DplOut && !second && to == "2":
			s.out = s.err
		case r.Op == syntax.DplOut && r.N == nil && to != "1" && to != "-":
			s = streams{thrown(">&"), thrown(">&")}
		case writesFile(r) && second:
			s.err = thrown("2>")
		case writesFile(r) && (r.N == nil || r.N.Value == "1"):
			s.out = thrown(">")
		}
	}
	return s
}

// onStderr are the runners that sum up on the standard error; all others do so on
// the standard output.
var onStderr = []string{"unittest", "jest", "bun"}

// silence is the redirection that throws away what a runner sums up with. Of one
// that is not known it takes both outputs to be thrown away.
func (s streams) silence(runner string) string {
	switch {
	case s.out != "" && s.err != "":
		return s.out
	case slices.Contains(onStderr, runner):
		return s.err
	case runner != "":
		return s.out
	}
	return ""
}
