package planloop

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// NewProgress is the progress file before the first attempt.
const NewProgress = "# Progress Log\n"

// noCommitLine is the line of an entry without a commit, in ralph-cli's words.
const noCommitLine = "- Commit: N/A"

// ProgressEntry returns the entry of a failed attempt, beginning with an empty line. Package
// planfile writes the entries of kept tasks, with the tick.
func (f Failure) ProgressEntry() []byte {
	return fmt.Appendf(nil, "\n%s\n- Status: FAILED (%s)\n- Time: %s\n%s\n",
		f.heading(), plan.OneLine(f.Reason, 100), f.At.Format(time.RFC3339), f.loopLine())
}

func (f Failure) heading() string { return fmt.Sprintf("## Iteration %d - %s", f.Iteration, f.Story) }

func (f Failure) loopLine() string { return "- Loop: " + f.Loop }

// IsInProgressFile reports whether a progress file has that entry already.
func (f Failure) IsInProgressFile(progress []byte) bool {
	for _, s := range sections(progress) {
		if s.heading() == f.heading() && s.has("- Status: FAILED ") && s.has(f.loopLine()) {
			return true
		}
	}
	return false
}

// StampCommit writes the first 7 characters of a story's commit into the story's last successful entry
// that has none. It changes nothing else, and returns progress if there is no such entry.
func StampCommit(progress []byte, story, sha string) []byte {
	if len(sha) < 7 {
		return progress
	}
	at := -1 // after the line
	for _, s := range sections(progress) {
		if s.isAbout(story) && s.has("- Status: SUCCESS") {
			if i := bytes.Index(s.text, []byte("\n"+noCommitLine)); i >= 0 {
				at = s.from + i + len("\n"+noCommitLine)
			}
		}
	}
	if at < 0 {
		return progress
	}
	out := append(bytes.Clone(progress[:at-len("N/A")]), sha[:7]...)
	return append(out, progress[at:]...)
}

// section is an entry of a progress file, from its heading to the next.
type section struct {
	from int
	text []byte
}

// headingMark matches the beginning of a heading.
var headingMark = regex.New(`(?m)^## `)

func sections(progress []byte) []section {
	var found []section
	to := len(progress)
	for _, at := range slices.Backward(headingMark.FindAllSubmatchIndex(progress, -1)) {
		found = append(found, section{at[0], progress[at[0]:to]})
		to = at[0]
	}
	slices.Reverse(found)
	return found
}

// heading returns the heading of the section, "## Iteration 3 - US-001".
func (s section) heading() string {
	line, _, _ := bytes.Cut(s.text, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

func (s section) isAbout(story string) bool {
	return strings.HasPrefix(s.heading(), "## Iteration ") && strings.HasSuffix(s.heading(), " - "+story)
}

// has reports whether one of its lines begins with a text.
func (s section) has(line string) bool { return bytes.Contains(s.text, []byte("\n"+line)) }
