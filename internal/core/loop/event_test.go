package loop_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// An event is one JSON object with the fields of its payload and those that all kinds share.
func TestEventsRoundTripThroughJSON(t *testing.T) {
	t.Parallel()
	shared := map[string]bool{"kind": true, "id": true, "action_id": true, "at": true, "queued_edits": true}
	for _, k := range loop.EventKinds() {
		for _, e := range append(sampleEvents(k), emptyEvent(k)) {
			e.ID, e.ActionID, e.At = "m", 7, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			e.QueuedEdits = []plan.Edit{{ID: "q", Do: plan.Skip, Task: "a"}}
			data, err := json.Marshal(e)
			if err != nil || !strings.HasPrefix(string(data), `{"kind":"`+string(k)+`",`) {
				t.Fatalf("%s: %s %v", k, data, err)
			}
			var back loop.Event
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			if diff := cmp.Diff(e, back, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s", data, diff)
			}
		}
		for field := range reflect.TypeOf(emptyEvent(k).Payload).Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == "" || shared[name] {
				t.Errorf("%s: the JSON name of %s is %q", k, field.Name, name)
			}
		}
	}
}

// Events of a newer Pawl, and events without a payload, change nothing.
func TestUnrecognizedEventsAreIgnored(t *testing.T) {
	t.Parallel()
	s := begin(t, loop.Policy{}).s
	for _, data := range []string{`{"kind":"later","at":"2026-01-02T00:00:00Z","text":"x"}`, `{"at":"2026-01-02T00:00:00Z"}`} {
		var e loop.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		now, acts := loop.Step(s, e)
		now.Now = s.Now
		if diff := cmp.Diff(s, now); diff != "" || len(acts) != 1 || !hasAnomaly(acts) {
			t.Errorf("%s: %v %s", data, acts, diff)
		}
	}
	if now, acts := loop.Step(s, loop.Event{}); now.Phase != s.Phase || len(acts) != 1 || !hasAnomaly(acts) {
		t.Errorf("without a payload: %v %v", now.Phase, acts)
	}
}
