package launch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tracker"
)

// An unreachable tracker is asked once per task, and less often after each failure. It delays no turn
// for longer than the timeout, even if it hangs.
func TestClaimsAreRetriedBeforeTasks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("this tracker is run by sh")
	}
	dir := t.TempDir()
	script := "echo asked >>asked; [ ! -e hangs ] || sleep 60; [ -e up ] && echo '{\"ok\":true,\"changed\":true}'"
	issues := []record.Issue{{ID: "7", Key: "#7", Tasks: []string{"a"}}, {ID: "8", Key: "#8", Tasks: []string{"b", "c"}}, {ID: "9", Key: "#9", Tasks: []string{"d"}}}
	desk := &issueClient{
		loop: &store.Loop{ID: "calm-owl-0001", Dir: dir}, spec: record.Spec{Request: record.Request{Tracker: &record.TrackerIssues{Issues: issues}}},
		program: tracker.Program{Name: "tracker", Argv: []string{"sh", "-c", script}, Dir: dir, Env: os.Environ()},
		ledger:  ledger{Unclaimed: []string{"7", "8", "9"}},
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := newClaimRetry(desk)
	c.now, c.timeout = func() time.Time { return now }, 500*time.Millisecond
	state := loop.State{Tasks: []loop.Task{{ID: "a", Status: loop.Done}, {ID: "b"}, {ID: "c"}, {ID: "d"}}}
	touch := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		task  string
		later time.Duration
		with  string // file to make first
		asked int    // total number of requests
		note  string
	}{
		{task: "a", asked: 0}, // it was asked when the loop was resumed
		{task: "b", asked: 1},
		{task: "b", later: time.Hour, asked: 1}, // once a task
		{task: "c", asked: 2},
		{task: "d", later: time.Minute, asked: 2},
		{task: "b", later: time.Minute, with: "hangs", asked: 3},
		{task: "c", later: 3 * time.Minute, with: "up", asked: 3},
		{task: "d", later: time.Minute, asked: 4},
	} {
		if now = now.Add(step.later); step.with != "" {
			touch(step.with)
		}
		state.Current = step.task
		begun := time.Now()
		advice := c.beforeTurn(t.Context(), state.Facts())
		if advice.Stop != "" || advice.Note != step.note || time.Since(begun) > 20*time.Second {
			t.Fatalf("task %s: %+v after %s", step.task, advice, time.Since(begun))
		}
		if got := countTrackerRequests(t, dir); got != step.asked {
			t.Fatalf("task %s: asked %d times, want %d", step.task, got, step.asked)
		}
	}
	if err := os.Remove(filepath.Join(dir, "hangs")); err != nil {
		t.Fatal(err)
	}
	now, state.Current = now.Add(time.Hour), "b"
	if diff := cmp.Diff("the tracker answers again: #8, #9 claimed", c.beforeTurn(t.Context(), state.Facts()).Note); diff != "" {
		t.Errorf("note (-want +got):\n%s", diff)
	}
	kept, err := os.ReadFile(filepath.Join(dir, ledgerName))
	if err != nil {
		t.Fatal(err)
	}
	var got ledger
	if err := json.Unmarshal(kept, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ledger{Claimed: []string{"8", "9"}, Unclaimed: []string{"7"}}, got); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	before := countTrackerRequests(t, dir)
	if state.Current = "c"; c.beforeTurn(t.Context(), state.Facts()).Note != "" || countTrackerRequests(t, dir) != before {
		t.Errorf("it asks although nothing is missing")
	}
}

// countTrackerRequests returns how often the tracker was asked.
func countTrackerRequests(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "asked")
}
