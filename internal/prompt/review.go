package prompt

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// ReviewData is what a reviewer is told. It holds nothing that the agent says of
// its work, but for an answer that is the work.
type ReviewData struct {
	Goal    string      // as the user wrote it
	Tasks   []plan.Task // that are claimed; none where the goal is the task
	Rubric  string
	Answer  string    // of a goal whose result is text; then nothing changed
	Changes []string  // "M main.go", as in Data
	Diff    string    // bounded by the caller
	Cut     bool      // it is not the whole
	Gates   []Receipt // what the commands said
	Labels  []string  // what else is known: "tests changed: a_test.go"
	Tests   []string  // changed tests that it may accept
	Again   string    // why another reviewer's answer did not count, "" for the first
}

// Receipt is a gate's result and the id by which it can be pointed at.
type Receipt struct {
	ID string
	gate.Result
}

// Bounds of a review's prompt, in bytes.
const (
	MaxDiff     = 96 << 10
	MaxReview   = 160 << 10
	maxRubric   = 8 << 10
	maxAnswer   = 16 << 10
	maxFiles    = 300
	maxReceipts = 50
)

// Review writes what a reviewer is told. Its template is Pawl's own: who is
// reviewed must not write it.
func Review(d ReviewData) (string, error) {
	s, err := New(nil)
	if err != nil {
		return "", err
	}
	view := struct {
		ReviewData
		Tasks    []Data
		Receipts []string
	}{ReviewData: d}
	view.Goal, view.Rubric, view.Answer = middle(clean(d.Goal), boundsOf(Data{}).goal), middle(clean(d.Rubric), maxRubric), middle(clean(d.Answer), maxAnswer)
	view.Diff, view.Changes, view.Labels = middle(clean(d.Diff), MaxDiff+1<<10), lines(d.Changes, maxFiles), lines(d.Labels, 20)
	view.Tests = lines(d.Tests, maxFiles)
	for _, t := range d.Tasks {
		view.Tasks = append(view.Tasks, bounded(Data{Task: t}))
	}
	for _, r := range d.Gates[:min(len(d.Gates), maxReceipts)] {
		view.Receipts = append(view.Receipts, receiptLine(r))
	}
	var b strings.Builder
	if err := s.t.ExecuteTemplate(&b, "review.md", view); err != nil {
		return "", fmt.Errorf("render the prompt of a review: %w", err)
	}
	return middle(tidy(b.String()), MaxReview), nil
}

// receiptLine is a gate's result in a line.
func receiptLine(r Receipt) string {
	s := fmt.Sprintf("%s  %s, exit code %d", r.ID, r.Status, r.ExitCode)
	if r.Passed+r.Failed > 0 {
		s += fmt.Sprintf(", %d tests pass, %d fail", r.Passed, r.Failed)
	}
	s += ": " + line(gateLine(gate.Gate{Name: r.Gate, Command: r.Command}))
	if len(r.Failing) > 0 {
		s += "; failing: " + line(strings.Join(r.Failing[:min(len(r.Failing), 10)], ", "))
	}
	return s
}
