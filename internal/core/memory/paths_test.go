package memory_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/memory"
)

// No byte of a name is lost on its way through JSON: a file with another name is another file.
func FuzzPaths(f *testing.F) {
	for _, name := range []string{"a.txt", "c\xff.txt", `"a"`, `"`, "a\nb", "`a`", `\"a`, "ä\xe4"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		want := memory.Paths{name, "b"}
		data, err := json.Marshal(want)
		var got memory.Paths
		if err == nil {
			err = json.Unmarshal(data, &got)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q came back as %q (%v)", want, got, err)
		}
	})
}
