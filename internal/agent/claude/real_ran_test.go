package claude_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// How a command ended comes with its result: the client writes the exit code of
// one that failed into the first line.
func TestClientCommandsTellHowTheyEnded(t *testing.T) {
	r := newRig(
		t, messagesapi.Bash("echo out; echo err >&2; exit 3"), messagesapi.Bash("echo fine"), messagesapi.Bash("false"), messagesapi.Text("done"),
	)
	mustEnd(t, r.turn(r.start(), "run them"))
	var got []agent.Ran
	for _, e := range r.saw(agent.KindToolEnd) {
		if e.Ran != nil {
			got = append(got, *e.Ran)
		}
	}
	want := []agent.Ran{
		{Command: "echo out; echo err >&2; exit 3", ExitCode: 3, Output: "out\nerr"},
		{Command: "echo fine", Output: "fine"},
		{Command: "false", ExitCode: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
