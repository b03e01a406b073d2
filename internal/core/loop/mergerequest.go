package loop

import "time"

// Merge is the agent's wish that its work be merged: for the user to approve, the
// agent itself neither pushes nor merges.
type Merge struct {
	Summary   string    `json:"summary"` // what is to be merged and why, as the agent says
	Iteration int       `json:"iteration"`
	At        time.Time `json:"at"`
}

// mergeAsked keeps the wish, the last one where there are several. It decides
// nothing: the loop goes on, and its end says what the work is worth.
func (m *machine) mergeAsked(summary string) {
	m.s.Merge = &Merge{Summary: summary, Iteration: m.s.Iteration, At: m.s.Now}
}

// partly keeps what the agent says it has done of a task so far, for later tries.
func (m *machine) rememberPartial(what string) {
	if what != "" {
		m.remember("done in part: " + what)
	}
}
