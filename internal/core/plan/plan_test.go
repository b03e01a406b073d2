package plan_test

import (
	"reflect"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Each field but the mark and its line makes two tasks different.
func TestSameButMark(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[plan.Task]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		var other plan.Task
		switch f := reflect.ValueOf(&other).Elem().Field(i); f.Interface().(type) {
		case string:
			f.SetString("x")
		case []string:
			f.Set(reflect.ValueOf([]string{"x"}))
		case bool:
			f.SetBool(true)
		case int:
			f.SetInt(1)
		default:
			t.Fatalf("%s has a type that this test does not know", name)
		}
		if got, want := other.SameButMark(plan.Task{}), name == "Done" || name == "Line"; got != want {
			t.Errorf("another %s: the same is %t", name, got)
		}
	}
}
