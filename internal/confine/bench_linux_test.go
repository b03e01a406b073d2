package confine_test

import (
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl/internal/confine"
)

// What a wall costs a command, beside the command alone; and what it costs a loop
// to raise it.
func BenchmarkWall(b *testing.B) {
	for _, wall := range []struct {
		mechanism confine.Mechanism
		level     confine.Level
	}{{confine.Bubblewrap, confine.Tree}, {confine.Bubblewrap, confine.Strict}, {confine.Landlock, confine.Tree}} {
		w := newWorld(b, wall.mechanism, wall.level, nil)
		for _, run := range []struct {
			name   string
			prefix []string
		}{{"none", nil}, {fmt.Sprintf("%s %s", wall.mechanism, wall.level), w.wall.Gates}} {
			b.Run(run.name, func(b *testing.B) {
				for b.Loop() {
					w.run(run.prefix, "true")
				}
			})
		}
	}
	b.Run("ask", func(b *testing.B) {
		for b.Loop() {
			confine.Ask(b.Context())
		}
	})
}
