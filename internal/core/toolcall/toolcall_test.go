package toolcall_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

func TestToolsThatMayWriteAreKnown(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"":                                  true, // a tool that says no more
		"cat a | grep b && ls":              false,
		"tail -n 5 a 2>/dev/null":           false,
		"cat a 2>&1":                        false,
		"echo 'a > b'":                      false,
		"cd x; for f in *; do cat $f; done": false,
		"echo stop > a":                     true,
		"cat a | tee b":                     true,
		"cat $(make a)":                     true,
		"cat a; sh b.sh":                    true,
		"cat 'a":                            true, // cut off
	} {
		if got := (toolcall.Call{Kind: toolcall.Run, Command: command}).MayWrite(); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
	for kind, want := range map[toolcall.Kind][2]bool{ // may write, may create
		toolcall.Other: {true, true}, toolcall.Write: {true, true}, toolcall.Edit: {true, false}, toolcall.Run: {true, true},
		toolcall.Read: {}, toolcall.Search: {}, toolcall.List: {}, toolcall.Fetch: {}, toolcall.Internal: {}, toolcall.Answer: {},
	} {
		c := toolcall.Call{Kind: kind}
		if got := [2]bool{c.MayWrite(), c.MayCreate()}; got != want || kind.ReadOnly() == want[0] {
			t.Errorf("%q: may write, create: %v, read-only %v", kind, got, kind.ReadOnly())
		}
	}
}
