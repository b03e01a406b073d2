package telemetry_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/telemetry"
)

// journalEvents returns the events of a loop over two tasks. The first has a rejected claim and a
// turn that crashes; both end as done. Events are one minute apart.
func journalEvents() (events []loop.Event) {
	at := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	add := func(e loop.Event) {
		at = at.Add(time.Minute)
		e.At = at
		events = append(events, e)
	}
	turn := func() {
		add(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{
			ToolCalls: 1, ContextPercent: 12, SessionID: "s1", Text: "what the agent says", Claim: &loop.Claim{},
			Usage: loop.Usage{Input: 100, CacheRead: 900, Output: 50, CostUSD: 0.5},
		}}})
		add(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}})
	}
	gates := func(p loop.Purpose, s gate.Status, e gate.Evidence) {
		g := &loop.Gates{Purpose: p, Status: s, Green: s == gate.Pass, Tree: "t", Reason: "TestX fails", WorkResult: loop.WorkResult{Evidence: e}, Failures: loop.Failures{Fingerprint: "f"}}
		if s == gate.Fail {
			g.Failing, g.Results = []string{"TestX"}, []gate.Result{{Gate: "check --token hunter2hunter2", Status: gate.Fail}}
		}
		add(loop.Event{Payload: loop.GatesFinished{Gates: *g}})
	}
	tasks := []loop.Task{{ID: "a", Title: "first title", Status: loop.Open}, {ID: "b", Title: "second title", Status: loop.Open}}
	add(loop.Event{Payload: loop.Started{Policy: loop.Policy{Kind: loop.Change, Gates: true, Limits: loop.Limits{Iterations: 9}}, Tasks: tasks}})
	for _, task := range []string{"a", "b"} {
		add(loop.Event{Payload: loop.Checkpointed{Tree: "base"}})
		gates(loop.ForBaseline, gate.Pass, "")
		if task == "a" {
			turn()
			gates(loop.ForClaim, gate.Fail, "")
			add(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{ContextPercent: -1}, Failure: loop.Failure{Class: loop.Crashed, Message: "killed"}}})
		}
		turn()
		gates(loop.ForClaim, gate.Pass, gate.Proven)
		add(loop.Event{Payload: loop.Committed{Commit: "abc1234def", Tree: "base"}})
	}
	gates(loop.ForFinal, gate.Pass, "")
	add(loop.Event{Payload: loop.Concluded{}})
	return events
}

func testLoop() telemetry.Loop {
	return telemetry.Loop{
		ID: "calm-heron-1a2b", Agent: "claude", Model: "opus", Version: "v1",
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2hunter2", "[redacted]") },
	}
}

// outline returns the tree of spans, with the duration and the error of each.
func outline(r telemetry.Run) []string {
	depth := map[string]int{}
	var out []string
	for _, s := range r.Spans {
		if s.Parent != "" {
			depth[s.ID] = depth[s.Parent] + 1
		}
		line := strings.Repeat("  ", depth[s.ID]) + s.Name + " " + s.End.Sub(s.Start).String()
		if s.Error != "" {
			line += " " + s.Error
		}
		out = append(out, line)
	}
	return out
}

