package guard_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// BenchmarkCheck measures a check. It must be fast: every tool call waits for it.
func BenchmarkCheck(b *testing.B) {
	for name, command := range map[string]string{
		"plain":  "go test ./internal/core/guard",
		"usual":  `cd internal/core && go test ./... 2>&1 | tail -40 && git add -A && git commit -m "Say why git push is refused"`,
		"script": "set -e\nfor d in a b c; do (cd $d && make build); done\nx=$(git rev-parse HEAD)\nif [ -n \"$x\" ]; then echo \"$x\" > out.txt; fi",
	} {
		b.Run(name, func(b *testing.B) {
			c := toolcall.Call{Kind: toolcall.Run, Command: command, Dir: "/w/repo"}
			r := rules()
			for b.Loop() {
				guard.Check(c, r)
			}
		})
	}
}
