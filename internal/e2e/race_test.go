//go:build unix

package e2e_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestResumesRace kills a loop's owner, and has two processes resume the loop at once, of
// which the one that gets it is killed in turn. One owns the loop at a time, and it ends as
// if nobody else had been there.
func TestResumesRace(t *testing.T) {
	t.Parallel()
	const rounds = 4
	calm := newKillBench(t, stories["detours"])
	calm.until(0)
	b := newKillBench(t, stories["detours"])
	r := b.start("run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", b.home+"/script.txtar", "--quiet")
	r.until("there is a loop", func() bool { return b.pawl("list", "--json").says(`"id"`) })
	for range rounds {
		time.Sleep(rand.N(300 * time.Millisecond))
		_ = r.cmd.Process.Kill()
		r.wait()
		if b.status().State == "ended" {
			break
		}
		loser, winner := b.start("resume", ".", "--quiet"), b.start("resume", ".", "--quiet")
		select {
		case <-loser.done:
		case <-winner.done:
			loser, winner = winner, loser
		case <-time.After(timeout):
			t.Fatalf("two owners at once\n%s", b.pawl("log", ".").out)
		}
		r = winner
		if res := loser.wait(); !res.says("continues") && !res.says("is running already") && b.status().State != "ended" {
			t.Errorf("the one that does not own the loop: %s", res)
		}
	}
	r.wait()
	if b.status().State != "ended" {
		b.ended(b.pawl("resume", ".", "--quiet"), 0)
	}
	b.unharmed(rounds, calm.status().Iteration)
	b.oneOwner()
}

// TestHookAndRunnersRace has a loop handed over and resumed at the moment at which its
// session's turn ends.
func TestHookAndRunnersRace(t *testing.T) {
	t.Parallel()
	s := newSeat(t, 0)
	s.race = true
	s.until()
	s.race = false
	s.unharmed()
}

// asked runs pawl beside the test, which continues before it has ended. Whether it gets what
// it asks for depends on who is first.
func (b *bench) asked(args ...string) (ended func()) {
	r := b.start(args...)
	return func() { r.wait() }
}

// oneOwner checks that each record of the journal is of the owner that was the last to
// take the loop, and that no action has ended twice.
func (b *bench) oneOwner() {
	b.t.Helper()
	owner, ends := 0, map[int]int{}
	for line := range strings.Lines(b.pawl("log", ".", "--json").out) {
		var r struct {
			Seq, Epoch int
			Type       string
			Data       struct {
				Kind     string
				ActionID int `json:"action_id"`
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			b.t.Fatal(err)
		}
		if r.Type == "owner_taken" {
			if r.Epoch <= owner {
				b.t.Errorf("record %d: owner %d after owner %d", r.Seq, r.Epoch, owner)
			}
			owner = r.Epoch
		}
		if r.Epoch != owner {
			b.t.Errorf("record %d is of owner %d, while %d has the loop", r.Seq, r.Epoch, owner)
		}
		if before := ends[r.Data.ActionID]; r.Type == "event" && r.Data.ActionID != 0 {
			if ends[r.Data.ActionID] = r.Seq; before != 0 {
				b.t.Errorf("records %d and %d end one action: %s", before, r.Seq, r.Data.Kind)
			}
		}
	}
}
