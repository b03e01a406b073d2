package ralphloop_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

// Flags without a value stand anywhere, and take nothing of the prompt with them.
func TestFlagsThatStandAlone(t *testing.T) {
	t.Parallel()
	got, err := ralphloop.ParseArgs(`--commit polish the parser --unattended --evidence unproven`)
	want := ralphloop.Args{Prompt: "polish the parser", Commit: true, Unattended: true, Evidence: "unproven"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = ralphloop.ParseArgs(`--handover look around --kind explore --every=5m --tries 2 --isolate=false`)
	want = ralphloop.Args{Prompt: "look around", Handover: true, Kind: "explore", Every: 5 * time.Minute, Tries: 2, Isolate: new(bool)}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = ralphloop.ParseArgs(`add a --review "It is real." --review @rubric.md`)
	want = ralphloop.Args{Prompt: "add a", Reviews: []string{"It is real.", "@rubric.md"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err = ralphloop.ParseArgs(`x --isolate`); err != nil || got.Isolate == nil || !*got.Isolate {
		t.Errorf("%+v %v", got, err)
	}
	for _, raw := range []string{"x --handover=5", "x --isolate=yes", "x --tries 0", "x --tries", "x --every soon", "x --kind", "x --commit=yes", "x --evidence", "x --comit"} {
		if a, err := ralphloop.ParseArgs(raw); err == nil {
			t.Errorf("%s: %+v", raw, a)
		}
	}
}
