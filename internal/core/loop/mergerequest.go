package loop

import "time"

// Merge is the agent's request that the user merge its work. The agent itself neither pushes nor
// merges.
type Merge struct {
	Summary   string    `json:"summary"` // what to merge and why, in the agent's words
	Iteration int       `json:"iteration"`
	At        time.Time `json:"at"`
}

// mergeRequested keeps the latest merge request. It decides nothing.
func (m *machine) mergeRequested(summary string) {
	m.s.Merge = &Merge{Summary: summary, Iteration: m.s.Iteration, At: m.s.Now}
}

// rememberPartial keeps the agent's partial progress for later attempts.
func (m *machine) rememberPartial(what string) {
	if what != "" {
		m.remember("done in part: " + what)
	}
}
