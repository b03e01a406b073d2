// Package planloop reads and writes the files of ralph-cli's plan loop: what its scripts
// and its hooks keep on disk about a plan in .ralph/PRD-N.
//
//	if planloop.IsPlanPath(".ralph/PRD-1/plan.md") { // then beside it, and in .ralph:
//		current-story        US-001                              the story at work
//		.checkpoint          1f0c…                               HEAD when it began
//		sessions.log         incomplete:US-001:1767225600:stuck  what was left open
//		failure-context.log  === Test Failure … ===              what failed, bounded
//		progress.md          ## Iteration 3 - US-001             what was tried (beside the plan only)
//	}
//
// The scripts write the first four into .ralph, where all plans share them. AppendEntry limits the
// size of the logs. The files are untrusted: the package does not read them, and no word in them ends
// a loop.
package planloop

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Names of the files.
const (
	StoryFile    = "current-story"
	BaseFile     = ".checkpoint"
	SessionsFile = "sessions.log"
	FailuresFile = "failure-context.log"
	ProgressFile = "progress.md"
)

// SharedDir is the folder of the files that the scripts keep for all plans.
const SharedDir = ".ralph"

// IsPlanPath reports whether a path (relative to the project, with slashes) is a plan of this loop:
// .ralph/PRD-N/plan.md or prd.md, with a number N.
func IsPlanPath(name string) bool {
	dir, file := path.Split(name)
	number, ok := strings.CutPrefix(dir, SharedDir+"/PRD-")
	number, slash := strings.CutSuffix(number, "/")
	return ok && slash && (file == "plan.md" || file == "prd.md") && consistsOf(number, digits)
}

// IsStoryID reports whether an id may be written into the files: 1 to 64 letters, digits, dots,
// hyphens and underscores.
func IsStoryID(id string) bool { return len(id) <= 64 && consistsOf(id, letters+digits+".-_") }

// IsCommitID reports whether a text is the full hash of a commit.
func IsCommitID(sha string) bool {
	return (len(sha) == 40 || len(sha) == 64) && consistsOf(sha, digits+"abcdef")
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// consistsOf reports whether a text consists of these characters and is not empty.
func consistsOf(text, of string) bool { return text != "" && strings.Trim(text, of) == "" }

// ParseWord returns the word in a file with one word.
func ParseWord(file []byte) string { return strings.TrimSpace(string(file)) }

// FormatWord returns a file with one word: a story or a commit.
func FormatWord(value string) []byte { return []byte(value + "\n") }

// OpenStory is a story that is still open.
type OpenStory struct {
	Story string
	At    time.Time // when the session or the loop ended
	Why   string    // one word: the reason
}

// Line returns its line in sessions.log, with the line end.
func (i OpenStory) Line() []byte {
	why := strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters+digits+"-_", r) {
			return r
		}
		return '_'
	}, plan.OneLine(i.Why, 40))
	if why == "" {
		why = "unknown"
	}
	return fmt.Appendf(nil, "incomplete:%s:%d:%s\n", i.Story, i.At.Unix(), why)
}
