package claude_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/rawlog"
)

// The cost is looked at before each tool call: the response that passes the
// limit is the last, and its tool does not run.
func TestClientCostLimit(t *testing.T) {
	r := newRig(t)
	costly := messagesapi.Usage{Input: 100_000, Output: 1_000} // $0.42 by the client's list
	r.api.Play(messagesapi.Steps(
		messagesapi.Bash("touch first").Using(costly),
		messagesapi.Bash("touch second").Using(costly),
		messagesapi.Text("never").Using(costly),
	))
	s := r.start()
	res := r.turnOf(t.Context(), s, agent.Turn{Prompt: "spend", MaxCostUSD: 0.5})
	mustFail(t, res, loop.OverBudget)
	if _, err := os.Stat(r.path("first")); err != nil {
		t.Error("the tool below the limit did not run")
	}
	if _, err := os.Stat(r.path("second")); err == nil {
		t.Error("the tool past the limit ran")
	}
	// On a busy machine the client was seen to ask once more while it ends: then that request
	// may be answered, and is booked.
	n := len(r.api.Requests())
	if n < 2 || n > 3 || res.Rounds < 2 || res.Rounds > n {
		t.Errorf("%d requests, %d rounds; want 2", n, res.Rounds)
	}
	if want := 0.42 * float64(res.Rounds); math.Abs(res.Usage.CostUSD-want) > 0.01 {
		t.Errorf("cost %v of %d rounds, want %v", res.Usage.CostUSD, res.Rounds, want)
	}
}

func TestClientRoundsAreCounted(t *testing.T) {
	r := newRig(t, messagesapi.Bash("true"), messagesapi.Bash("true"), messagesapi.Text("done"), messagesapi.Text("again"))
	s := r.start()
	for _, want := range []int{3, 1} {
		res := r.turnOf(t.Context(), s, agent.Turn{Prompt: "go"})
		mustEnd(t, res)
		if res.Rounds != want {
			t.Errorf("%d rounds, want %d", res.Rounds, want)
		}
	}
}

// What the guard denies stays forbidden in any permission mode that the user's
// settings, or arguments, give the client.
func TestClientPermissionModeDoesNotOverruleTheGuard(t *testing.T) {
	for _, mode := range []string{"acceptEdits", "dontAsk", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, messagesapi.Bash("touch allowed"), messagesapi.Bash("touch forbidden"), messagesapi.Text("done"))
			r.o.Args = []string{"--permission-mode", mode}
			r.o.Env["IS_SANDBOX"] = "1" // else the client refuses the last one to root
			r.o.CheckTool = func(c toolcall.Call) agent.Verdict {
				return agent.Verdict{Allow: !strings.Contains(c.Command, "forbidden"), Reason: "no"}
			}
			res := r.turnOf(t.Context(), r.start(), agent.Turn{Prompt: "go"})
			mustEnd(t, res)
			if _, err := os.Stat(r.path("forbidden")); err == nil || res.Denied != 1 {
				t.Errorf("denied %d", res.Denied)
			}
			if _, err := os.Stat(r.path("allowed")); err != nil {
				t.Error("what the guard allows did not run")
			}
		})
	}
}

func TestClientLongToolIsNoSilence(t *testing.T) {
	r := newRig(t, messagesapi.Bash("sleep 4"), messagesapi.Text("done"))
	res := r.turnOf(t.Context(), r.start(), agent.Turn{Prompt: "x", IdleTimeout: 3 * time.Second}) // the client itself may be slow
	mustEnd(t, res)
}

