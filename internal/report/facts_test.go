package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
)

// played returns the events of a loop over two tasks: a refused claim, a failed turn, and both done.
func played() (events []loop.Event) {
	at := evening
	add := func(e loop.Event) {
		at = at.Add(time.Minute)
		e.At = at
		events = append(events, e)
	}
	turn := func(cost float64, claims bool) loop.Event {
		t := &loop.Turn{ToolCalls: 1, Usage: loop.Usage{Input: 1000, CostUSD: cost}, ContextPercent: 12}
		if claims {
			t.Claim = &loop.Claim{}
		}
		return loop.Event{Payload: loop.TurnEnded{Turn: *t}}
	}
	gates := func(p loop.Purpose, s gate.Status, e gate.Evidence) loop.Event {
		g := &loop.Gates{Purpose: p, Status: s, Green: s == gate.Pass, Tree: "t", Reason: "TestX <b>fails</b>", WorkResult: loop.WorkResult{Evidence: e}, Failures: loop.Failures{Fingerprint: "f"}}
		if s == gate.Fail {
			g.Failing, g.Results = []string{"TestX"}, []gate.Result{{Gate: "check", Status: gate.Fail, Failing: []string{"TestX", "TestY"}}}
		}
		return loop.Event{Payload: loop.GatesFinished{Gates: *g}}
	}
	tasks := []loop.Task{{ID: "a", Title: "<script>alert(1)</script>", Status: loop.Open}, {ID: "b", Title: "second", Status: loop.Open}}
	add(loop.Event{Payload: loop.Started{Policy: loop.Policy{Kind: loop.Change, Gates: true, Limits: loop.Limits{Iterations: 9}}, Tasks: tasks}})
	for _, task := range []string{"a", "b"} {
		add(loop.Event{Payload: loop.Checkpointed{Tree: "base"}})
		add(gates(loop.ForBaseline, gate.Pass, ""))
		if task == "a" {
			add(turn(0.5, true))
			add(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}})
			add(gates(loop.ForClaim, gate.Fail, ""))
			add(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{Usage: loop.Usage{CostUSD: 0.25}, ContextPercent: -1}, Failure: loop.Failure{Class: loop.Crashed, Message: "killed"}}})
			add(loop.Event{Payload: loop.TimerFired{}})
		}
		add(turn(1, true))
		add(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}})
		add(gates(loop.ForClaim, gate.Pass, gate.Proven))
		add(loop.Event{Payload: loop.Committed{Commit: "abc1234def", Tree: "base"}})
	}
	add(gates(loop.ForFinal, gate.Pass, ""))
	add(loop.Event{Payload: loop.Concluded{}})
	return events
}

func pages(t *testing.T) (l report.Loop, f report.Facts) {
	t.Helper()
	events := played()
	var s loop.State
	for _, e := range events {
		s, _ = loop.Step(s, e)
	}
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s while %s", s.Outcome, s.Reason, s.Phase)
	}
	l = report.Loop{
		ID: "calm-heron", Goal: "plan.md <img src=x>", Status: "ended", State: s, Now: s.Now, Zone: time.UTC, Iterations: report.Iterations(slices.Values(events)),
		Diffs: map[string]string{"a": "@@ -1 +1 @@\n-old</pre>\n+new\n"}, Gates: []gate.Result{{Gate: "go test <x>", Status: gate.Pass}},
	}
	return l, l.Facts(record.NewStatus(record.Summary{ID: l.ID, CostUSD: s.Usage.CostUSD}, s, ""))
}

// The facts match the journal, each counted once.
func TestFactsMatchTheJournal(t *testing.T) {
	t.Parallel()
	l, f := pages(t)
	var cost, tasks float64
	var came []string
	for _, i := range f.Iterations {
		cost += i.CostUSD
		came = append(came, fmt.Sprintf("%d %s: %s, %d red", i.Number, i.Task, i.Decision, i.Failing))
	}
	for _, task := range f.Plan {
		tasks += task.CostUSD
	}
	if math.Abs(cost-l.State.Usage.CostUSD) > 1e-9 || math.Abs(tasks-cost) > 1e-9 || math.Abs(cost-2.75) > 1e-9 {
		t.Errorf("iterations cost %v, tasks %v, the loop %v", cost, tasks, l.State.Usage.CostUSD)
	}
	want := []string{
		"1 a: failed: TestX <b>fails</b>, 2 red", "2 a: failed: the turn was cut off: killed, -1 red", "3 a: done: proven, 0 red", "4 b: done: proven, 0 red",
	}
	if diff := cmp.Diff(want, came); diff != "" {
		t.Error(diff)
	}
	// A gate that a later task made pass proves this one, too: each place says so.
	events := played()
	earlier, later := events[10].Payload.(loop.GatesFinished), events[16].Payload.(loop.GatesFinished)
	earlier.Gates.WorkResult = loop.WorkResult{Evidence: gate.EvidenceUnknown}
	earlier.Gates.StillRed = []string{"check"}
	later.Gates.FlippedGates = []string{"check"}
	events[10].Payload, events[16].Payload = earlier, later
	if its := report.Iterations(slices.Values(events)); its[2].Decision != "done: proven" {
		t.Errorf("the iteration came to %q, and its task is proven", its[2].Decision)
	}
	if f.Refusals != 1 || f.Turns != 0 || len(f.Plan) != 2 || f.Plan[0].Attempts != 3 {
		t.Errorf("%+v", f)
	}
	data, err := json.Marshal(f)
	if err != nil || !strings.Contains(string(data), `"iterations":[{"number":1,"task":"a"`) {
		t.Errorf("%v %s", err, data)
	}
}

// The page is one file without external resources and scripts. Text of the agent and the user is not
// markup. The figures match the facts.
func TestHTML(t *testing.T) {
	t.Parallel()
	l, f := pages(t)
	page := html(t, l)
	for _, never := range []string{"<script", "<img", "<b>", "http:", "https:", "url(", "</pre>\n+", "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %s", never)
		}
	}
	wanted := []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;", "2 of 2 tasks done", "prefers-color-scheme: dark", `<svg role="img" aria-labelledby="task-cost task-cost-sum"`,
		"2 bars, the highest " + figure.Money(f.Plan[0].CostUSD), "git show abc1234",
	}
	for _, i := range f.Iterations {
		wanted = append(wanted, figure.Money(i.CostUSD))
	}
	for _, text := range wanted {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
	for _, tag := range []string{"table", "tr", "td", "th", "svg", "figure", "pre", "span", "ul", "li", "div", "main", "dl"} {
		open, closed := regexp.MustCompile("<"+tag+`[ >]`).FindAllString(page, -1), strings.Count(page, "</"+tag+">")
		if len(open) != closed {
			t.Errorf("%d <%s>, %d ends", len(open), tag, closed)
		}
	}
}

// With many iterations, the page shows the last ones and says where the others are.
func TestLongHTML(t *testing.T) {
	t.Parallel()
	l, _ := pages(t)
	l.Iterations = nil
	for i := range 250 {
		l.Iterations = append(l.Iterations, report.Iteration{Number: i + 1, Context: -1, Failing: -1})
	}
	page := html(t, l)
	if n := strings.Count(page, `<tr><td class="n">`); n != 200 || !strings.Contains(page, "50 earlier ones are not shown: <code>pawl report calm-heron --json</code>") {
		t.Errorf("%d rows", n)
	}
}

func html(t *testing.T, l report.Loop) string {
	t.Helper()
	page, err := report.HTML(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
