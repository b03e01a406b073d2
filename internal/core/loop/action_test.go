package loop_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// An action is one JSON object, like an event. The random walk tests this with all fields.
func TestActionsRoundTripThroughJSON(t *testing.T) {
	t.Parallel()
	for _, p := range (loop.Action{}).Variants() {
		a := loop.Action{ID: 7, Payload: p.(loop.ActionPayload)}
		data, err := json.Marshal(a)
		if err != nil || !strings.HasPrefix(string(data), `{"kind":"`+string(a.Kind())+`","id":7`) {
			t.Fatalf("%T: %s %v", p, data, err)
		}
		var back loop.Action
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(a, back); diff != "" {
			t.Errorf("%s: %s", data, diff)
		}
		for field := range reflect.TypeOf(p).Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == "kind" || name == "id" || name == "" && !field.Anonymous {
				t.Errorf("%T: the JSON name of %s is %q", p, field.Name, name)
			}
		}
	}
}
