package proc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDescendantsAreFound(t *testing.T) {
	t.Parallel()
	const self, leader = 10, 100
	k := descendantFilter{
		self: self, selfSID: 9, leader: leader, leaderStart: "5000", tag: "T",
		seen: map[identity]bool{{400, "6000"}: true},
	}
	cases := []struct {
		name string
		e    entry
		want bool
	}{
		{"child of the leader", entry{pid: 101, ppid: leader, sid: 101}, true},
		{"same session, orphaned", entry{pid: 102, ppid: 1, pgid: 102, sid: leader}, true},
		{"same group", entry{pid: 103, ppid: 1, pgid: leader}, true},
		{"tagged", entry{pid: 104, ppid: 1, sid: 104, tags: "T"}, true},
		{"tagged by a pawl below", entry{pid: 105, ppid: 1, sid: 105, tags: "T.U"}, true},
		{"tagged by another", entry{pid: 106, ppid: 1, sid: 106, tags: "U"}, false},
		{"seen before", entry{pid: 400, ppid: 1, start: "6000"}, true},
		{"same pid, later process", entry{pid: 400, ppid: 1, start: "7000"}, false},
		{"adopted orphan", entry{pid: 107, ppid: self, sid: 107, start: "5001", foreignEnv: true}, true},
		{"adopted before the leader began", entry{pid: 108, ppid: self, sid: 108, start: "999", foreignEnv: true}, false},
		{"our own child, in our session", entry{pid: 109, ppid: self, sid: 9, start: "5001", foreignEnv: true}, false},
		{"our own child before exec", entry{pid: 110, ppid: self, sid: 110, start: "5001"}, false},
		{"our own child, another process of this package", entry{pid: 111, ppid: self, sid: 111, start: "5001", foreignEnv: true, tags: "U"}, false},
		{"the leader", entry{pid: leader, ppid: self, sid: leader, tags: "T"}, false},
		{"ourselves", entry{pid: self, ppid: 1, tags: "T"}, false},
		{"init", entry{pid: 1, tags: "T"}, false},
		{"dead already", entry{pid: 112, ppid: leader, zombie: true}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := len(descendants([]entry{c.e}, k)) == 1; got != c.want {
				t.Errorf("belongs = %v, want %v", got, c.want)
			}
		})
	}
}

func TestDescendantsAreTransitive(t *testing.T) {
	t.Parallel()
	table := []entry{
		{pid: 3, ppid: 2, sid: 3}, {pid: 2, ppid: 1, tags: "T"}, {pid: 4, ppid: 3, sid: 4}, {pid: 5, ppid: 1},
	}
	var got []int
	for _, e := range descendants(table, descendantFilter{self: 10, leader: 100, tag: "T"}) {
		got = append(got, e.pid)
	}
	if diff := cmp.Diff([]int{3, 2, 4}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithTagKeepsAncestorTags(t *testing.T) {
	t.Parallel()
	env, tag := withTag([]string{"A=1", "PAWL_PROC=outer"}, "loop")
	want := []string{"A=1", "PAWL_PROC=outer", "PAWL_PROC=outer." + tag, "PAWL_LOOP=loop"}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Error(diff)
	}
	if !hasTag("outer."+tag, tag) || !hasTag("outer."+tag, "outer") || hasTag("outer", "out") || hasTag("", "") {
		t.Error("hasTag is wrong")
	}
}
