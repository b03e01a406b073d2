package testrun

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// streams holds, for each output stream of a command, the redirection that discards it, as a user
// would write it. It is "" if the stream is not discarded.
type streams struct{ out, err string }

const devNull = "/dev/null"

// withRedirects returns the streams after redirections, which apply in order: `>/dev/null 2>&1` discards
// both, `2>&1 >/dev/null` only standard output.
func (s streams) withRedirects(redirs []*syntax.Redirect) streams {
	for _, r := range redirs {
		to := shell.Constant(r.Word)
		discard := func(as string) string {
			if to != devNull {
				return ""
			}
			return as + devNull
		}
		second := r.N != nil && r.N.Value == "2"
		switch {
		case r.Op == syntax.RdrAll || r.Op == syntax.AppAll:
			s = streams{discard("&>"), discard("&>")}
		case r.Op == syntax.DplOut && second && to == "1":
			s.err = s.out
		case r.Op == syntax.DplOut && second && to == "-":
			s.err = "2>&-"
		case r.Op == syntax.DplOut && !second && to == "2":
			s.out = s.err
		case r.Op == syntax.DplOut && r.N == nil && to != "1" && to != "-":
			s = streams{discard(">&"), discard(">&")}
		case writesFile(r) && second:
			s.err = discard("2>")
		case writesFile(r) && (r.N == nil || r.N.Value == "1"):
			s.out = discard(">")
		}
	}
	return s
}

// stderrRunners lists the runners that print their summary to standard error; all others use
// standard output.
var stderrRunners = []string{"unittest", "jest", "bun"}

// summaryDiscard returns the redirection that discards a runner's summary, or "". For an unknown runner
// both streams must be discarded.
func (s streams) summaryDiscard(runner string) string {
	switch {
	case s.out != "" && s.err != "":
		return s.out
	case slices.Contains(stderrRunners, runner):
		return s.err
	case runner != "":
		return s.out
	}
	return ""
}
