package page

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
)

const (
	token   = "the-token-of-this-test"
	hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`
)

var now = time.Date(2026, 3, 1, 22, 15, 4, 0, time.UTC)

// double is a Source with fixed loops. It keeps the commands.
type double struct {
	mu       sync.Mutex
	loops    []record.Summary
	detail   Detail
	stamped  string
	says     string
	err      error
	reads    int
	commands []string
}

func (d *double) Loops() ([]record.Summary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	return slices.Clone(d.loops), nil
}

func (d *double) Loop(_ context.Context, id string, _ int) (Detail, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id != d.detail.Summary.ID {
		return Detail{}, fs.ErrNotExist
	}
	detail := d.detail
	detail.Report.State.Tasks = slices.Clone(detail.Report.State.Tasks)
	return detail, nil
}

func (d *double) Calls(_ context.Context, _ string, iteration int) ([]record.Call, int, error) {
	if iteration == 1 {
		return nil, 0, nil
	}
	calls := []record.Call{
		{At: now, Took: 90 * time.Second, Tool: "Bash", Detail: "$ " + hostile, Status: record.CallFailed, Output: hostile},
		{At: now, Tool: hostile, Status: record.CallRunning},
	}
	for range 2 * maxCalls {
		calls = append([]record.Call{{At: now, Tool: "Read", Detail: "read main.go", Status: record.CallSucceeded}}, calls...)
	}
	return calls, 7, nil
}

func (d *double) Diff(_ context.Context, _, task string) (string, error) {
	if task != "US-1" {
		return "", fs.ErrNotExist
	}
	return "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+" + hostile + "\n", nil
}

func (d *double) Stamp(string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stamped, nil
}

func (d *double) change(stamp string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stamped = stamp
}

func (d *double) Command(_ context.Context, args ...string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commands = append(d.commands, strings.Join(args, " "))
	return d.says, d.err
}

func summaries() []record.Summary {
	of := func(id, state string, outcome loop.Outcome, done, open int, age time.Duration, goal string) record.Summary {
		s := record.Summary{ID: id, State: state, Outcome: outcome, Goal: goal, CostUSD: 1.25, StartedAt: now.Add(-age), CreatedAt: now.Add(-age), Root: "/home/ada/shop"}
		s.Tasks = record.TaskCount{Done: done, Open: open}
		if outcome != "" {
			s.EndedAt = now.Add(-age)
		}
		return s
	}
	asks := of("lost-moth-33cc", "waiting", "", 1, 2, 40*time.Minute, "make the flaky upload test stable")
	asks.Question = &loop.Question{Text: "UTC or local time?", Task: "US-2"}
	return []record.Summary{
		of("brisk-otter-7f3a", "running", "", 2, 8, 5*time.Minute, "plans/shop.md"),
		of("quiet-lynx-22bb", "ended", loop.Verified, 4, 0, 26*time.Hour, hostile),
		asks,
	}
}

// detailed is a loop that asks, and whose texts would all like to be markup.
func detailed() Detail {
	st := loop.State{Phase: loop.Waiting, Policy: loop.Policy{Limits: loop.Limits{Iterations: 25}}, Tasks: []loop.Task{
		{ID: "US-1", Title: "a log-out button", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"TestLogout"}}, Turns: 1, Took: 90 * time.Second, CostUSD: .5, Commit: "64bb3f19aa", Receipt: "r1"},
		{ID: "US-2", Title: hostile, Status: loop.Open, Turns: 1, Took: time.Minute, CostUSD: .75},
		{ID: "US-3", Title: "describe both", Status: loop.Skipped, Why: hostile, Turns: 3},
	}, Counts: loop.Counts{Iteration: 2, Turns: 2, Usage: loop.Usage{Input: 120_000, CostUSD: 1.25}}, Work: loop.Work{Current: "US-2", Failing: &loop.Failing{Reason: hostile, Tests: []string{hostile}, FirstError: hostile}}, Clock: loop.Clock{StartedAt: now.Add(-40 * time.Minute), Now: now}, Conversation: loop.Conversation{Questions: []loop.Question{{Text: hostile, Choices: []string{"UTC", hostile}, Proposed: "UTC", Task: "US-2"}}, Messages: []loop.Message{{ID: "m1", Text: hostile, At: now}}}}
	sum := summaries()[2]
	sum.Question = &st.Questions[0]
	return Detail{
		Summary: sum, Headline: "waiting for your answer: " + hostile,
		Report: report.Loop{
			ID: sum.ID, Goal: hostile, Status: "waiting", Branch: "pawl/" + hostile, State: st, Now: now, Zone: time.UTC,
			Gates: []gate.Result{{Gate: hostile, Status: gate.Fail, Reason: hostile}}, Diffs: map[string]string{"US-1": "+" + hostile}, Signs: map[string][]string{"US-1": {hostile}},
			Iterations: []report.Iteration{
				{Number: 1, Task: "US-1", At: now.Add(-30 * time.Minute), Seconds: 90, CostUSD: .5, Tokens: 50_000, Context: 20, Failing: 1, Decision: "done: proven"},
				{Number: 2, Task: "US-2", At: now.Add(-20 * time.Minute), Seconds: 60, CostUSD: .75, Tokens: 70_000, Context: 35, Failing: 2, Decision: hostile},
			},
		},
		Attempts: []Attempt{
			{Number: 1, Task: "task US-1 (a log-out button)", Steps: []Step{{At: "21:45:00", Event: "gates on the claim: pass", Decisions: []string{"commit US-1 as proven"}, Reasons: []string{"evidence: found proven"}}}},
			{Number: 2, Task: hostile, Steps: []Step{{At: "21:55:00", Event: hostile, Decisions: []string{hostile}, Reasons: []string{hostile}}}, Gates: []Gate{{Name: hostile, Status: "fail", Took: "2s", Output: hostile}}},
		},
		History: []string{"21:55:00  " + hostile},
	}
}

// world is the pages over a double.
func world(t *testing.T, change ...func(*Options)) (*double, http.Handler) {
	t.Helper()
	d := &double{loops: summaries(), detail: detailed(), stamped: "1", says: "said"}
	o := Options{Source: d, Token: token, Now: func() time.Time { return now }}
	for _, c := range change {
		c(&o)
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d, h
}

// request asks as a browser on the same page does; header lines are "Name: value", one
// with no value takes a header away.
func request(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:7295"
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://127.0.0.1:7295")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(tokenHeader, token)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func body(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	data, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func many(n int) []record.Summary {
	var out []record.Summary
	for i := range n {
		s := summaries()[1]
		s.ID = fmt.Sprintf("loop-%04d", i)
		out = append(out, s)
	}
	return out
}
