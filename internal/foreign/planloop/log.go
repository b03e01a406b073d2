package planloop

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Limits of the logs. The scripts cut a log with more than MaxLogBytes bytes to its last KeptLogLines
// lines. With long lines that may be too much, so Append applies both limits. An entry has at most
// MaxEntryLines lines.
const (
	MaxLogBytes   = 100_000
	KeptLogLines  = 500
	MaxEntryLines = 100

	maxOutput = 40_000 // bytes of an entry's output, so that an entry fits into a log
	listed    = 20     // of the failing tests
)

// AppendEntry returns a log with another entry of whole lines. A log that would exceed MaxLogBytes bytes
// keeps its newest whole lines: at most KeptLogLines lines and MaxLogBytes bytes. log is not changed.
func AppendEntry(log, entry []byte) []byte {
	out := bytes.Clone(log)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	out = append(out, entry...)
	if len(out) <= MaxLogBytes {
		return out
	}
	from := len(out)
	for range KeptLogLines {
		if from == 0 {
			break
		}
		at := bytes.LastIndexByte(out[:from-1], '\n') + 1
		if len(out)-at > MaxLogBytes {
			break
		}
		from = at
	}
	return out[from:]
}

// Failure is a failed attempt, for failure-context.log.
type Failure struct {
	Loop      string
	Story     string
	Iteration int
	Base      string    // the commit at which the story started, "" = none
	At        time.Time // when the failure was found
	Reason    string
	Tests     []string // the failing tests
	Output    string   // of what failed, as printed
}

// Entry returns its text, at most MaxEntryLines lines. Like the scripts, it keeps the end of the
// output, and also the beginning, where a compiler reports errors.
func (f Failure) Entry() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s%s%s\n", headPrefix, f.At.Format(time.RFC3339), headSuffix)
	if f.Base != "" {
		fmt.Fprintf(&b, "Checkpoint: %s\n", f.Base)
	}
	fmt.Fprintf(&b, "%s\nReason: %s\n", f.line(), plan.OneLine(f.Reason, 500))
	for i, test := range f.Tests {
		if i == listed {
			fmt.Fprintf(&b, "  … and %d more\n", len(f.Tests)-listed)
			break
		}
		fmt.Fprintf(&b, "  - %s\n", plan.OneLine(test, 200))
	}
	room := MaxEntryLines - strings.Count(b.String(), "\n") - 1
	if out := plan.Excerpt(f.Output, room, maxOutput); out != "" {
		for line := range strings.SplitSeq(out, "\n") {
			if strings.HasPrefix(line, "===") { // would look like the end of the entry
				line = " " + line
			}
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(footer + "\n")
	return []byte(b.String())
}

const (
	headPrefix = "=== Test Failure "
	headSuffix = " ==="
	footer     = "=== End Failure ==="
)

// line returns the line that identifies the attempt in the log.
func (f Failure) line() string {
	return fmt.Sprintf("Story: %s, iteration %d of %s", f.Story, f.Iteration, f.Loop)
}

// IsInLog reports whether a log has the entry already.
func (f Failure) IsInLog(log []byte) bool {
	return bytes.Contains(log, []byte("\n"+f.line()+"\n"))
}
