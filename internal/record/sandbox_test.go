package record_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/record"
)

func TestSandboxLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wall     record.Sandbox
		attended bool
		want     []string
	}{
		{record.Sandbox{}, false, nil},
		{record.Sandbox{Level: "tree", Mechanism: "landlock"}, false, []string{"tree, by landlock, around agent and gates"}},
		{record.Sandbox{Level: "tree"}, true, []string{"tree, around gates and fresh sessions, not yours"}},
		{record.Sandbox{Level: "strict", Mechanism: "bubblewrap"}, false, []string{"strict, by bubblewrap, around agent and gates", "all reach nothing"}},
		{record.Sandbox{Level: "strict", Mechanism: "bubblewrap", Endpoint: []string{"api"}, Hosts: []string{"a", "b"}}, false, []string{
			"strict, by bubblewrap, around agent and gates", "agents reach api, a, b", "gates reach a, b",
		}},
	} {
		if diff := cmp.Diff(c.want, c.wall.Lines(c.attended)); diff != "" {
			t.Errorf("%+v: %s", c.wall, diff)
		}
	}
}

// What was built counts; until it stands, what was asked for.
func TestEffectiveSandbox(t *testing.T) {
	t.Parallel()
	built := record.Sandbox{Level: "strict", Mechanism: "bubblewrap", Endpoint: []string{"api"}}
	for _, c := range []struct {
		wall record.Sandbox
		spec record.Spec
		want record.Sandbox
	}{
		{want: record.Sandbox{}},
		{spec: record.Spec{Confine: "off", ConfineHosts: []string{"a"}}},
		{spec: record.Spec{Confine: "tree", ConfineHosts: []string{"a"}}, want: record.Sandbox{Level: "tree"}},
		{spec: record.Spec{Confine: "strict", ConfineHosts: []string{"a"}}, want: record.Sandbox{Level: "strict", Hosts: []string{"a"}}},
		{wall: built, spec: record.Spec{Confine: "strict", ConfineHosts: []string{"a"}}, want: built},
	} {
		got := record.Memory{Sandbox: c.wall}.EffectiveSandbox(c.spec)
		if diff := cmp.Diff(c.want, got); diff != "" || !got.Equal(c.want) {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}

// Of hosts that were refused each is remembered once, and not without end.
func TestRefusedHostsAreBounded(t *testing.T) {
	t.Parallel()
	var m record.Memory
	for i := range 200 {
		for range 2 {
			m.ApplyNote(record.Note{Text: "refused", Host: fmt.Sprint("h", i)})
		}
	}
	if n := len(m.RefusedHosts); n != 50 || m.RefusedHosts[0] != "h0" || m.RefusedHosts[1] != "h1" || m.IsNewHost("h0") || m.IsNewHost("another") {
		t.Errorf("%d: %q", n, m.RefusedHosts)
	}
}
