package claude_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// These tests run the real client against a scripted Messages API on loopback;
// they are skipped where there is no client, see agenttest.Client.

// rig is a client, a script and a folder to work in.
type rig struct {
	t     *testing.T
	agent claude.Agent
	api   *messagesapi.Server
	o     agent.Options

	mu     sync.Mutex
	events []agent.Event
}

func newRig(t *testing.T, steps ...messagesapi.Response) *rig {
	t.Helper()
	t.Parallel()
	client := agenttest.Client(t)
	api := agenttest.API(t, messagesapi.Steps(steps...))
	return &rig{
		t: t, agent: claude.Agent{Command: client}, api: api,
		o: agent.Options{Dir: t.TempDir(), Env: agenttest.Env(t, api), Marker: "loop-" + filepath.Base(t.Name())},
	}
}

func (r *rig) start() agent.Session {
	r.t.Helper()
	s, err := r.agent.Start(r.t.Context(), r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (r *rig) emit(e agent.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// saw returns the events of a kind so far.
func (r *rig) saw(k agent.Kind) []agent.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var of []agent.Event
	for _, e := range r.events {
		if e.Kind == k {
			of = append(of, e)
		}
	}
	return of
}

func (r *rig) turn(s agent.Session, prompt string) agent.Result {
	r.t.Helper()
	return r.turnOf(r.t.Context(), s, agent.Turn{Prompt: prompt, Timeout: time.Minute})
}

func (r *rig) turnOf(ctx context.Context, s agent.Session, o agent.Turn) agent.Result {
	r.t.Helper()
	res, err := s.Turn(ctx, o, r.emit)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

// path of a file in the work folder.
func (r *rig) path(name string) string { return filepath.Join(r.o.Dir, name) }

func mustEnd(t *testing.T, res agent.Result) {
	t.Helper()
	if res.Failure != nil {
		t.Fatalf("the turn failed: %+v", *res.Failure)
	}
}

func mustFail(t *testing.T, res agent.Result, want loop.Class) {
	t.Helper()
	if res.Failure == nil || res.Failure.Class != want {
		t.Fatalf("failure = %+v, want %s", res.Failure, want)
	}
	if res.Failure.Message == "" {
		t.Error("the failure has no message")
	}
}

// soon is when all that need not be waited for has happened, also on a machine with
// much else to do: the client by itself would try again for minutes.
const soon = 40 * time.Second

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestClientTurnWithToolsAllowedAndDenied(t *testing.T) {
	r := newRig(t)
	r.api.Play(messagesapi.Steps(
		messagesapi.Write(r.path("good.txt"), "hello"),
		messagesapi.Bash("git push origin main"),
		messagesapi.Text("I did what I could."),
	))
	var judged []string
	r.o.CheckTool = func(c toolcall.Call) agent.Verdict {
		judged = append(judged, c.Tool+" in "+c.Dir)
		if c.Tool == "Bash" {
			return agent.Verdict{Reason: "Do not push: the loop's owner merges."}
		}
		return agent.Verdict{Allow: true}
	}
	s := r.start()
	res := r.turn(s, "do it")
	mustEnd(t, res)

	if got, err := os.ReadFile(r.path("good.txt")); err != nil || string(got) != "hello" {
		t.Errorf("the allowed file: %q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"Write in " + r.o.Dir, "Bash in " + r.o.Dir}, judged); diff != "" {
		t.Error(diff)
	}
	if res.Text != "I did what I could." || res.ToolCalls != 2 || res.Denied != 1 || res.SessionID != s.ID() || s.ID() == "" {
		t.Errorf("result %+v", res)
	}
	told := r.api.Requests()[2].ToolResults()
	if len(told) != 1 || !told[0].Error || !strings.Contains(told[0].Text, "Do not push: the loop's owner merges.") {
		t.Errorf("the model was told %+v", told)
	}
	var details []string
	for _, e := range r.saw(agent.KindTool) {
		details = append(details, e.Detail)
	}
	if diff := cmp.Diff([]string{"write good.txt", "$ git push origin main"}, details); diff != "" {
		t.Error(diff)
	}
	if n := len(r.saw(agent.KindDenied)); n != 1 {
		t.Errorf("%d denials told", n)
	}
	if inits := r.saw(agent.KindInit); len(inits) != 1 || inits[0].Text == "" || inits[0].Model == "" {
		t.Errorf("init events: %+v", inits)
	}
}

// Cost and tokens are those of each turn, also when the session is taken up
// again by a new process.
func TestClientCostIsCountedOnceOverTurnsAndResume(t *testing.T) {
	use := messagesapi.Usage{Input: 10_000, Output: 1_000, CacheRead: 40_000, CacheWrite: 2_000}
	r := newRig(t, messagesapi.Text("one").Using(use))
	s := r.start()
	first, second := r.turn(s, "a"), r.turn(s, "b")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r.o.Resume, r.o.PriorCostUSD = s.ID(), second.SessionCostUSD
	resumed := r.start()
	third := r.turn(resumed, "c")
	for i, res := range []agent.Result{first, second, third} {
		mustEnd(t, res)
		u := res.Usage
		if u.Input != use.Input || u.Output != use.Output || u.CacheRead != use.CacheRead || u.CacheWrite != use.CacheWrite {
			t.Errorf("turn %d: usage %+v, want %+v", i+1, u, use)
		}
		if u.CostUSD <= 0 || !near(u.CostUSD, first.Usage.CostUSD) {
			t.Errorf("turn %d: cost %v, want that of the first, %v", i+1, u.CostUSD, first.Usage.CostUSD)
		}
		if res.SessionID != s.ID() {
			t.Errorf("turn %d in session %s, want %s", i+1, res.SessionID, s.ID())
		}
	}
	if !near(third.SessionCostUSD, 3*first.Usage.CostUSD) {
		t.Errorf("the session has cost %v, want three turns of %v", third.SessionCostUSD, first.Usage.CostUSD)
	}
	if !r.api.Requests()[2].Says("one") {
		t.Error("the resumed session does not know the first turns")
	}
	if first.ContextPercent < 3 || first.ContextPercent > 9 {
		t.Errorf("context %d %%, want about 5 (53,000 of 1,000,000)", first.ContextPercent)
	}
	if n := r.api.TokenCounts(); n > 0 {
		t.Errorf("%d requests to count tokens, though nobody decides by it", n)
	}
	r.o.Resume, r.o.MeasureContext = "", true
	if res := r.turn(r.start(), "d"); res.ContextPercent < 0 || r.api.TokenCounts() == 0 {
		t.Errorf("the client was not asked: context %d %%", res.ContextPercent)
	}
}

func TestClientFreshContextInTheSameProcess(t *testing.T) {
	r := newRig(t, messagesapi.Text("one"), messagesapi.Bash("true"), messagesapi.Text("two"))
	var judged int
	r.o.CheckTool = func(toolcall.Call) agent.Verdict { judged++; return agent.Verdict{Allow: true} }
	s := r.start()
	mustEnd(t, r.turn(s, "remember the word ratchet"))
	before := s.ID()
	warm := s.(agent.Warm)
	begin := time.Now()
	if err := warm.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d > soon {
		t.Errorf("a fresh context took %v", d)
	}
	if s.ID() == before {
		t.Error("the session id is still the old one")
	}
	res := r.turn(s, "which word?")
	mustEnd(t, res)
	if reqs := r.api.Requests(); reqs[1].Says("ratchet") {
		t.Error("the fresh context knows the old prompt")
	}
	if judged != 1 {
		t.Errorf("judged %d calls after the clear, want 1", judged)
	}
	if res.Usage.Input != 2000 {
		t.Errorf("usage %+v, want that of two requests", res.Usage)
	}
	if warm.RSS() < 10<<20 {
		t.Errorf("RSS = %d", warm.RSS())
	}
}

func TestClientInterruptInTheMiddleOfATool(t *testing.T) {
	r := newRig(t, messagesapi.Bash("touch started; while :; do sleep 1; done"), messagesapi.Text("after"))
	s := r.start()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(r.path("started")); err == nil {
				break
			}
		}
		cancel()
	}()
	begin := time.Now()
	res := r.turnOf(ctx, s, agent.Turn{Prompt: "loop"})
	mustFail(t, res, loop.Interrupted)
	if d := time.Since(begin); d > soon {
		t.Errorf("interrupting took %v", d)
	}
	if res.Usage.CostUSD <= 0 {
		t.Error("what the interrupted turn cost is lost")
	}
	again := r.turn(s, "continue")
	mustEnd(t, again)
	if again.Text != "after" {
		t.Errorf("after the interrupt the session says %q", again.Text)
	}
}

func TestClientFailures(t *testing.T) {
	cases := []struct {
		name   string
		answer messagesapi.Response
		want   loop.Class
		status int
	}{
		{"401", messagesapi.Fail(401, "invalid x-api-key"), loop.Login, 401},
		{"403", messagesapi.Fail(403, "forbidden"), loop.Login, 403},
		{"no credit", messagesapi.Fail(400, "Your credit balance is too low to access the Anthropic API."), loop.Billing, 400},
		{"529", messagesapi.Fail(529, "Overloaded"), loop.Overloaded, 529},
		{"500", messagesapi.Fail(500, "Internal server error"), loop.Overloaded, 500},
		{"429 without a time", messagesapi.Fail(429, "slow down"), loop.UsageLimit, 429},
		{"refusal", messagesapi.Text("no").Stopping("refusal"), loop.Refused, 0},
		{"streams dropped for good", messagesapi.Drop(), loop.Network, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.answer)
			s := r.start()
			begin := time.Now()
			res := r.turn(s, "go")
			mustFail(t, res, c.want)
			if d := time.Since(begin); d > soon {
				t.Errorf("known after %v", d)
			}
			if res.Failure.Status != c.status {
				t.Errorf("status %d, want %d", res.Failure.Status, c.status)
			}
			if !res.Failure.Until.IsZero() {
				t.Errorf("until %v, though nothing told a time", res.Failure.Until)
			}
			if (c.want == loop.Login || c.want == loop.Billing) && res.Failure.Hint == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestClientUsageLimitKnowsWhenItEnds(t *testing.T) {
	reset := time.Now().Add(2 * time.Hour)
	cases := []struct {
		name   string
		header []string
		want   time.Time
	}{
		{"retry-after", []string{"retry-after", "3600"}, time.Now().Add(time.Hour)},
		{"unified reset", []string{
			"anthropic-ratelimit-unified-status", "rejected",
			"anthropic-ratelimit-unified-reset", itoa(reset.Unix()),
			"anthropic-ratelimit-unified-representative-claim", "five_hour",
		}, reset},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, messagesapi.Fail(429, "limit", c.header...))
			begin := time.Now()
			res := r.turn(r.start(), "go")
			mustFail(t, res, loop.UsageLimit)
			if d := time.Since(begin); d > soon {
				t.Errorf("known after %v", d)
			}
			// To a retry-after the client adds jitter, up to a quarter.
			if late := res.Failure.Until.Sub(c.want); late < -time.Minute || late > 16*time.Minute {
				t.Errorf("until %v, want about %v", res.Failure.Until, c.want)
			}
		})
	}
}

func TestClientRefusedConnection(t *testing.T) {
	r := newRig(t, messagesapi.Text("never"))
	r.o.Env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:1"
	begin := time.Now()
	res := r.turn(r.start(), "go")
	mustFail(t, res, loop.Network)
	if d := time.Since(begin); d > soon {
		t.Errorf("known after %v", d)
	}
}

func TestClientNotLoggedIn(t *testing.T) {
	r := newRig(t, messagesapi.Text("never"))
	delete(r.o.Env, "ANTHROPIC_API_KEY")
	res := r.turn(r.start(), "go")
	mustFail(t, res, loop.Login)
	if !strings.Contains(res.Failure.Hint, "/login") {
		t.Errorf("hint %q", res.Failure.Hint)
	}
}

func TestClientHiccupIsLeftToTheClient(t *testing.T) {
	for name, hiccup := range map[string]messagesapi.Response{
		"dropped stream": messagesapi.Drop(), "one 500": messagesapi.Fail(500, "oops"),
		"one 429": messagesapi.Fail(429, "slow down", "retry-after", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, hiccup, messagesapi.Text("fine"))
			res := r.turn(r.start(), "go")
			mustEnd(t, res)
			if res.Text != "fine" {
				t.Errorf("text %q", res.Text)
			}
			if retries := r.saw(agent.KindRetry); len(retries) != 1 || retries[0].Failure == nil {
				t.Errorf("retry events: %+v", retries)
			}
		})
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestClientContract(t *testing.T) {
	t.Parallel()
	client := agenttest.Client(t)
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		api := agenttest.API(t, messagesapi.Steps(messagesapi.Text("nothing arranged")))
		play := func(steps ...messagesapi.Response) { api.Play(messagesapi.Steps(steps...)) }
		return agenttest.Subject{
			Agent:   claude.Agent{Command: client},
			Options: agent.Options{Dir: t.TempDir(), Env: agenttest.Env(t, api)},
			Says:    func(text string) { play(messagesapi.Text(text)) },
			Hangs:   func() { play(messagesapi.Text("late").After(time.Hour)) },
			Writes: func(path, content string) {
				play(messagesapi.Write(path, content), messagesapi.Text("written"))
			},
		}
	})
}
