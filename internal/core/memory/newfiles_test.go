package memory

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the agent changed since a base adds up, and what the user did is as it stands. Another base begins anew.
func TestEditsOfOneBaseAddUp(t *testing.T) {
	t.Parallel()
	n := NewFiles{Edits: &Edits{Since: "a", ByUser: Paths{"lib.txt", "gone.txt"}, Deleted: Paths{"gone.txt"}, ByAgent: Paths{"one.go"}}}
	n = n.Merge(NewFiles{ByUser: Paths{"notes.txt"}})
	n = n.Merge(NewFiles{Edits: &Edits{Since: "a", ByUser: Paths{"lib.txt"}, ByAgent: Paths{"two.go"}}, UserEditsAtClaim: &Paths{"lib.txt"}})
	want := Edits{Since: "a", ByUser: Paths{"lib.txt"}, ByAgent: Paths{"one.go", "two.go"}}
	if diff := cmp.Diff(want, *n.Edits); diff != "" {
		t.Errorf("same base: %s", diff)
	}
	if diff := cmp.Diff([]string{"notes.txt", "lib.txt"}, n.ExcludedFiles()); diff != "" || !n.IsClaimUserEdit("lib.txt") {
		t.Errorf("untouched: %s", diff)
	}
	if diff := cmp.Diff([]string{"notes.txt"}, n.WithUserEdits(nil).ExcludedFiles()); diff != "" {
		t.Errorf("without edits: %s", diff)
	}
	n = n.Merge(NewFiles{Edits: &Edits{Since: "b", ByAgent: Paths{"three.go"}}, UserEditsAtClaim: &Paths{}})
	if diff := cmp.Diff(Edits{Since: "b", ByAgent: Paths{"three.go"}}, *n.Edits); diff != "" || n.IsClaimUserEdit("lib.txt") {
		t.Errorf("another base: %s", diff)
	}
	kept, err := json.Marshal(n)
	var again NewFiles
	if err != nil || json.Unmarshal(kept, &again) != nil || cmp.Diff(n, again) != "" {
		t.Errorf("kept as %s: %v", kept, err)
	}
}
