package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

func TestToolClaimsOfATurnAreMerged(t *testing.T) {
	t.Parallel()
	claim := func(turn int, text string, tasks ...string) record.Message {
		return record.Message{Kind: record.MessageClaim, Turn: turn, Text: text, Tasks: tasks}
	}
	partial := record.Message{Kind: record.MessagePartial, Turn: 1, Text: "half"}
	blocked := record.Message{Kind: record.MessageBlocked, Turn: 1, Text: "no key"}
	cases := []struct {
		name string
		said []record.Message
		want memory.ToolClaim
	}{
		{"nothing", nil, memory.ToolClaim{}},
		{
			"two tasks, one of them twice",
			[]record.Message{claim(1, "x", "a"), claim(1, "y", "b"), claim(1, "z", "a")},
			memory.ToolClaim{Turn: 1, Claim: &loop.Claim{Tasks: []string{"a", "b"}, Summary: "z"}},
		},
		{
			"blocked, and then a way was found",
			[]record.Message{blocked, claim(1, "x", "a")},
			memory.ToolClaim{Turn: 1, Claim: &loop.Claim{Tasks: []string{"a"}, Summary: "x"}},
		},
		{
			"done, and then it was not",
			[]record.Message{claim(1, "x", "a"), blocked},
			memory.ToolClaim{Turn: 1, Claim: &loop.Claim{Blocked: true, Reason: "no key"}},
		},
		{
			"one done, one in part",
			[]record.Message{claim(1, "x", "a"), partial},
			memory.ToolClaim{Turn: 1, Claim: &loop.Claim{Tasks: []string{"a"}, Summary: "x"}, Partial: "half"},
		},
		{
			"another turn",
			[]record.Message{claim(1, "x", "a"), partial, claim(2, "y", "b")},
			memory.ToolClaim{Turn: 2, Claim: &loop.Claim{Tasks: []string{"b"}, Summary: "y"}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got memory.ToolClaim
			for _, m := range c.said {
				said, ok := m.ToolClaim()
				if !ok {
					t.Fatalf("%s says nothing", m.Kind)
				}
				got = got.Merge(said)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, ok := (record.Message{Kind: record.MessageNote, Text: "done"}).ToolClaim(); ok {
		t.Error("a note is a claim")
	}
}

func TestToolClaimOfAnotherTurnIsIgnored(t *testing.T) {
	t.Parallel()
	said := memory.ToolClaim{Turn: 2, Claim: &loop.Claim{Tasks: []string{"a"}}, Partial: "half"}
	m := memory.Memory{OwnerState: memory.OwnerState{TurnsBegun: 2, ToolClaim: said}}
	own := &loop.Turn{Claim: &loop.Claim{Blocked: true}}
	m.AddToolClaim(own)
	if !own.Claim.Blocked || own.Partial != "half" {
		t.Errorf("what the last message says goes before: %+v", own)
	}
	silent := &loop.Turn{}
	m.AddToolClaim(silent)
	if silent.Claim != said.Claim {
		t.Errorf("not heard: %+v", silent)
	}
	theirs := &loop.Turn{ByUser: true}
	m.AddToolClaim(theirs)
	m.TurnsBegun = 3
	late := &loop.Turn{}
	m.AddToolClaim(late)
	m.AddToolClaim(nil)
	if theirs.Claim != nil || late.Claim != nil || late.Partial != "" {
		t.Errorf("heard in a turn of the user's %+v, in a later one %+v", theirs, late)
	}
}
