package hook

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/record"
)

// A message for now comes with the result of the next tool, once. A daemon that died may
// not have said it: whoever answers that event again does.
func TestMessageAfterATool(t *testing.T) {
	t.Parallel()
	d := &dialogue{world: newWorld(t)}
	d.begin(usual())
	used := d.payload(`PostToolUse {"tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"t1"}`)
	if got := d.call(used, "m1x2y3z4abca-1", "claude"); got != "0 " {
		t.Errorf("without a message: %s", got)
	}
	s, err := (&handler{Call: Call{Env: d.env}}).acquire(t.Context(), d.binding(d.loop.ID))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := record.Message{Kind: record.MessageNote, Text: "use port 8081", DuringTurn: true}.Event()
	e.ID = "note-1"
	if err := s.step(e); err != nil {
		t.Fatal(err)
	}
	if err := s.release(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record.DeliverPath(d.loop), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first := d.call(used, "m1x2y3z4abcb-2", "claude")
	if !strings.Contains(first, `"additionalContext":"[Pawl] The user says: use port 8081`) {
		t.Errorf("told %s", first)
	}
	if again := d.call(used, "", "claude", "--again=m1x2y3z4abcb-2"); again != first {
		t.Errorf("answered again: %s", again)
	}
	if got := d.call(used, "m1x2y3z4abcc-3", "claude"); got != "0 " {
		t.Errorf("told twice: %s", got)
	}
}