func TestRunsMatchTheJournal(t *testing.T) {
	t.Parallel()
	runs := telemetry.Runs(testLoop(), slices.Values(journalEvents()))
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	want := []string{
		"loop 18m0s",
		"  gate 1m0s",
		"  task 8m0s",
		"    attempt 3m0s",
		"      invoke_agent claude 1m0s",
		"      claim 1m0s gates_failed",
		"    attempt 1m0s",
		"      invoke_agent claude 1m0s crashed",
		"    attempt 4m0s",
		"      invoke_agent claude 1m0s",
		"      claim 1m0s",
		"  gate 1m0s",
		"  task 4m0s",
		"    attempt 4m0s",
		"      invoke_agent claude 1m0s",
		"      claim 1m0s",
		"  gate 1m0s",
	}
	if diff := cmp.Diff(want, outline(runs[0])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(runs, telemetry.Runs(testLoop(), slices.Values(journalEvents()))); diff != "" {
		t.Errorf("the same journal gives other spans: %s", diff)
	}
	sums := map[string]float64{}
	for _, m := range runs[0].Metrics {
		for _, p := range m.Points {
			sums[m.Name] += p.Sum
		}
	}
	wantSums := map[string]float64{
		"gen_ai.client.token.usage": 3150, "gen_ai.client.operation.duration": 240, "pawl.cost": 1.5, "pawl.iterations": 4, "pawl.claims.refused": 1,
		"pawl.restores": 0, "pawl.violations": 0, "pawl.loop.time": 1080, "pawl.loop.ends": 1, "pawl.tasks": 2,
	}
	if diff := cmp.Diff(wantSums, sums); diff != "" {
		t.Error(diff)
	}
}

// A loop that has not ended has no runs, after any event.
func TestRunningLoopHasNoRuns(t *testing.T) {
	t.Parallel()
	all := journalEvents()
	for n := range all {
		if runs := telemetry.Runs(testLoop(), slices.Values(all[:n])); len(runs) > 0 {
			t.Errorf("after %d events: %d runs", n, len(runs))
		}
	}
}

// collector starts a server that answers with each status in turn, and then always with the last
// one.
func collector(t *testing.T, status ...int) (vars []string, bodies func() map[string]string) {
	t.Helper()
	var calls atomic.Int64
	got := make(chan [2]string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- [2]string{r.URL.Path, string(body)}
		if r.Header.Get("Api-Key") != "a b" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("header %v", r.Header)
		}
		n := min(int(calls.Add(1)), len(status)) - 1
		if status[n] == http.StatusFound {
			w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
		}
		if status[n] == 0 {
			time.Sleep(time.Second)
			return
		}
		w.WriteHeader(status[n])
	}))
	t.Cleanup(s.Close)
	vars = []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + s.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b", "OTEL_EXPORTER_OTLP_TIMEOUT=300",
		"OTEL_SERVICE_NAME=night", "OTEL_RESOURCE_ATTRIBUTES=team=core,service.name=other",
	}
	return vars, func() map[string]string {
		out := map[string]string{}
		for range len(got) {
			one := <-got
			out[one[0]] = one[1]
		}
		return out
	}
}

func send(t *testing.T, vars []string) error {
	t.Helper()
	settings, err := telemetry.ReadSettings(vars, telemetry.Collector{})
	if err != nil {
		t.Fatal(err)
	}
	run := telemetry.Runs(testLoop(), slices.Values(journalEvents()))[0]
	return telemetry.WithShortPauses(telemetry.Sender{Settings: settings, Loop: testLoop()}).Send(t.Context(), run)
}

func TestSendRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status []int
		err    string // "" = no error
		calls  int    // number of different paths requested
	}{
		"at once":          {status: []int{200}, calls: 2},
		"after a bad time": {status: []int{503, 429, 200}, calls: 2},
		"slow":             {status: []int{0}, err: "no answer within 300ms (3 attempts)", calls: 1},
		"refused":          {status: []int{401}, err: "answers 401 Unauthorized", calls: 1},
		"elsewhere":        {status: []int{302}, err: "redirects (302 Found), which is not followed", calls: 1},
		"down":             {status: []int{502}, err: "answers 502 Bad Gateway (3 attempts)", calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vars, bodies := collector(t, c.status...)
			err := send(t, vars)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			got := bodies()
			if len(got) != c.calls || got["/elsewhere"] != "" {
				t.Errorf("asked %d paths, want %d: %v", len(got), c.calls, got)
			}
		})
	}
}

// The requests are OTLP's JSON, without titles, messages or secrets.
func TestRequestBodies(t *testing.T) {
	t.Parallel()
	vars, bodies := collector(t, 200)
	if err := send(t, vars); err != nil {
		t.Fatal(err)
	}
	got := bodies()
	for path, body := range got {
		for _, never := range []string{"title", "agent says", "hunter2", "TestX", "killed"} {
			if strings.Contains(body, never) {
				t.Errorf("%s holds %q", path, never)
			}
		}
		for _, always := range []string{`{"key":"service.name","value":{"stringValue":"night"}}`, `{"key":"team","value":{"stringValue":"core"}}`} {
			if !strings.Contains(body, always) {
				t.Errorf("%s lacks %s: %s", path, always, body)
			}
		}
	}
	if said := `{"key":"pawl.claimed","value":{"boolValue":true}}`; !strings.Contains(got["/v1/traces"], said) {
		t.Errorf("the traces lack %s: %s", said, got["/v1/traces"])
	}
	var traces struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct{ TraceID, SpanID, ParentSpanID, StartTimeUnixNano, EndTimeUnixNano string }
			}
		}
	}
	if err := json.Unmarshal([]byte(got["/v1/traces"]), &traces); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{"": true}
	for _, s := range traces.ResourceSpans[0].ScopeSpans[0].Spans {
		if len(s.TraceID) != 32 || len(s.SpanID) != 16 || ids[s.SpanID] || !ids[s.ParentSpanID] || s.StartTimeUnixNano > s.EndTimeUnixNano {
			t.Errorf("span %+v", s)
		}
		ids[s.SpanID] = true
	}
	for _, part := range []string{`"bucketCounts":["0"`, `"explicitBounds":[1,4,16`, `"aggregationTemporality":2`, `"key":"gen_ai.token.type"`} {
		if !strings.Contains(got["/v1/metrics"], part) {
			t.Errorf("the metrics lack %s", part)
		}
	}
}

