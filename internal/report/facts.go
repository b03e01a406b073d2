package report

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
)

// Facts is a report for programs (`pawl report --json`). The figures of the loop and its tasks are
// those of `pawl status --json`.
type Facts struct {
	record.Status
	Headline        string         `json:"headline"`     // the outcome, or the current state
	AwaySeconds     float64        `json:"away_seconds"` // pauses, and waits for usage limits and for the user
	Waits           []Wait         `json:"waits"`        // for usage limits
	Iterations      []Iteration    `json:"iterations"`
	Refusals        int            `json:"refusals"` // number of refused claims
	Restores        int            `json:"restores"`
	Violations      int            `json:"violations"`                 // number of changes of protected files
	Denied          map[string]int `json:"denied,omitempty"`           // number of tool calls that the guard denied, by rule
	NotDelivered    []string       `json:"not_delivered,omitempty"`    // the user's messages that were not delivered
	EditsNotMade    []string       `json:"edits_not_made,omitempty"`   // edits of the plan that were pending at the end
	UntoldIssues    []string       `json:"untold_issues,omitempty"`    // issues that do not have the loop's end yet
	NotSent         string         `json:"not_sent,omitempty"`         // which notifications failed: how many, and the last with its reason
	Hosts           []string       `json:"hosts,omitempty"`            // hosts that the sandbox blocked
	MutationResults []string       `json:"mutation_results,omitempty"` // for each commit, the functions that its tests prove
	Signs           []string       `json:"look_at,omitempty"`          // what a reviewer should read first
}

// Iteration is one turn of the loop and its result. A turn that was cut off and started again has an
// entry for each time.
type Iteration struct {
	Number   int       `json:"number"`
	Task     string    `json:"task"`
	At       time.Time `json:"at"`
	Seconds  float64   `json:"seconds"` // duration
	CostUSD  float64   `json:"cost_usd"`
	Tokens   int64     `json:"tokens"`
	Context  int       `json:"context_percent"` // -1 = unknown
	Failing  int       `json:"failing"`         // number of tests and gates that failed after it, -1 = they did not run
	Decision string    `json:"came_to"`         // the decision in one line
}

// Iterations returns the turns in a loop's events, in order. If a turn finished its task, its result
// is the task's current one: it may have been proven or accepted since.
func Iterations(events iter.Seq[loop.Event]) []Iteration {
	all := []Iteration{}
	var s loop.State
	open, ended := false, map[int]bool{}
	for e := range events {
		before := s
		var acts []loop.Action
		s, acts = loop.Step(s, e)
		if last := len(all) - 1; last >= 0 {
			switch p := e.Payload.(type) {
			case loop.TurnEnded, loop.AgentFailed:
				if open && s.Turns > before.Turns {
					all[last].recordEnd(before, s, e)
					open = false
				}
			case loop.GatesFinished:
				if p.Gates.Purpose == loop.ForClaim || p.Gates.Purpose == loop.ForTurn {
					all[last].Failing = len(p.Gates.Red())
				}
			}
			if s.Refusals > before.Refusals || len(s.History) > 0 && (len(before.History) == 0 || s.History[len(s.History)-1] != before.History[len(before.History)-1]) {
				all[last].Decision = plan.OneLine(s.History[len(s.History)-1].What, 200)
				ended[last] = slices.ContainsFunc(s.ChangedTasks(before), func(t loop.Task) bool { return t.ID == all[last].Task && t.Status == loop.Done })
			}
		}
		if turn, begins := loop.FindAction[loop.BeginTurn](acts); begins {
			all = append(all, Iteration{Number: turn.Iteration, Task: turn.Task, At: e.At, Context: -1, Failing: -1})
			open = true
		}
	}
	for i := range ended {
		if t, ok := s.Task(all[i].Task); ok && ended[i] && t.Status == loop.Done {
			all[i].Decision = "done: " + narrate.Result(t)
		}
	}
	return all
}

// recordEnd records the duration and usage of a turn.
func (i *Iteration) recordEnd(before, after loop.State, e loop.Event) {
	i.Seconds = e.At.Sub(i.At).Round(time.Millisecond).Seconds()
	i.CostUSD = math.Round(1e6*(after.Usage.CostUSD-before.Usage.CostUSD)) / 1e6
	i.Tokens = after.Usage.Tokens() - before.Usage.Tokens()
	if t, ok := e.Turn(); ok {
		i.Context = t.ContextPercent
	}
}

// Facts returns the report for programs. status is the loop's record.NewStatus.
func (l Loop) Facts(status record.Status) Facts {
	p := &page{Loop: l}
	f := Facts{
		Status: status, Headline: plan.OneLine(p.endHeadline(), 0), AwaySeconds: l.State.TimeAway(l.Now).Round(time.Millisecond).Seconds(), Waits: append([]Wait{}, l.Waits...),
		Iterations: append([]Iteration{}, l.Iterations...), Refusals: l.State.Refusals, Restores: l.State.Restores, Violations: l.State.Violations,
		Denied: l.Denied, Hosts: l.BlockedHosts, MutationResults: slices.Clone(l.MutationResults), Signs: p.lookAt(),
		UntoldIssues: l.UntoldIssues, NotSent: l.NotSent, NotDelivered: narrate.NotDelivered(l.State), EditsNotMade: narrate.EditsNotMade(l.State),
	}
	return f
}

// proofText says what shows that a task is done, or why it is not.
func (p *page) proofText(t loop.Task, meaning string) string {
	if t.Status == loop.Done && len(t.Flipped) > 0 && !t.DoneEarlier && t.Evidence == gate.Proven {
		return "failed before, passes now: " + joinNames(t.Flipped, 5)
	}
	return p.taskReason(t, meaning)
}
