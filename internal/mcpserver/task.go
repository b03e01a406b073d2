package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
)

// lineBuilder builds an answer line by line.
type lineBuilder struct{ strings.Builder }

func (p *lineBuilder) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// nextTask returns the agent's current task.
func (s *Server) nextTask(context.Context) (string, error) {
	at, err := s.findBound()
	if errors.Is(err, errNoLoop) {
		return noLoopText, nil
	}
	if err != nil {
		return "", err
	}
	st := at.Memory.State
	if st.Phase == loop.Ended {
		return fmt.Sprintf("No task is left: loop %s has ended (%s).", at.ID, st.Outcome), nil
	}
	p := &lineBuilder{}
	if c := at.Memory.ToolClaim.Claim; c != nil && at.Memory.ToolClaim.Turn == at.Memory.TurnsBegun {
		p.line("You have already reported on this task. %s\n", endTurn)
	}
	t, ok := st.Task(st.Current)
	if !ok {
		return "There is no current task yet: Pawl is preparing it.", nil
	}
	at.describe(p, t)
	if len(at.Spec.Gates) > 0 {
		p.line("\nGates (verify runs them):")
		for _, g := range at.Spec.Gates {
			if g.Kind == gate.ByReview {
				p.line("- another agent, which reviews the work last: %s", plan.OneLine(g.Rubric, 200))
				continue
			}
			p.line("- %s", plan.OneLine(g.Command, 200))
		}
	}
	if f := st.Failing; f != nil {
		p.line("\nWhat failed last: %s", cutMiddle(f.Reason, 500))
		if len(f.Tests) > 0 {
			p.line("failing: %s", firstNames(f.Tests))
		}
	}
	return p.String(), nil
}

// describe writes a task as in the plan.
func (at *boundLoop) describe(p *lineBuilder, t loop.Task) {
	if t.ID == loop.GoalTask {
		p.line("The goal itself is the task (id %s):\n%s", t.ID, cutMiddle(at.Spec.Prompt, maxInputBytes))
		return
	}
	p.line("Task %s: %s", t.ID, t.Title)
	if at.Spec.Plan != "" {
		path := at.PlanPath()
		if f, err := planfile.Load(path); err == nil { // the title will do
			if in, ok := f.Plan().Task(t.ID); ok {
				at.detail(p, planfile.WithRelated(path, f.Plan(), in))
			}
		}
	}
	p.line("Evidence wanted: %s. Open after it: %d.", cmp.Or(t.Wanted, gate.Proven), max(0, at.Memory.State.Tasks.Count(loop.Open)-1))
}

func (at *boundLoop) detail(p *lineBuilder, t plan.Task) {
	if t.Detail != "" {
		p.line("%s", cutMiddle(t.Detail, maxInputBytes))
	}
	for i, c := range t.Criteria {
		if i == maxListedTasks {
			p.line("- and %d more in %s", len(t.Criteria)-i, at.Spec.Plan)
			break
		}
		p.line("- %s", plan.OneLine(c, 200))
	}
	if len(t.Context) > 0 {
		p.line("Beside it in the plan:\n%s", cutMiddle(strings.Join(t.Context, "\n\n"), maxInputBytes))
	}
}

// status returns the state of the loop.
func (s *Server) status(context.Context) (string, error) {
	at, err := s.findBound()
	if errors.Is(err, errNoLoop) {
		return noLoopText, nil
	}
	if err != nil {
		return "", err
	}
	st, p := at.Memory.State, &lineBuilder{}
	p.line("loop %s: %s", at.ID, plan.OneLine(at.Spec.Goal(), 200))
	if st.Phase == loop.Ended {
		p.line("ended: %s. %s", st.Outcome, plan.OneLine(st.Reason, 300))
		return p.String(), nil
	}
	if t, ok := st.Task(st.Current); ok {
		p.line("task %s: %s (%d done, %d open)", t.ID, t.Title, at.Memory.State.Tasks.Count(loop.Done), at.Memory.State.Tasks.Count(loop.Open))
	}
	p.line("iteration %d%s", st.Iteration, limitsLeft(st))
	for _, r := range at.Memory.Results {
		p.line("gate %s: %s when Pawl last ran it", plan.OneLine(r.Gate, 100), r.Status)
	}
	if st.Violations > 0 {
		p.line("violations: %s (changed protected files); the last ends the loop", loop.ViolationRatio(st.Violations))
	}
	if c := at.Memory.ToolClaim; c.Turn == at.Memory.TurnsBegun && c.Claim != nil {
		p.line("you have reported on this task; Pawl checks it when your turn ends")
	}
	if st.Merge != nil {
		p.line("a merge is requested: %s", plan.OneLine(st.Merge.Summary, 200))
	}
	return p.String(), nil
}

// limitsLeft returns what remains of the limits.
func limitsLeft(st loop.State) string {
	l, words := st.Policy.Limits, ""
	if l.Iterations > 0 {
		words += fmt.Sprintf(" of %d", l.Iterations)
	}
	if l.Duration > 0 {
		st.Now = time.Now()
		words += ", time left: " + figure.Duration(max(0, l.Duration-st.Elapsed()))
	}
	if l.CostUSD > 0 {
		words += ", money left before this turn: " + figure.Money(max(0, l.CostUSD-st.Usage.CostUSD))
	}
	if l.Tokens > 0 {
		words += ", tokens left before this turn: " + figure.Tokens(max(0, l.Tokens-st.Usage.Tokens()))
	}
	return words
}

// readMessages returns the user's messages since the turn started. It does not remove them: if the
// turn dies, the next prompt contains them.
func (s *Server) readMessages(context.Context) (string, error) {
	at, err := s.findBound()
	if err != nil {
		return "", err
	}
	st := at.Memory.State
	var notes []string
	for _, m := range st.Undelivered() {
		notes = append(notes, m.Text)
	}
	waiting, err := at.Peek()
	if err != nil {
		return "", err
	}
	for _, m := range waiting {
		var body record.Message
		if json.Unmarshal(m.Body, &body) == nil && body.Kind == record.MessageNote {
			notes = append(notes, body.Text)
		}
	}
	if len(notes) == 0 {
		return "Nobody has said anything since this turn started.", nil
	}
	p := &lineBuilder{}
	for _, n := range notes {
		p.line("- %s", cutMiddle(strings.TrimSpace(n), maxAnswerBytes/max(2, len(notes))))
	}
	p.line("\nThis comes with your next prompt too.")
	return p.String(), nil
}
