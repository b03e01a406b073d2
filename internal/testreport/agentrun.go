package testreport

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/regex"
)

// AgentTestRun converts a command that an agent ran to the loop's record of a test run. It returns
// nil if the command ran no tests. Secrets are redacted before texts are cut.
func AgentTestRun(run Run, redact func(string) string) *loop.TestRun {
	v := Read(run)
	if v.Result == NotATest {
		return nil
	}
	t := loop.TestRun{Command: run.Command, Result: string(v.Result), Failed: v.Failed, Failing: v.Failing, FirstError: v.FirstError}
	t = t.Redacted(redact).Bounded()
	return &t
}

// exitLine matches the first line of Claude Code's output for a failed command. All its observed
// wordings are here.
var exitLine = regex.New(`^(?:Exit code|Command exited with non-zero status code|Command failed with exit code) (\d+)$`)

// CutExitCode splits what a client returns for a failed command into exit code and output. It
// returns false if the text does not begin with an exit code.
func CutExitCode(text string) (code int, output string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	m := exitLine.FindStringSubmatch(strings.TrimSpace(first))
	if m == nil {
		return Nonzero, text, false
	}
	code, err := strconv.Atoi(m[1])
	if err != nil {
		code = Nonzero
	}
	return code, rest, true
}

// maxScriptFile limits what is read of a file with scripts or a report, in bytes.
const maxScriptFile = 8 << 20

// FilesIn returns a function that reads files in the folder of a command. It only reads regular
// files: an agent could create a pipe, on which reading waits forever.
func FilesIn(dir string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		f, err := atomicfile.Open(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxScriptFile))
	}
}
