package hook

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// If a loop ends in a hook, another process sends its telemetry once, if the configuration or the
// environment names a collector.
func TestTelemetryIsSentByAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configured, variable string
		sends                bool
	}{
		"off":           {},
		"configuration": {configured: "https://collector.example", sends: true},
		"environment":   {variable: "OTEL_EXPORTER_OTLP_ENDPOINT=https://collector.example", sends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			spec := usualSpec()
			spec.Telemetry.Endpoint = c.configured
			w.begin(spec)
			w.env.Vars = append(w.env.Vars, c.variable)
			var started []string
			h := &handler{Call: Call{Env: w.env, Tool: os.Args[:1], start: func(cmd *exec.Cmd) (func() error, error) {
				started = append(started, strings.Join(cmd.Args[1:], " "))
				return func() error { return nil }, nil
			}}}
			s, err := h.acquire(t.Context(), w.binding(w.loop.ID))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []loop.Event{{Payload: loop.Cancelled{}}, {Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, {Payload: loop.Concluded{}}} {
				if err := errors.Join(s.step(e), s.flush()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.release(); err != nil || s.mem.State.Phase != loop.Ended {
				t.Fatalf("the loop is %s, %v", s.mem.State.Phase, err)
			}
			if want := []string{"session telemetry " + w.loop.ID}; c.sends != slices.Equal(started, want) || !c.sends && len(started) > 0 {
				t.Errorf("started %q", started)
			}
		})
	}
}
