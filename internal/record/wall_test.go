package record_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/record"
)

func TestWordsOfAWall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wall     record.Wall
		attended bool
		want     []string
	}{
		{record.Wall{}, false, nil},
		{record.Wall{Level: "tree", By: "landlock"}, false, []string{"tree, by landlock, around agent and gates"}},
		{record.Wall{Level: "tree"}, true, []string{"tree, around gates and fresh sessions, not yours"}},
		{record.Wall{Level: "strict", By: "bubblewrap"}, false, []string{"strict, by bubblewrap, around agent and gates", "all reach nothing"}},
		{record.Wall{Level: "strict", By: "bubblewrap", Endpoint: []string{"api"}, Hosts: []string{"a", "b"}}, false, []string{
			"strict, by bubblewrap, around agent and gates", "agents reach api, a, b", "gates reach a, b",
		}},
	} {
		if diff := cmp.Diff(c.want, c.wall.Words(c.attended)); diff != "" {
			t.Errorf("%+v: %s", c.wall, diff)
		}
	}
}

// What was built counts; until it stands, what was asked for.
func TestWhatConfines(t *testing.T) {
	t.Parallel()
	built := record.Wall{Level: "strict", By: "bubblewrap", Endpoint: []string{"api"}}
	for _, c := range []struct {
		wall record.Wall
		spec record.Spec
		want record.Wall
	}{
		{want: record.Wall{}},
		{spec: record.Spec{Confine: "off", ConfineHosts: []string{"a"}}},
		{spec: record.Spec{Confine: "tree", ConfineHosts: []string{"a"}}, want: record.Wall{Level: "tree"}},
		{spec: record.Spec{Confine: "strict", ConfineHosts: []string{"a"}}, want: record.Wall{Level: "strict", Hosts: []string{"a"}}},
		{wall: built, spec: record.Spec{Confine: "strict", ConfineHosts: []string{"a"}}, want: built},
	} {
		got := record.Memory{Wall: c.wall}.Confined(c.spec)
		if diff := cmp.Diff(c.want, got); diff != "" || !got.Same(c.want) {
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
			m.Take(record.Note{Text: "refused", Host: fmt.Sprint("h", i)})
		}
	}
	if n := len(m.Refused); n != 50 || m.Refused[0] != "h0" || m.Refused[1] != "h1" || m.NewHost("h0") || m.NewHost("another") {
		t.Errorf("%d: %q", n, m.Refused)
	}
}
