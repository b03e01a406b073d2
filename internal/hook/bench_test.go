package hook

import (
	"bytes"
	"os"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// BenchmarkStop measures the work of a session's daemon at the end of a turn without a claim. "go run
// ./bench hook" measures it with the process that the client starts.
func BenchmarkStop(b *testing.B) {
	d := &dialogue{fixture: newFixture(b)}
	spec := usualSpec()
	spec.Policy.Limits = loop.Limits{Iterations: 1 << 30}
	d.begin(spec)
	calls, err := os.OpenFile(record.ToolCallsPath(d.loop), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer calls.Close()
	payload := d.payload("Stop")
	for b.Loop() {
		if _, err := calls.WriteString(`{"tool":"Bash","kind":"run","command":"go test ./..."}` + "\n"); err != nil { // a turn without one is idle
			b.Fatal(err)
		}
		if out, problem, _ := d.run(bytes.NewReader(payload), "claude"); len(problem) > 0 || !bytes.Contains(out, []byte("continuing")) {
			b.Fatalf("%s%s", out, problem)
		}
	}
}
