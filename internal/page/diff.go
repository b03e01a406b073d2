package page

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/report"
)

const (
	maxDiffLines   = 5000 // of one page
	maxQuoteLength = 200  // runes of a line that a comment quotes
)

// diffPage shows the changes of a task. The commented line is between Before and After.
type diffPage struct {
	layout
	ID, Task      string
	Before, After []diffLine
	Comment       *commentView
	Messages      []string
	Ended         bool
}

// diffLine is a line with its index in the diff.
type diffLine struct {
	report.DiffLine
	Index int
}

// commentView is the form for a comment on a line.
type commentView struct {
	Index        int
	Place, Quote string
}

func (s *server) serveDiff(w http.ResponseWriter, r *http.Request) {
	d, err := s.loadDetail(r, 0)
	if err != nil {
		s.renderError(w, err)
		return
	}
	id, task := d.Summary.ID, r.PathValue("task")
	lines, err := s.diffLines(r.Context(), id, task)
	if err != nil {
		s.renderError(w, err)
		return
	}
	p := diffPage{
		layout: layout{Title: "Changes of task " + task, Loop: id, Live: true}, ID: id, Task: task, Before: lines,
		Messages: narrate.Messages(d.Report.State.Conversation), Ended: d.Summary.State == "ended",
	}
	if at, err := strconv.Atoi(r.URL.Query().Get("at")); err == nil && at >= 0 && at < len(lines) && lines[at].Number > 0 {
		p.Before, p.After = lines[:at+1], lines[at+1:]
		p.Comment = &commentView{at, place(lines[at].DiffLine), quote(lines[at].DiffLine)}
	}
	s.render(w, http.StatusOK, "diff", p)
}

func (s *server) diffLines(ctx context.Context, id, task string) ([]diffLine, error) {
	text, err := s.Source.Diff(ctx, id, task)
	if err != nil {
		return nil, fmt.Errorf("read the diff: %w", err)
	}
	var lines []diffLine
	for i, l := range report.DiffLines(text, maxDiffLines) {
		lines = append(lines, diffLine{l, i})
	}
	return lines, nil
}

// place returns the location of a line: "main.go:12".
func place(l report.DiffLine) string {
	where := fmt.Sprintf("%s:%d", plan.OneLine(l.File, 0), l.Number)
	if l.Kind == "del" {
		where += " (removed)"
	}
	return where
}

func quote(l report.DiffLine) string { return plan.OneLine(l.Text, maxQuoteLength) }

// comment returns the message for a comment on a line of a diff. It returns false if the diff does
// not have that line any more.
func (s *server) comment(ctx context.Context, id string, form url.Values) (string, bool) {
	lines, err := s.diffLines(ctx, id, form.Get("task"))
	at, bad := strconv.Atoi(form.Get("at"))
	if err != nil || bad != nil || at < 0 || at >= len(lines) || lines[at].Number == 0 || quote(lines[at].DiffLine) != form.Get("quote") {
		return "", false
	}
	l := lines[at].DiffLine
	return fmt.Sprintf("%s: %s\nThe line: %s", place(l), strings.TrimSpace(form.Get("text")), quote(l)), true
}
