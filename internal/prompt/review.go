package prompt

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// ReviewData is the data of a reviewer's prompt. It contains nothing that the agent says about its
// work, except an answer that is the work.
type ReviewData struct {
	Goal    string      // as the user wrote it
	Tasks   []plan.Task // claimed tasks; none if the goal is the task
	Rubric  string
	Answer  string    // the result of a goal whose result is text; then no files changed
	Changes []string  // "M main.go", as in Data
	Diff    string    // shortened by the caller
	Cut     bool      // the diff was shortened
	Gates   []Receipt // results of the gates
	Labels  []string  // further facts: "tests changed: a_test.go"
	Tests   []string  // changed tests that the reviewer may accept
	Again   string    // why another reviewer's answer did not count, "" for the first
}

// Receipt is a gate's result with an id for references.
type Receipt struct {
	ID string
	gate.Result
}

// Limits of a review's prompt, in bytes.
const (
	MaxDiff     = 96 << 10
	MaxReview   = 160 << 10
	maxRubric   = 8 << 10
	maxAnswer   = 16 << 10
	maxFiles    = 300
	maxReceipts = 50
)

// Review returns the prompt of a reviewer. Its template is fixed: the reviewed agent must not write
// it.
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
	view.Goal, view.Rubric, view.Answer = cutMiddle(clean(d.Goal), boundsOf(Data{}).goal), cutMiddle(clean(d.Rubric), maxRubric), cutMiddle(clean(d.Answer), maxAnswer)
	view.Diff, view.Changes, view.Labels = cutMiddle(clean(d.Diff), MaxDiff+1<<10), lastLines(d.Changes, maxFiles), lastLines(d.Labels, 20)
	view.Tests = lastLines(d.Tests, maxFiles)
	for _, t := range d.Tasks {
		view.Tasks = append(view.Tasks, withinBounds(Data{Task: t}))
	}
	for _, r := range d.Gates[:min(len(d.Gates), maxReceipts)] {
		view.Receipts = append(view.Receipts, receiptLine(r))
	}
	var b strings.Builder
	if err := s.t.ExecuteTemplate(&b, "review.md", view); err != nil {
		return "", fmt.Errorf("render the prompt of a review: %w", err)
	}
	return cutMiddle(collapseBlankLines(b.String()), MaxReview), nil
}

// receiptLine returns a gate's result in one line.
func receiptLine(r Receipt) string {
	s := fmt.Sprintf("%s  %s, exit code %d", r.ID, r.Status, r.ExitCode)
	if r.Passed+r.Failed > 0 {
		s += fmt.Sprintf(", %d tests pass, %d fail", r.Passed, r.Failed)
	}
	s += ": " + oneLine(gateLine(gate.Gate{Name: r.Gate, Command: r.Command}))
	if len(r.Failing) > 0 {
		s += "; failing: " + oneLine(strings.Join(r.Failing[:min(len(r.Failing), 10)], ", "))
	}
	return s
}
