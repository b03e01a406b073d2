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

// Noted is a run of an agent's as the loop keeps it, nil if it ran no tests. What
// it says is cleaned of secrets by redact before it is cut.
func Noted(run Run, redact func(string) string) *loop.TestRun {
	v := Read(run)
	if v.Result == NotATest {
		return nil
	}
	t := loop.TestRun{Command: run.Command, Result: string(v.Result), Failed: v.Failed, Failing: v.Failing, FirstError: v.FirstError}
	t = t.Redacted(redact).Bounded()
	return &t
}

// exitLine is how Claude Code begins the output of a command that failed; it has
// been seen in these wordings.
var exitLine = regex.New(`^(?:Exit code|Command exited with non-zero status code|Command failed with exit code) (\d+)$`)

// CutExit parts what a client gives of a command that failed: its exit code, and
// its output. Without a first line of that kind it is not ok.
func CutExit(text string) (code int, output string, ok bool) {
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

// maxScriptFile is how much is read of a file that holds scripts or a report.
const maxScriptFile = 8 << 20

// FilesIn reads files of the folder that a command runs in. They are an agent's to
// make: what is not a regular file (a pipe would be waited for without end) is none.
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
