package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/record"
)

// After a crash, nothing shows who changed a file since the agent's last command began. It is
// attributed to the agent, so that no work is lost, and reported.
func TestEditAfterCrashIsAttributedToAgentAndReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib.txt": "lib\n"})
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = &killedAtSecondStart{Agent: d.Agent, n: 1, then: kill}
	if _, err := b.drive(ctx, d, logObserver{t}); err == nil {
		t.Fatal("not killed")
	}
	if err := record.AppendCall(record.RunnerCallsPath(b.loop), authorship.Call{Tool: "Bash", Command: "make", At: time.Now()}); err != nil {
		t.Fatal(err) // a call without an end
	}
	time.Sleep(10 * fileDoubt)
	b.write("lib.txt", "mine\n")
	b.write("new.txt", "mine\n")
	b.rewrite(haveAll)
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	b.resume(w)
	if !w.hasNote("changed since the turn that was cut off began, treated as the agent's work, perhaps yours: lib.txt") {
		t.Errorf("notes: %q", w.notes)
	}
	if !w.hasNote("new since the turn that was cut off began, treated as the agent's work, perhaps yours: new.txt") {
		t.Errorf("notes: %q", w.notes)
	}
}
