package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// What the real client does seldom or never, a fake one does here.

const (
	initLine   = `{"type":"system","subtype":"init","session_id":"s1","model":"m","claude_code_version":"9.9.9","cwd":"/w","slash_commands":["clear"]}`
	textLine   = `{"type":"assistant","session_id":"s1","message":{"content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":100,"cache_read_input_tokens":400}}}`
	toolLine   = `{"type":"assistant","session_id":"s1","message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a"}}]}}`
	resultLine = `{"type":"result","subtype":"success","session_id":"s1","result":"hi","terminal_reason":"completed","total_cost_usd":0.5,` +
		`"modelUsage":{"m":{"inputTokens":10,"outputTokens":5,"contextWindow":1000}}}`
	callLine = `{"type":"control_request","request_id":"r1","request":{"subtype":"hook_callback","input":{"tool_name":"Bash","tool_input":{"command":"x"},"cwd":"/w"}}}`
)

type fakeRig struct {
	*rig
	script string
}

// newFake plays a block, see fakeClient, for each turn.
func newFake(t *testing.T, blocks ...string) fakeRig {
	t.Helper()
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte(strings.Join(blocks, "\n\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	o := agent.Options{Dir: t.TempDir(), Env: map[string]string{"FAKE_CLIENT": script}}
	return fakeRig{rig: &rig{t: t, agent: claude.Agent{Command: os.Args[0]}, o: o}, script: script}
}

func (f fakeRig) heard() string {
	f.t.Helper()
	b, err := os.ReadFile(f.script + ".heard")
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

// receivedUntil waits, for a bounded time, until the client has received a text.
func (f fakeRig) receivedUntil(text string) string {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !strings.Contains(f.heard(), text); {
		time.Sleep(5 * time.Millisecond)
	}
	return f.heard()
}

func block(lines ...string) string { return strings.Join(lines, "\n") }

func TestGarbageIsSurvived(t *testing.T) {
	f := newFake(t, block(initLine, "Warning: something", `{"type":"assist`, `{"no":"type"}`, `[1,2]`,
		`{"type":"assistant","message":"what"}`, `{"type":"user","message":{"content":"text"}}`,
		`{"type":"brand_new","message":{"content":7}}`, `{"type":"system","subtype":"api_retry","error_status":null}`,
		textLine, resultLine))
	res := f.turn(f.start(), "x")
	mustEnd(t, res)
	if res.Text != "hi" || res.Usage.CostUSD != 0.5 || res.ContextPercent != 50 {
		t.Errorf("result %+v", res)
	}
	if notes := f.saw(agent.KindNote); len(notes) != 4 {
		t.Errorf("notes %+v, want one for each line that is none", notes)
	}
}

func TestHugeLinesAreSurvived(t *testing.T) {
	f := newFake(t, block(initLine, toolLine, "!big 5000000", toolLine, "!big 66000000", textLine, resultLine))
	res := f.turn(f.start(), "x")
	mustEnd(t, res)
	ends := f.saw(agent.KindToolEnd)
	if len(ends) != 1 || ends[0].Call != "t1" {
		t.Fatalf("%d tool results, want that of 5 MB", len(ends))
	}
	if got := ends[0].Output; !strings.HasPrefix(got, "xxx") || !strings.HasSuffix(got, " kB left out") || len(got) > 2<<10 {
		t.Errorf("%.40q of it, %d bytes", got, len(got))
	}
	if notes := f.saw(agent.KindNote); len(notes) != 1 || !strings.Contains(notes[0].Text, "62 MB") {
		t.Errorf("notes %+v", notes)
	}
}

func TestDyingClientIsACrash(t *testing.T) {
	f := newFake(t, block(initLine, textLine, "!stderr first", "!stderr out of memory", `!torn {"type":"resu`, "!exit 7"))
	s := f.start()
	res := f.turn(s, "x")
	mustFail(t, res, loop.Crashed)
	if m := res.Failure.Message; !strings.Contains(m, "exit code 7") || !strings.Contains(m, "out of memory") {
		t.Errorf("message %q", m)
	}
	if res.Text != "hi" || res.SessionID != "s1" {
		t.Errorf("what it said before is lost: %+v", res)
	}
	mustFail(t, f.turn(s, "again"), loop.Crashed)
	if err := s.(agent.Warm).Fresh(t.Context()); err == nil {
		t.Error("a dead client got a fresh context")
	}
}

func TestDisobedientClientIsKilled(t *testing.T) {
	f := newFake(t, block(initLine, "!deaf", toolLine))
	begin := time.Now()
	res := f.turnOf(t.Context(), f.start(), agent.Turn{Prompt: "x", Timeout: 200 * time.Millisecond})
	mustFail(t, res, loop.TimedOut)
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestUsageLimitEvents(t *testing.T) {
	rejected := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4102444800,"rateLimitType":"five_hour"}}`
	warning := `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":4102444800}}`
	retry := `{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":500,"error_status":429,"error":"rate_limit"}`
	apiError := `{"type":"assistant","is_api_error_message":true,"error":"rate_limit","message":{"content":[{"type":"text","text":"You've hit your session limit"}]}}`
	ended := func(reason, more string) string {
		return `{"type":"result","subtype":"success","is_error":true,"terminal_reason":"` + reason +
			`","result":"You've hit your session limit · resets 3:45pm"` + more + `}`
	}
	at := time.Unix(4102444800, 0)
	cases := []struct {
		name  string
		block string
		want  loop.Class
		until time.Time // zero: any time to come
	}{
		{"event, then a retry", block(initLine, rejected, retry), loop.UsageLimit, at},
		{"event, then the end", block(initLine, rejected, apiError, ended("api_error", `,"api_error_status":429`)), loop.UsageLimit, at},
		{"blocking limit with an event", block(initLine, rejected, ended("blocking_limit", "")), loop.UsageLimit, at},
		{"time in the text only", block(initLine, apiError, ended("api_error", `,"api_error_status":429`)), loop.UsageLimit, time.Time{}},
		{"full context", block(initLine, ended("blocking_limit", "")), loop.Crashed, time.Time{}},
		{"a warning only", block(initLine, warning, textLine, resultLine), "", time.Time{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.block)
			res := f.turn(f.start(), "x")
			if c.want == "" {
				mustEnd(t, res)
				return
			}
			mustFail(t, res, c.want)
			until := res.Failure.Until
			switch {
			case c.want != loop.UsageLimit:
				if !until.IsZero() {
					t.Errorf("until %v", until)
				}
			case !c.until.IsZero() && !until.Equal(c.until):
				t.Errorf("until %v, want %v", until, c.until)
			case c.until.IsZero() && !until.After(time.Now()):
				t.Errorf("until %v is over", until)
			}
		})
	}
}

// Between two turns the tree is being judged: a client that woke itself is not
// allowed to touch it.
func TestNoToolRunsBetweenTurns(t *testing.T) {
	f := newFake(t, block(initLine, textLine, resultLine, "!sleep 300ms", callLine,
		`{"type":"control_request","request_id":"r2","request":{"subtype":"mcp_message"}}`))
	judged := 0
	f.o.CheckTool = func(toolcall.Call) agent.Verdict { judged++; return agent.Verdict{Allow: true} }
	s := f.start()
	mustEnd(t, f.turn(s, "x"))
	for deadline := time.Now().Add(time.Minute); !strings.Contains(f.heard(), `"r2"`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no answer; heard %s", f.heard())
		}
	}
	heard := f.heard()
	if judged != 0 || !strings.Contains(heard, `"permissionDecision":"deny"`) || !strings.Contains(heard, `"subtype":"error"`) {
		t.Errorf("judged %d; heard %s", judged, heard)
	}
}

