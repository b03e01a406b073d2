package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/memory/memorytest"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

var spec = record.Spec{
	Request:     record.Request{Prompt: "have every word", Tasks: memorytest.Tasks()},
	TurnOptions: record.TurnOptions{Promise: "DONE"},
	Policy:      memorytest.Policy(),
}

// The memory is the same whether it is folded at once, event by event, or from any
// snapshot in between.
func TestLoadIsTheSameFromAnySnapshot(t *testing.T) {
	t.Parallel()
	l, err := store.Open(t.TempDir()).Create("/project", spec)
	if err != nil {
		t.Fatal(err)
	}
	o, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var live memory.Memory
	live.Bound = memory.BoundSession{Session: "s1", Agent: "claude", Client: 7}
	if _, err := o.Append(journal.Entry{Type: memory.TypeBound, Data: memory.BoundSession{Session: "s0"}}, journal.Entry{Type: memory.TypeBound, Data: live.Bound}); err != nil {
		t.Fatal(err)
	}
	for i, e := range memorytest.Life() {
		e.At = time.Unix(int64(i), 0)
		e, data, err := record.Event(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		live.Apply(e)
		if _, err := o.Append(journal.Entry{Type: memory.TypeEvent, Data: data}, journal.Entry{Type: memory.TypeReceipt, Data: 1}); err != nil {
			t.Fatal(err)
		}
		behind, mark, err := record.Load(l)
		if diff := cmp.Diff(live, behind, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(memory.Memory{}, "Notices")); err != nil || diff != "" {
			t.Fatalf("after %d (%s): live (-), folded (+) %v\n%s", i, e.Kind(), err, diff)
		}
		if i%3 == 0 {
			if err := o.Save(mark, behind, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(l.Dir, "state.json")); err != nil {
		t.Fatal(err)
	}
	again, _, err := record.Load(l)
	if diff := cmp.Diff(live, again, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(memory.Memory{}, "Notices")); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	sum, err := record.ReadSummary(l)
	if err != nil || sum.State != "ended" || sum.Outcome != loop.Verified || sum.Session != "s1" || !sum.InSession || sum.Tasks.Done != 1 || sum.Goal != spec.Prompt {
		t.Errorf("%+v %v", sum, err)
	}
}

// An older Pawl must refuse a loop with a record that it does not know: so another type
// needs another version.
func TestVersionNamesTypes(t *testing.T) {
	t.Parallel()
	const want = "3: event session base bound note receipt committed_trees new_files attribution tool_claim pull_request sandbox"
	if got := fmt.Sprint(journal.Version, ": ", strings.Join(memory.Types(), " ")); got != want {
		t.Errorf("raise journal.Version where types change:\n%s, want\n%s", got, want)
	}
}

func TestLoadNamesUnreadableRecord(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{memory.TypeEvent, memory.TypeSession, memory.TypeBound, memory.TypeAttribution, memory.TypeBase} {
		l, err := store.Open(t.TempDir()).Create("/project", spec)
		if err != nil {
			t.Fatal(err)
		}
		o, err := l.Own(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Append(journal.Entry{Type: kind, Data: "a text"}); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := record.Load(l); err == nil {
			t.Errorf("%s: a text was read", kind)
		}
	}
}

// What was built counts; until it stands, what was asked for.
func TestEffectiveSandboxIsTheBuiltOne(t *testing.T) {
	t.Parallel()
	built := memory.Sandbox{Level: "strict", Mechanism: "bubblewrap", AgentHosts: []string{"api"}}
	for _, c := range []struct {
		wall memory.Sandbox
		spec record.Spec
		want memory.Sandbox
	}{
		{want: memory.Sandbox{}},
		{spec: record.Spec{Protection: record.Protection{Confine: "off", ConfineHosts: []string{"a"}}}},
		{spec: record.Spec{Protection: record.Protection{Confine: "tree", ConfineHosts: []string{"a"}}}, want: memory.Sandbox{Level: "tree"}},
		{spec: record.Spec{Protection: record.Protection{Confine: "strict", ConfineHosts: []string{"a"}}}, want: memory.Sandbox{Level: "strict", Hosts: []string{"a"}}},
		{wall: built, spec: record.Spec{Protection: record.Protection{Confine: "strict", ConfineHosts: []string{"a"}}}, want: built},
	} {
		got := c.spec.EffectiveSandbox(memory.Memory{OwnerState: memory.OwnerState{Sandbox: c.wall}})
		if diff := cmp.Diff(c.want, got); diff != "" || !got.Equal(c.want) {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}
