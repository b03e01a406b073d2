package planfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Entry describes a verified task for a progress file. Its text may be hostile, from the agent or
// the plan: each text is written as one line.
type Entry struct {
	Time      time.Time
	Iteration int
	TaskID    string
	Title     string
	Evidence  string // as reached
}

// ProgressFile returns the progress file that other tools keep beside a plan of this format, or ""
// if there is none: progress.md, progress.txt, claude-progress.txt or .ralphy/progress.txt. It
// creates no file.
func ProgressFile(planPath, format string) string {
	beside := map[string][]string{
		Checklist:   {"progress.md", "progress.txt"},
		PRD:         {"progress.md", "progress.txt"},
		PRDJSON:     {"progress.txt", "progress.md"},
		FeatureList: {"claude-progress.txt", "progress.txt"},
		Ralphy:      {filepath.Join(".ralphy", "progress.txt"), "progress.txt"},
	}
	for _, name := range beside[format] {
		path := filepath.Join(filepath.Dir(planPath), name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// ProgressEntry returns the text to append to a progress file, in the style of its tool. It begins
// with a line break in case the last line has none.
func ProgressEntry(format string, e Entry) []byte {
	var b strings.Builder
	id, title := plan.OneLine(e.TaskID, maxTitleChars), plan.OneLine(e.Title, maxTitleChars)
	item := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, plan.OneLine(value, 0))
		}
	}
	switch format {
	case FeatureList:
		fmt.Fprintf(&b, "\n%s iteration %d\n", e.Time.Format("2006-01-02 15:04"), e.Iteration)
		fmt.Fprintf(&b, "Feature %s now passes: %s\n", id, title)
		item("Evidence", e.Evidence)
	case PRDJSON, Ralphy:
		fmt.Fprintf(&b, "\n## %s - %s\n", e.Time.Format("2006-01-02 15:04"), id)
		fmt.Fprintf(&b, "- %s\n", title)
		item("Evidence", e.Evidence)
	default:
		fmt.Fprintf(&b, "\n## Iteration %d - %s\n", e.Iteration, id)
		// ralph-cli's loop writes these first three, and its tools look for the hash.
		// foreign/planloop writes the hash if the entry is not part of the commit.
		item("Status", "SUCCESS")
		item("Commit", "N/A")
		item("Time", e.Time.Format(time.RFC3339))
		item("Story", title)
		item("Evidence", e.Evidence)
	}
	if format == PRDJSON || format == Ralphy {
		b.WriteString("---\n")
	}
	return []byte(b.String())
}
