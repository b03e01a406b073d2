package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// What is read of a loop for its guard alone makes the same rules as all of it.
func TestGuardRulesAreThoseOfTheSpec(t *testing.T) {
	t.Parallel()
	spec := record.Spec{Prompt: "x", Branch: "work", Home: "trunk", Setup: []string{"make"}}
	l, err := store.Open(t.TempDir()).Create("/repo", spec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := record.GuardRules(l, record.Places{State: "/state", Home: "/home", Temp: "/temp"})
	if err != nil {
		t.Fatal(err)
	}
	want := spec.Rules(record.Places{Root: "/repo", State: "/state", Home: "/home", Temp: "/temp"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := record.GuardRules(store.Open(t.TempDir()).Loop("gone"), record.Places{}); err == nil {
		t.Error("a loop that is not there has rules")
	}
}
