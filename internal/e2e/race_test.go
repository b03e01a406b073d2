//go:build unix

package e2e_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestConcurrentResumesGiveOneOwner kills a loop's owner and resumes the loop in two processes at
// once, of which the new owner is killed in turn. There is one owner at a time, and the loop ends as
// without kills.
func TestConcurrentResumesGiveOneOwner(t *testing.T) {
	t.Parallel()
	const rounds = 4
	calm := newKillBench(t, killScripts["detours"])
	calm.runWithKills(0)
	b := newKillBench(t, killScripts["detours"])
	r := b.start("run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", b.home+"/script.txtar", "--quiet")
	r.waitUntil("there is a loop", func() bool { return b.pawl("list", "--json").contains(`"id"`) })
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
		if res := loser.wait(); !res.contains("continues") && !res.contains("is running already") && b.status().State != "ended" {
			t.Errorf("the one that does not own the loop: %s", res)
		}
	}
	r.wait()
	if b.status().State != "ended" {
		b.checkExitCode(b.pawl("resume", ".", "--quiet"), 0)
	}
	b.checkNothingLost(rounds, calm.status().Iteration)
	b.checkOneOwner()
}

// TestHookAndRunnerRaceGivesOneOwner hands a loop over and resumes it at the moment when its
// session's turn ends.
func TestHookAndRunnerRaceGivesOneOwner(t *testing.T) {
	t.Parallel()
	s := newHandoverBench(t, 0)
	s.race = true
	s.continueWithKills()
	s.race = false
	s.checkNothingLost()
}

// startUnchecked runs pawl in the background. Its exit code is not checked, because it depends on
// timing.
func (b *bench) startUnchecked(args ...string) (ended func()) {
	r := b.start(args...)
	return func() { r.wait() }
}

// checkOneOwner checks that each journal record is of the owner that last took the loop, and that no
// action has ended twice.
func (b *bench) checkOneOwner() {
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
