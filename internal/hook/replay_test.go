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

// A daemon that dies over its answer may have done all of it but say it: whoever
// answers the event once more says the same, and the turn counts once. The next stop
// counts, also where the agent ends it in the same words.
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
			d := &dialogue{world: newWorld(t)}
			d.begin(usual())
			d.do("gates", "red red red")
			payload := d.payload(c.event)
			first := d.call(payload, "m1x2y3z4abcd-4711", "claude")
			ended, begun := d.turns()
			if again := d.call(payload, "", "claude", "--again=m1x2y3z4abcd-4711"); again != first {
				t.Errorf("answered again: %s", cmp.Diff(first, again))
			}
			if e, b := d.turns(); e != 1 || e != ended || b != begun {
				t.Errorf("%d turns ended and %d begun, then %d and %d", ended, begun, e, b)
			}
			d.call(payload, "m1x2y3z4abce-4712", "claude")
			if e, _ := d.turns(); e != 2 {
				t.Errorf("%d turns ended with another stop in the same words", e)
			}
		})
	}
}

// call returns the tool call of the event.
func (d *dialogue) call(payload []byte, id string, args ...string) string {
	d.t.Helper()
	var out, problem bytes.Buffer
	code := Run(d.t.Context(), Call{
		ID: id, Args: args, In: bytes.NewReader(payload), Out: &out, Err: &problem, Env: d.env,
		Tool: os.Args[:1], Parent: os.Getppid(), start: asChild,
	})
	return fmt.Sprintf("%d %s%s", code, out.String(), problem.String())
}

// turns are how many turns have ended by the journal, and how many were begun.
func (d *dialogue) turns() (ended, begun int) {
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