// The client may be at work on its own when the next turn is due: it is
// interrupted first.
func TestATurnBeginsAtRest(t *testing.T) {
	f := newFake(t, block(initLine, textLine, resultLine, initLine, textLine), block(initLine, textLine, resultLine))
	s := f.start()
	mustEnd(t, f.turn(s, "one"))
	time.Sleep(200 * time.Millisecond) // the fake goes to work on its own
	mustEnd(t, f.turn(s, "two"))
	var order []string
	for line := range strings.Lines(f.heard()) {
		switch {
		case strings.Contains(line, `"interrupt"`):
			order = append(order, "interrupt")
		case strings.Contains(line, `"type":"user"`):
			order = append(order, "prompt")
		}
	}
	if diff := cmp.Diff([]string{"prompt", "interrupt", "prompt"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestTurnEndIsRecognized(t *testing.T) {
	result := func(fields string) string { return `{"type":"result",` + fields + `}` }
	cases := []struct {
		name string
		line string
		want loop.Class
	}{
		{"stopped by a hook", result(`"terminal_reason":"stop_hook_prevented","result":"x"`), ""},
		{"turns used up", result(`"is_error":true,"terminal_reason":"max_turns","subtype":"error_max_turns"`), ""},
		{"budget of the client", result(`"is_error":true,"terminal_reason":"budget_exhausted","errors":["too dear"]`), loop.OverBudget},
		{"prompt too long", result(`"is_error":true,"terminal_reason":"prompt_too_long","result":"Prompt is too long"`), loop.Crashed},
		{"interrupted by hand", result(`"is_error":true,"terminal_reason":"aborted_streaming"`), loop.Interrupted},
		{"a bad gateway", result(`"is_error":true,"terminal_reason":"api_error","api_error_status":502,"result":"Bad gateway"`), loop.Overloaded},
		{"payment required", result(`"is_error":true,"terminal_reason":"api_error","api_error_status":402,"result":"pay"`), loop.Billing},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, block(initLine, c.line))
			res := f.turn(f.start(), "x")
			if c.want == "" {
				mustEnd(t, res)
				return
			}
			mustFail(t, res, c.want)
		})
	}
}
