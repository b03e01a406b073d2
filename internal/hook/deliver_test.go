package hook

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/record"
)

// An urgent message comes once, with the result of the next tool. A daemon that died may not have
// delivered it, so an event that is sent again gets it again.
func TestUrgentMessageComesWithNextToolResult(t *testing.T) {
	t.Parallel()
	d := &dialogue{fixture: newFixture(t)}
	d.begin(usualSpec())
	used := d.payload(`PostToolUse {"tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"t1"}`)
	if got := d.runHookWithCallID(used, "m1x2y3z4abca-1", "claude"); got != "0 " {
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
	first := d.runHookWithCallID(used, "m1x2y3z4abcb-2", "claude")
	if !strings.Contains(first, `"additionalContext":"[Pawl] The user says: use port 8081`) {
		t.Errorf("told %s", first)
	}
	if again := d.runHookWithCallID(used, "", "claude", "--again=m1x2y3z4abcb-2"); again != first {
		t.Errorf("answered again: %s", again)
	}
	if got := d.runHookWithCallID(used, "m1x2y3z4abcc-3", "claude"); got != "0 " {
		t.Errorf("told twice: %s", got)
	}
}
