package loop_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// encoding/json silently drops fields of two embedded structs with the same key.
func TestStateFieldsHaveUniqueJSONKeys(t *testing.T) {
	t.Parallel()
	groups := map[string]string{}
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		for f := range of.Fields() {
			if f.Anonymous {
				walk(f.Type)
				continue
			}
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key == "" || groups[key] != "" {
				t.Errorf("%s.%s has the key %q of %s", of.Name(), f.Name, key, groups[key])
			}
			groups[key] = of.Name()
		}
	}
	walk(reflect.TypeFor[loop.State]())
}