func TestSettingsAreReadFromTheEnvironment(t *testing.T) {
	t.Parallel()
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318"
	for name, c := range map[string]struct {
		vars            []string
		traces, metrics string
		err             string
	}{
		"none":        {},
		"one":         {vars: []string{endpoint}, traces: "http://localhost:4318/v1/traces", metrics: "http://localhost:4318/v1/metrics"},
		"disabled":    {vars: []string{endpoint, "OTEL_SDK_DISABLED=true"}},
		"traces only": {vars: []string{endpoint, "OTEL_METRICS_EXPORTER=none"}, traces: "http://localhost:4318/v1/traces"},
		"each": {
			vars:    []string{endpoint, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://t.example/in"},
			traces:  "https://t.example/in",
			metrics: "http://localhost:4318/v1/metrics",
		},
		"no address": {vars: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=secret"}, err: "OTEL_EXPORTER_OTLP_ENDPOINT holds no address that begins with https:// or http://"},
		"odd header": {vars: []string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=a=b,secret"}, traces: "http://localhost:4318/v1/traces", err: "OTEL_EXPORTER_OTLP_HEADERS: entry 2 is not name=value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := telemetry.ReadSettings(c.vars, telemetry.Collector{})
			if got.Traces != c.traces || got.Metrics != c.metrics || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("%q %q %v", got.Traces, got.Metrics, err)
			}
		})
	}
}

// The environment has priority over the configuration for each signal. A key is only sent to its
// collector.
func TestEnvironmentOverridesTheCollector(t *testing.T) {
	t.Parallel()
	const (
		theirs = "OTEL_EXPORTER_OTLP_ENDPOINT=https://env.example"
		keys   = "OTEL_EXPORTER_OTLP_HEADERS=x-key=environment"
		mine   = "MINE=configured"
	)
	for name, c := range map[string]struct {
		vars            []string
		traces, metrics string // address and key
		err             string
	}{
		"configuration":            {vars: []string{mine}, traces: "https://conf.example/v1/traces configured", metrics: "https://conf.example/v1/metrics configured"},
		"a key for another":        {vars: []string{mine, keys}, traces: "https://conf.example/v1/traces configured", metrics: "https://conf.example/v1/metrics configured"},
		"environment":              {vars: []string{mine, theirs}, traces: "https://env.example/v1/traces ", metrics: "https://env.example/v1/metrics "},
		"environment with a key":   {vars: []string{theirs, keys}, traces: "https://env.example/v1/traces environment", metrics: "https://env.example/v1/metrics environment"},
		"traces by environment":    {vars: []string{mine, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://env.example/in"}, traces: "https://env.example/in ", metrics: "https://conf.example/v1/metrics configured"},
		"disabled":                 {vars: []string{mine, "OTEL_SDK_DISABLED=true"}, traces: " ", metrics: " "},
		"metrics only":             {vars: []string{mine, "OTEL_TRACES_EXPORTER=none"}, traces: " ", metrics: "https://conf.example/v1/metrics configured"},
		"a variable that is unset": {vars: []string{"MINE= "}, err: "telemetry.headers.x-key: the environment has no MINE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := telemetry.ReadSettings(c.vars, telemetry.Collector{Endpoint: "https://conf.example/", Headers: map[string]string{"x-key": "env:MINE"}})
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			traces, metrics := s.Traces+" "+s.TraceHeader.Get("x-key"), s.Metrics+" "+s.MetricHeader.Get("x-key")
			if err != nil || traces != c.traces || metrics != c.metrics || s.Enabled() != (c.metrics != " ") {
				t.Errorf("%q, %q, on %t, %v", traces, metrics, s.Enabled(), err)
			}
		})
	}
}
