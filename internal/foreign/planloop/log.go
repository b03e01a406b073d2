package planloop

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Bounds of the logs. The scripts cut one off that has grown over MaxLog bytes to
// its last KeptLines lines; with long lines that may still be too much, so here
// it is cut to both. An entry has at most EntryLines.
const (
	MaxLog     = 100_000
	KeptLines  = 500
	EntryLines = 100

	maxOutput = 40_000 // bytes of an entry's output: an entry always fits a log
	listed    = 20     // of the failing tests
)

// Append adds an entry of whole lines to a log. A log that would grow over MaxLog
// bytes keeps its newest lines, whole ones: at most KeptLines, and no more than
// MaxLog bytes of them. log is not changed.
func Append(log, entry []byte) []byte {
	out := bytes.Clone(log)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	out = append(out, entry...)
	if len(out) <= MaxLog {
		return out
	}
	from := len(out)
	for range KeptLines {
		if from == 0 {
			break
		}
		at := bytes.LastIndexByte(out[:from-1], '\n') + 1
		if len(out)-at > MaxLog {
			break
		}
		from = at
	}
	return out[from:]
}

// Failure is what failure-context.log tells of a try that failed.
type Failure struct {
	Loop      string
	Story     string
	Iteration int
	Base      string    // the commit that the story began with, "" for none
	At        time.Time // when it was found
	Reason    string
	Tests     []string // those that fail
	Output    string   // of what failed, as it came
}

// Entry is its text, at most EntryLines lines. The end of the output stays, as
// with the scripts, and its beginning, where a compiler says what is wrong.
func (f Failure) Entry() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s%s%s\n", failureFrom, f.At.Format(time.RFC3339), failureMark)
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
	room := EntryLines - strings.Count(b.String(), "\n") - 1
	if out := plan.Excerpt(f.Output, room, maxOutput); out != "" {
		for line := range strings.SplitSeq(out, "\n") {
			if strings.HasPrefix(line, "===") { // would look like the end of the entry
				line = " " + line
			}
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(failureTo + "\n")
	return []byte(b.String())
}

const (
	failureFrom = "=== Test Failure "
	failureMark = " ==="
	failureTo   = "=== End Failure ==="
)

// line names the try: what tells its entry from all others.
func (f Failure) line() string {
	return fmt.Sprintf("Story: %s, iteration %d of %s", f.Story, f.Iteration, f.Loop)
}

// In reports whether a log has the entry already.
func (f Failure) In(log []byte) bool {
	return bytes.Contains(log, []byte("\n"+f.line()+"\n"))
}
