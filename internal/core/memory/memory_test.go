package memory_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/memory/memorytest"
)

func TestTurnsBegunAreCounted(t *testing.T) {
	t.Parallel()
	var m memory.Memory
	begun := []int{0, 0, 1, 1, 1, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4}
	for i, e := range memorytest.Life() {
		e.At = time.Unix(int64(i), 0)
		m.Apply(e)
		if m.TurnsBegun != begun[i] {
			t.Errorf("after %d (%s, now %s): %d begun, want %d", i, e.Kind(), m.State.Phase, m.TurnsBegun, begun[i])
		}
	}
	if m.State.Outcome != loop.Verified || len(m.Results) != 1 || m.Results[0].Status != gate.Pass {
		t.Errorf("%s: %s; %+v", m.State.Outcome, m.State.Reason, m.Results)
	}
}

// entry is a record as the journal has it.
type entry struct {
	kind string
	data []byte
}

// written returns the records of a loop's life, with one of each type between its events.
func written(t *testing.T) (entries []entry) {
	t.Helper()
	add := func(kind string, data any) {
		line, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{kind, line})
	}
	others := []entry{
		{memory.TypeSession, []byte(`{"id":"s"}`)},
		{memory.TypeBase, []byte(`{"commit":"c"}`)},
		{memory.TypeBound, []byte(`{"session":"s","client":7}`)},
		{memory.TypeNote, []byte(`{"text":"n","host":"h","orphans":["1 x"],"mutation":{"commit":"c"},"guard_verdict":{"tool":"Bash","call":"x","verdict":"deny","rule":"r"}}`)},
		{memory.TypeReceipt, []byte(`{}`)},
		{memory.TypeCommittedTrees, []byte(`{}`)},
		{memory.TypeNewFiles, []byte(`{"by_user":["a"],"by_agent":["b"]}`)},
		{memory.TypeAttribution, []byte(`{"calls":3,"accepted":{"a":"1"}}`)},
		{memory.TypeToolClaim, []byte(`{"turn":1,"claim":{"tasks":["goal"]}}`)},
		{memory.TypePullRequest, []byte(`{"url":"u"}`)},
		{memory.TypeSandbox, []byte(`{"level":"tree"}`)},
	}
	for i, e := range memorytest.Life() {
		e.At = time.Unix(int64(i), 0).UTC()
		add(memory.TypeEvent, e)
		entries = append(entries, others[i%len(others)])
	}
	return append(entries, others...)
}

func fold(t *testing.T, m memory.Memory, entries []entry) memory.Memory {
	t.Helper()
	for i, e := range entries {
		var err error
		if m, err = m.Fold(e.kind, e.data); err != nil {
			t.Fatalf("record %d (%s): %v", i, e.kind, err)
		}
	}
	return m
}

// A journal has one meaning: folded at once, from any snapshot in between, or again from
// a memory that was folded from before.
func TestFoldIsDeterministic(t *testing.T) {
	t.Parallel()
	entries := written(t)
	whole := fold(t, memory.Memory{}, entries)
	if whole.State.Outcome != loop.Verified || whole.GuardLog.DeniedByRule["r"] == 0 {
		t.Fatalf("%+v", whole)
	}
	for i := range entries {
		before := fold(t, memory.Memory{}, entries[:i])
		saved, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		fold(t, before, entries[i:]) // must not change what before shares with it
		var snapshot memory.Memory
		if err := json.Unmarshal(saved, &snapshot); err != nil {
			t.Fatal(err)
		}
		for from, m := range map[string]memory.Memory{"a snapshot": snapshot, "the memory": before} {
			if diff := cmp.Diff(whole, fold(t, m, entries[i:]), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("from %s before record %d: %s", from, i, diff)
			}
		}
	}
}

func TestEveryTypeIsFolded(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range written(t) {
		seen[e.kind] = true
	}
	for _, kind := range memory.Types() {
		m, err := memory.Memory{}.Fold(kind, []byte(`"a text"`))
		decides := kind != memory.TypeReceipt && kind != memory.TypeCommittedTrees
		if !seen[kind] || (err != nil) != decides || errors.Is(err, memory.ErrUnknownType) {
			t.Errorf("%s: %v", kind, err)
		}
		if !reflect.DeepEqual(m, memory.Memory{}) {
			t.Errorf("%s: an unreadable record left %+v", kind, m)
		}
	}
	if _, err := (memory.Memory{}).Fold("of a newer pawl", nil); !errors.Is(err, memory.ErrUnknownType) {
		t.Errorf("an unknown type: %v", err)
	}
}
