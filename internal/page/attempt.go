package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/record"
)

const (
	maxCalls       = 100 // tool calls of one page
	maxLatestCalls = 10  // tool calls of the newest attempt on its loop's page
)

// attemptPage is one attempt with its tool calls.
type attemptPage struct {
	layout
	ID      string
	Attempt attemptView
	Calls   callsView
}

// callsView is a part of an attempt's tool calls.
type callsView struct {
	Rows           []callView
	Total, Failed  int
	Dropped        int // calls that were not stored
	From           int // number of the first row, from 1
	Earlier, Later int // From of the pages before and after this one; 0: there is none
}

type callView struct {
	Number                      int
	At, Tool, Detail, Took, Out string
	Status                      record.CallStatus
}

func (s *server) serveAttempt(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || n < 1 {
		s.renderProblem(w, http.StatusNotFound, "there is no such attempt")
		return
	}
	d, err := s.loadDetail(r, n)
	if err != nil {
		s.renderError(w, err)
		return
	}
	i := slices.IndexFunc(d.Attempts, func(a Attempt) bool { return a.Number == n })
	if i < 0 {
		s.renderProblem(w, http.StatusNotFound, "there is no such attempt")
		return
	}
	calls, dropped, err := s.Source.Calls(r.Context(), d.Summary.ID, n)
	if err != nil {
		s.renderError(w, err)
		return
	}
	v := newAttemptView(d, i)
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil {
		from = len(calls) - maxCalls + 1 // the newest ones
	}
	title := fmt.Sprintf("Iteration %d · %s", n, v.Task)
	s.render(w, http.StatusOK, "attempt", attemptPage{
		layout{Title: title, Loop: d.Summary.ID, Live: true}, d.Summary.ID, v, newCallsView(calls, dropped, from, maxCalls),
	})
}

// newAttemptView returns one of a loop's attempts.
func newAttemptView(d Detail, i int) attemptView {
	v := attemptView{Attempt: d.Attempts[i], Open: i == len(d.Attempts)-1}
	for _, it := range d.Report.Iterations {
		if it.Number == v.Number && it.Decision != "" {
			v.Result = it.Decision
		}
	}
	return v
}

// newCallsView returns at most so many calls, from call number from on.
func newCallsView(calls []record.Call, dropped, from, most int) callsView {
	from = max(1, min(from, len(calls)))
	v := callsView{Total: len(calls) + dropped, Dropped: dropped, From: from}
	for i, c := range calls {
		if c.Status == record.CallFailed {
			v.Failed++
		}
		if n := i + 1; n >= from && n < from+most {
			v.Rows = append(v.Rows, callView{n, clock(c.At), c.Tool, cmp.Or(c.Detail, c.Tool), callDuration(c.Took), c.Output, c.Status})
		}
	}
	if from > 1 {
		v.Earlier = max(1, from-most)
	}
	if from+most <= len(calls) {
		v.Later = from + most
	}
	return v
}

func clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.TimeOnly)
}

// callDuration returns how long a call ran, "" below a second.
func callDuration(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return figure.Duration(d)
}
