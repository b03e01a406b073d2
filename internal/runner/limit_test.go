package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// greedyAgent is an agent whose turn uses tokens and does not end by itself.
type greedyAgent struct{ agent.Agent }

type greedySession struct{ agent.Session }

func (a greedyAgent) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	s, err := a.Agent.Start(ctx, o)
	return greedySession{s}, err
}

func (greedySession) Turn(ctx context.Context, _ agent.Turn, emit func(agent.Event)) (agent.Result, error) {
	used := loop.Usage{}
	for ctx.Err() == nil {
		used.Output += 1000
		emit(agent.Event{Kind: agent.KindUsage, Usage: used})
		time.Sleep(5 * time.Millisecond)
	}
	return agent.Result{SessionID: "greedy", Usage: used, Failure: &loop.Failure{Class: loop.Interrupted, Message: "interrupted"}}, nil
}

func TestTokenLimitEndsRunningTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(map[string]any{"max_tokens": "50000"}))
	d.Agent = greedyAgent{d.Agent}
	s, err := b.drive(t.Context(), d, silentObserver{})
	if err != nil || s.Outcome != loop.Budget || s.Turns != 1 {
		t.Fatalf("%s after %d turns: %v", s.Outcome, s.Turns, err)
	}
	if s.Usage.Tokens() < 50_000 {
		t.Errorf("ended after %d tokens", s.Usage.Tokens())
	}
}

// silentObserver ignores all events.
type silentObserver struct{ logObserver }

func (silentObserver) Stepped(loop.State, loop.Event, []loop.Action) {}
func (silentObserver) Agent(agent.Event)                             {}
func (silentObserver) Note(memory.Note)                              {}

func TestTimeLimitEndsPeriodicWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run("-- 1/reply --\nlooked\n", []string{"look at it"}, map[string]any{"every": "1h", "max_duration": "1s"})
	if s.Outcome != loop.Finished || s.Turns != 1 {
		t.Fatalf("%s after %d turns: %s", s.Outcome, s.Turns, s.Reason)
	}
}

func TestTimeLimitStopsGateBeforeWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	from := time.Now()
	s := b.run("", []string{"look at it"}, map[string]any{"gates": []string{"sleep 60"}, "max_duration": "1s"})
	if s.Outcome != loop.Duration || s.Turns != 0 {
		t.Fatalf("%s after %d turns: %s", s.Outcome, s.Turns, s.Reason)
	}
	if took := time.Since(from); took > 40*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestDuplicateMessageIsReceivedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("-- 1/sleep --\n30s\n", []string{"have every word"}, withGate(nil))
	if err := d.Loop.Post("id-1", record.Message{Kind: record.MessageNote, Text: "look at want.txt"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.drive(ctx, d, &onStep{logObserver: logObserver{t}, at: loop.KindMessageArrived, then: kill}); err == nil {
		t.Fatal("not killed")
	}
	inbox := filepath.Join(b.loop.Dir, "inbox") // as it is if the owner dies before it acknowledges
	done, err := filepath.Glob(filepath.Join(inbox, "done", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range done {
		if err := os.Rename(name, filepath.Join(inbox, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	b.rewrite("-- 1/sleep --\n600ms\n-- 1/reply --\nthinking\n" + strings.ReplaceAll(haveAll, "1/", "2/"))
	s := b.resume(logObserver{t})
	told := 0
	for _, n := range []string{"0001", "0002"} {
		told += strings.Count(b.file("iterations", n, "prompt.md"), "look at want.txt")
	}
	if s.Outcome != loop.Verified || told != 1 {
		t.Fatalf("%s; told %d times: %s", s.Outcome, told, s.Reason)
	}
}
