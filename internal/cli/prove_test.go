package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/verify"
)

// The exit code and the headline agree, and a run that tried nothing is no success.
func TestProveExitCodeMatchesHeadline(t *testing.T) {
	t.Parallel()
	functions := func(n int) []verify.FunctionProof { return make([]verify.FunctionProof, n) }
	missed := func(n int) []verify.MissedLine { return make([]verify.MissedLine, n) }
	for name, c := range map[string]struct {
		out      proveResult
		code     error
		headline string
	}{
		"nothing to try":         {proveResult{}, codeUndecided, "nothing could be tried: no function or line was added or changed that Pawl can break"},
		"lines, all noticed":     {proveResult{Lines: 2}, nil, "tests notice 2 of 2 broken lines"},
		"lines, one missed":      {proveResult{Lines: 2, Missed: missed(1)}, codeFailed, "tests notice 1 of 2 broken lines"},
		"functions, all tested":  {proveResult{Functions: functions(2), Tried: 2, Tested: 2}, nil, "2 of 2 changed functions are tested"},
		"and a line missed":      {proveResult{Functions: functions(2), Tried: 2, Tested: 2, Lines: 3, Missed: missed(2)}, nil, "2 of 2 changed functions are tested; tests notice 1 of 3 broken lines"},
		"functions, one missed":  {proveResult{Functions: functions(2), Tried: 2, Tested: 1}, codeFailed, "1 of 2 changed functions are tested"},
		"functions, none tried":  {proveResult{Functions: functions(2)}, codeUndecided, "0 of 2 changed functions are tested"},
		"and only lines noticed": {proveResult{Functions: functions(2), Lines: 1}, codeUndecided, "0 of 2 changed functions are tested"},
	} {
		if code, headline := c.out.code(), c.out.headline(); code != c.code || headline != c.headline { //nolint:errorlint // they are constants
			t.Errorf("%s: %v, %q", name, code, headline)
		}
	}
}
