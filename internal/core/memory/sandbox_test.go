package memory_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/memory"
)

func TestSandboxIsDescribedInLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wall      memory.Sandbox
		inSession bool
		want      []string
	}{
		{memory.Sandbox{}, false, nil},
		{memory.Sandbox{Level: "tree", Mechanism: "landlock"}, false, []string{"tree, by landlock, around agent and gates"}},
		{memory.Sandbox{Level: "tree"}, true, []string{"tree, around gates and fresh sessions, not yours"}},
		{memory.Sandbox{Level: "strict", Mechanism: "bubblewrap"}, false, []string{"strict, by bubblewrap, around agent and gates", "all reach nothing"}},
		{memory.Sandbox{Level: "strict", Mechanism: "bubblewrap", AgentHosts: []string{"api"}, Hosts: []string{"a", "b"}}, false, []string{
			"strict, by bubblewrap, around agent and gates", "agents reach api, a, b", "gates reach a, b",
		}},
	} {
		if diff := cmp.Diff(c.want, c.wall.Lines(c.inSession)); diff != "" {
			t.Errorf("%+v: %s", c.wall, diff)
		}
	}
}

// Of hosts that were refused each is remembered once, and not without end.
func TestRefusedHostsAreBounded(t *testing.T) {
	t.Parallel()
	var m memory.Memory
	for i := range 200 {
		for range 2 {
			m.ApplyNote(memory.Note{Text: "refused", Host: fmt.Sprint("h", i)})
		}
	}
	if n := len(m.RefusedHosts); n != 50 || m.RefusedHosts[0] != "h0" || m.RefusedHosts[1] != "h1" || m.IsNewHost("h0") || m.IsNewHost("another") {
		t.Errorf("%d: %q", n, m.RefusedHosts)
	}
}
