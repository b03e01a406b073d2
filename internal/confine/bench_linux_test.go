package confine_test

import (
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl/internal/confine"
)

// BenchmarkSandbox measures a confined command, the same command alone, and the probe of the
// machine.
func BenchmarkSandbox(b *testing.B) {
	for _, sandbox := range []struct {
		mechanism confine.Mechanism
		level     confine.Level
	}{{confine.Bubblewrap, confine.Tree}, {confine.Bubblewrap, confine.Strict}, {confine.Landlock, confine.Tree}} {
		w := newWorld(b, sandbox.mechanism, sandbox.level, nil)
		for _, run := range []struct {
			name   string
			prefix []string
		}{{"none", nil}, {fmt.Sprintf("%s %s", sandbox.mechanism, sandbox.level), w.sandbox.Gates}} {
			b.Run(run.name, func(b *testing.B) {
				for b.Loop() {
					w.run(run.prefix, "true")
				}
			})
		}
	}
	b.Run("ask", func(b *testing.B) {
		for b.Loop() {
			confine.Detect(b.Context())
		}
	})
}
