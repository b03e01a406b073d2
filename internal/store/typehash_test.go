package store

import (
	"reflect"
	"strings"
	"testing"
)

type action struct{}

func (action) MarshalJSON() ([]byte, error) { return []byte(`{"kind":"wait"}`), nil }

type wait struct{ Until string }

func (action) Variants() []any { return []any{wait{}} }

// A type that encodes itself as one of several types is another type if one of these is.
func TestTypeHashIncludesVariants(t *testing.T) {
	t.Parallel()
	for _, of := range []reflect.Type{reflect.TypeFor[action](), reflect.TypeFor[[]*action]()} {
		var b strings.Builder
		if writeType(&b, of, map[reflect.Type]bool{}); !strings.Contains(b.String(), "wait{Until ") {
			t.Errorf("%s: %s", of, &b)
		}
	}
}
