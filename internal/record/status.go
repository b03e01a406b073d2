package record

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Status is a loop in detail (`pawl status --json`).
type Status struct {
	Summary
	Doing       string          `json:"doing,omitempty"`     // what is being done now
	WorkSeconds float64         `json:"work_seconds"`        // without waits that are not counted
	Plan        []TaskStatus    `json:"plan"`                // the tasks in the plan's order; one, "goal", without a plan
	Messages    []loop.Message  `json:"messages,omitempty"`  // to the agent: those that wait, and those that it read last
	Questions   []loop.Question `json:"questions,omitempty"` // all that wait for an answer, one a task
	Remaining   *Remaining      `json:"left,omitempty"`      // absent where nothing is left, or no task has ended yet
}

// TaskStatus is the state of a task.
type TaskStatus struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Status      loop.TaskStatus `json:"status"`
	Current     bool            `json:"current,omitempty"`  // it is worked on
	LeftOut     bool            `json:"left_out,omitempty"` // skipped by a user
	DoneEarlier bool            `json:"earlier,omitempty"`  // was done before this loop
	Evidence    gate.Evidence   `json:"evidence,omitempty"`
	Proof       []string        `json:"proof,omitempty"` // tests or gates that failed before and pass now
	Why         string          `json:"why,omitempty"`
	Attempts    int             `json:"attempts"`
	Seconds     float64         `json:"seconds,omitempty"` // of work, once it has ended
	CostUSD     float64         `json:"cost_usd"`
	Commit      string          `json:"commit,omitempty"`
	NeedsYou    bool            `json:"needs_you,omitempty"` // it ended without its work
}

// Remaining estimates what the open tasks will take: their number times the median of this
// loop's finished tasks, minus what the current task has taken so far.
type Remaining struct {
	Tasks         int     `json:"tasks"`
	Seconds       float64 `json:"seconds"`
	CostUSD       float64 `json:"cost_usd"`
	SampleSize    int     `json:"basis"` // tasks that the medians are of
	MedianSeconds float64 `json:"median_seconds"`
	MedianUSD     float64 `json:"median_usd"`
}

// NewStatus returns a summary with tasks, messages and the estimate added.
func NewStatus(sum Summary, s loop.State, doing string) Status {
	status := Status{Summary: sum, Doing: doing, WorkSeconds: seconds(s.Elapsed()), Plan: []TaskStatus{}}
	for _, t := range s.Tasks {
		status.Plan = append(status.Plan, TaskStatus{
			ID: t.ID, Title: t.Title, Status: t.Status, Current: t.ID == s.Current && t.Status == loop.Open && s.Outcome == "", DoneEarlier: t.DoneEarlier, LeftOut: t.LeftOut,
			Evidence: t.Evidence, Proof: t.Flipped, Why: t.Why, Attempts: t.Turns, Seconds: seconds(t.Took), CostUSD: t.CostUSD, Commit: t.Commit,
			NeedsYou: t.NeedsUser(),
		})
	}
	status.Questions = s.Unanswered()
	status.Messages = slices.Concat(s.ReadMessages, s.Messages)
	if e, ok := s.Estimate(); ok {
		status.Remaining = &Remaining{
			Tasks: e.Open, Seconds: seconds(e.Left), CostUSD: e.LeftCost,
			SampleSize: e.Basis, MedianSeconds: seconds(e.Median), MedianUSD: e.MedianCost,
		}
	}
	return status
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
