package ralphloop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

// Flags without a value stand anywhere, and take nothing of the prompt with them.
func TestFlagsThatStandAlone(t *testing.T) {
	t.Parallel()
	got, err := ralphloop.ParseArgs(`--commit polish the parser --unattended --evidence consistent`)
	want := ralphloop.Args{Prompt: "polish the parser", Commit: true, Unattended: true, Evidence: "consistent"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, raw := range []string{"x --commit=yes", "x --evidence", "x --comit"} {
		if a, err := ralphloop.ParseArgs(raw); err == nil {
			t.Errorf("%s: %+v", raw, a)
		}
	}
}
