package hook

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// A daemon may die after its work and before its answer. An event that is sent again gets the same
// answer, and the turn counts once. The next stop counts, even if the agent ends it with the same
// text.
func TestReplayedEventCountsOnce(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, event string }{
		{"a turn", `Stop`},
		{"a claim", `Stop {"last_assistant_message":"<promise>DONE</promise>"}`},
		{"an error of the API", `StopFailure {"error":"overloaded"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := &dialogue{fixture: newFixture(t)}
			d.begin(usualSpec())
			d.perform("gates", "red red red")
			payload := d.payload(c.event)
			first := d.runHookWithCallID(payload, "m1x2y3z4abcd-4711", "claude")
			ended, begun := d.countTurns()
			if again := d.runHookWithCallID(payload, "", "claude", "--again=m1x2y3z4abcd-4711"); again != first {
				t.Errorf("answered again: %s", cmp.Diff(first, again))
			}
			if e, b := d.countTurns(); e != 1 || e != ended || b != begun {
				t.Errorf("%d turns ended and %d begun, then %d and %d", ended, begun, e, b)
			}
			d.runHookWithCallID(payload, "m1x2y3z4abce-4712", "claude")
			if e, _ := d.countTurns(); e != 2 {
				t.Errorf("%d turns ended with another stop in the same words", e)
			}
		})
	}
}

// runHookWithCallID runs the hook on an event with the id of its call, and returns the answer.
func (d *dialogue) runHookWithCallID(payload []byte, id string, args ...string) string {
	d.t.Helper()
	var out, problem bytes.Buffer
	code := Run(d.t.Context(), Call{
		ID: id, Args: args, In: bytes.NewReader(payload), Out: &out, Err: &problem, Env: d.env,
		Tool: os.Args[:1], Parent: os.Getppid(), start: startChild,
	})
	return fmt.Sprintf("%d %s%s", code, out.String(), problem.String())
}

// countTurns returns how many turns have ended and begun, by the journal.
func (d *dialogue) countTurns() (ended, begun int) {
	d.t.Helper()
	data, err := os.ReadFile(d.loop.Dir + "/journal.jsonl")
	if err != nil {
		d.t.Fatal(err)
	}
	m, _, err := record.Load(d.loop)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, kind := range []loop.EventKind{loop.KindTurnEnded, loop.KindAgentFailed} {
		ended += strings.Count(string(data), fmt.Sprintf(`"kind":%q`, kind))
	}
	return ended, m.TurnsBegun
}
