package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/record"
)

// After a crash nobody knows who changed a file since the agent's last command began: it is the agent's, so that
// no work is lost, and named.
func TestAnEditAfterACrashIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib.txt": "lib\n"})
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = &second{Agent: d.Agent, n: 1, then: kill}
	if _, err := b.drive(ctx, d, teller{t}); err == nil {
		t.Fatal("not killed")
	}
	if err := record.AppendCall(record.RunnerCallsPath(b.loop), authorship.Call{Tool: "Bash", Command: "make", At: time.Now()}); err != nil {
		t.Fatal(err) // a call that has no end
	}
	time.Sleep(10 * fileDoubt)
	b.write("lib.txt", "mine\n")
	b.write("new.txt", "mine\n")
	b.rewrite(haveAll)
	w := &hears{onStep: onStep{teller: teller{t}}}
	b.resume(w)
	if !w.note("changed since the turn that was cut off began, treated as the agent's work, perhaps yours: lib.txt") {
		t.Errorf("notes: %q", w.notes)
	}
	if !w.note("new since the turn that was cut off began, treated as the agent's work, perhaps yours: new.txt") {
		t.Errorf("notes: %q", w.notes)
	}
}
