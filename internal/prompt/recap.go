package prompt

import (
	"fmt"
	"strings"
)

// Past is one past iteration, as a recap needs it.
type Past struct {
	Iteration int      // from 1
	Task      string   // id of its task; "" if there is no plan
	Outcome   string   // verified, gate failed, refused, restored, skipped …
	Summary   string   // what was tried, the agent's own short words; one line is kept
	Failing   []string // tests that failed then
	Commit    string   // short hash, if it was kept
}

// recapped is how many iterations are told one by one.
const recapped = 8

// Recap tells the newest iterations one by one and counts those before, for
// Data.Recap. Each item is one bounded line.
func Recap(history []Past) []string {
	var out []string
	old := history[:max(0, len(history)-recapped)]
	if len(old) > 0 {
		kept := 0
		for _, p := range old {
			if p.Commit != "" {
				kept++
			}
		}
		out = append(out, fmt.Sprintf("%d earlier iterations, %d of them kept as commits", len(old), kept))
	}
	for _, p := range history[len(old):] {
		out = append(out, line(p.String()))
	}
	return out
}

// String is one line: what was tried, and what came of it.
func (p Past) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "iteration %d", p.Iteration)
	if p.Task != "" {
		fmt.Fprintf(&b, ", %s", head(line(p.Task), 40))
	}
	fmt.Fprintf(&b, ": %s", line(p.Outcome))
	if p.Commit != "" {
		fmt.Fprintf(&b, " (commit %s)", line(p.Commit))
	}
	if n := len(p.Failing); n > 0 {
		fmt.Fprintf(&b, "; failing: %s", head(line(strings.Join(p.Failing[:min(n, 3)], ", ")), 100))
		if n > 3 {
			fmt.Fprintf(&b, " and %d more", n-3)
		}
	}
	if p.Summary != "" {
		fmt.Fprintf(&b, "; %s", line(p.Summary))
	}
	return b.String()
}
