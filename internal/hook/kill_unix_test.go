//go:build unix

package hook

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
)

var kills = flag.Int("kills", 40, "how often TestKilledHooksLoseNoTurn kills a hook of each loop; a fifth with -short")

// killedSession is a session whose hooks are killed at random times.
type killedSession struct {
	*dialogue
	given int // the last turn that the session was told
	ended int // turns that had ended then
}

// runHookProcess runs the hook as a separate process and kills it after a duration; 0 means never. It
// returns the output until then.
func (k *killedSession) runHookProcess(payload []byte, after time.Duration) []byte {
	k.t.Helper()
	cmd := exec.Command(os.Args[0], "claude")
	cmd.Env = []string{
		role + "=" + asHook, "PAWL_HOME=" + k.home, "HOME=" + k.env.Home, "CLAUDECODE=1",
		"CLAUDE_PID=" + strconv.Itoa(os.Getpid()), "CLAUDE_PROJECT_DIR=" + k.root, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0",
	}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = bytes.NewReader(payload), &out
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	if after > 0 {
		time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	}
	err := cmd.Wait()
	if after == 0 && err != nil {
		k.t.Fatal("hook:", err)
	}
	return out.Bytes()
}

// waitUntilIdle waits until no process drives the loop.
func (k *killedSession) waitUntilIdle() {
	k.t.Helper()
	for range 500 {
		_, alive, err := k.loop.Holder()
		if err != nil {
			k.t.Fatal(err)
		}
		if !alive {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	k.t.Fatal("the loop is held for ever")
}

// check fails if the loop is lost, or if a turn was begun twice.
func (k *killedSession) check(out []byte) {
	k.t.Helper()
	m, _, err := record.Load(k.loop)
	if err != nil || m.State.Phase == loop.Ended {
		k.t.Fatalf("%s %s: %v", m.State.Phase, m.State.Reason, err)
	}
	b, err := session.Open(k.home).Find("s1")
	if err != nil || b.Loop != k.loop.ID {
		k.t.Fatalf("the binding: %+v %v", b, err)
	}
	if !bytes.HasSuffix(out, []byte("\n")) { // killed before it had printed all: the client takes it for nothing
		return
	}
	if bad := answerFaults(codec.Stop, out); bad != nil {
		k.t.Fatalf("%q\n%s", bad, out)
	}
	if !bytes.Contains(out, []byte("additionalContext")) {
		return
	}
	if b.GivenTurns <= k.given || k.turnsEnded() == k.ended {
		k.t.Fatalf("turn %d after turn %d, %d turns had ended, now %d\n%s", b.GivenTurns, k.given, k.ended, k.turnsEnded(), out)
	}
	k.given, k.ended = b.GivenTurns, k.turnsEnded()
}

func (k *killedSession) turnsEnded() int {
	data, err := os.ReadFile(k.loop.Dir + "/journal.jsonl")
	if err != nil {
		k.t.Fatal(err)
	}
	return bytes.Count(data, []byte(`"kind":"turn_ended"`))
}

// A hook may be killed between any two of its steps. The loop is never lost, no turn begins twice
// without an end in between, and the next stop continues.
func TestKilledHooksLoseNoTurn(t *testing.T) {
	most := *kills
	if testing.Short() {
		most /= 5
	}
	for _, asked := range []string{"nogates", "everyturn"} {
		t.Run(asked, func(t *testing.T) {
			t.Parallel()
			k := &killedSession{dialogue: &dialogue{fixture: newFixture(t)}}
			k.begin(specOf(t, []string{asked, "iterations=0"}))
			k.given = 1
			usual := k.usualStopTime()
			seen := map[bool]int{}
			for i := range most {
				k.perform("used", "")
				payload := k.payload(fmt.Sprintf(`Stop {"stop_hook_active":true,"last_assistant_message":"turn %d"}`, i))
				out := k.runHookProcess(payload, 1+rand.N(usual+usual/2))
				seen[len(out) > 0]++
				k.check(out)
				if i%4 > 0 {
					continue
				}
				k.waitUntilIdle()
				out = k.runHookProcess(k.payload(fmt.Sprintf(`Stop {"stop_hook_active":true,"last_assistant_message":"after %d"}`, i)), 0)
				if !strings.Contains(string(out), "additionalContext") {
					t.Fatalf("after kill %d: %s", i, out)
				}
				k.check(out)
			}
			time.Sleep(500 * time.Millisecond) // what a killed hook has just started
			k.waitUntilIdle()
			if good, _, err := k.loop.VerifyJournal(); err != nil {
				t.Errorf("the journal holds to record %d: %v", good, err)
			}
			t.Logf("a stop takes %s; %d were killed before they had answered, %d after", usual, seen[false], seen[true])
		})
	}
}

// usualStopTime returns the duration of a stop that is not killed.
func (k *killedSession) usualStopTime() time.Duration {
	var sum time.Duration
	const n = 5
	for i := range n {
		k.perform("used", "")
		at := time.Now()
		k.check(k.runHookProcess(k.payload(fmt.Sprintf(`Stop {"stop_hook_active":true,"last_assistant_message":"first %d"}`, i)), 0))
		sum += time.Since(at)
	}
	return sum / n
}