func TestClientStartFailures(t *testing.T) {
	t.Run("no such client", func(t *testing.T) {
		t.Parallel()
		_, err := claude.Agent{Command: "no-such-client"}.Start(t.Context(), agent.Options{})
		if !errors.Is(err, exec.ErrNotFound) || failure.Hint(err) == "" {
			t.Errorf("error %v, hint %q", err, failure.Hint(err))
		}
		if _, err := (claude.Agent{Command: "no-such-client"}).Version(t.Context()); failure.Hint(err) == "" {
			t.Errorf("version: %v without a hint", err)
		}
	})
	t.Run("unknown option", func(t *testing.T) {
		r := newRig(t, messagesapi.Text("never"))
		r.o.Args = []string{"--no-such-option"}
		_, err := r.agent.Start(t.Context(), r.o)
		if err == nil || !strings.Contains(err.Error(), "--no-such-option") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("unknown session", func(t *testing.T) {
		r := newRig(t, messagesapi.Text("never"))
		r.o.Resume = "11111111-2222-4333-8444-555555555555"
		_, err := r.agent.Start(t.Context(), r.o)
		if err == nil || !strings.Contains(err.Error(), "No conversation found") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		r := newRig(t, messagesapi.Text("never"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.agent.Start(ctx, r.o); err == nil {
			t.Error("started under a dead context")
		}
	})
}

func TestClientVersionModelAndLog(t *testing.T) {
	r := newRig(t, messagesapi.Text("hello"))
	version, err := r.agent.Version(t.Context())
	if err != nil || strings.Count(version, ".") != 2 {
		t.Errorf("version %q, %v", version, err)
	}
	r.o.Model = "claude-haiku-4-5"
	r.o.LogPath = filepath.Join(t.TempDir(), "stream.jsonl")
	s := r.start()
	res := r.turn(s, "x")
	mustEnd(t, res)
	if got := r.api.Requests()[0].Model; !strings.HasPrefix(got, "claude-haiku-4-5") || !strings.HasPrefix(res.Model, "claude-haiku-4-5") {
		t.Errorf("asked for model %q, result %q", got, res.Model)
	}
	second := r.o.LogPath + ".2"
	mustEnd(t, r.turnOf(t.Context(), s, agent.Turn{Prompt: "y", LogPath: second}))
	_ = s.Close()
	for _, path := range []string{r.o.LogPath, second} {
		if text, err := rawlog.Read(path); err != nil || strings.Count(text, `"type":"result"`) != 1 {
			t.Errorf("log %s of %d bytes, %v: want one result in each", filepath.Base(path), len(text), err)
		}
	}
}

// Only the loop says when the next turn is.
func TestClientNoToolCanWakeTheSession(t *testing.T) {
	r := newRig(t, messagesapi.Text("hello"))
	mustEnd(t, r.turn(r.start(), "x"))
	offered := r.api.Requests()[0].Tools
	if slices.Contains(offered, "ScheduleWakeup") || !slices.Contains(offered, "Bash") {
		t.Errorf("tools offered: %v", offered)
	}
}

// A client that is killed in the middle of a tool leaves a session that can be
// taken up, and no tool that runs on.
func TestClientKilledAndResumed(t *testing.T) {
	r := newRig(t, messagesapi.Bash("touch started; while :; do sleep 1; done"), messagesapi.Text("continued"))
	s := r.start()
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(r.path("started")); err == nil {
				break
			}
		}
		_ = s.Close()
	}()
	res := r.turn(s, "loop")
	<-killed
	if res.Failure == nil {
		t.Fatal("the turn of a closed session did not fail")
	}
	r.o.Resume = s.ID()
	again := r.turn(r.start(), "continue")
	mustEnd(t, again)
	if again.Text != "continued" || again.SessionID != s.ID() {
		t.Errorf("resumed: %+v", again)
	}
	if again.Usage.Input != 1000 {
		t.Errorf("usage %+v, want that of the one request", again.Usage)
	}
	// Nothing was said to be counted, so the killed turn counts now.
	if !near(again.Usage.CostUSD, 2*0.005) || !near(again.SessionCostUSD, 2*0.005) {
		t.Errorf("cost %v of %v, want two requests of $0.005", again.Usage.CostUSD, again.SessionCostUSD)
	}
}
