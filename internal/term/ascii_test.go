package term_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/term"
)

// In a locale without UTF-8, Pawl prints no symbols beyond ASCII; JSON does not change.
func TestASCII(t *testing.T) {
	t.Parallel()
	for _, mode := range []term.Mode{term.Plain, term.Live, term.Quiet, term.JSON} {
		var out bytes.Buffer
		p := term.New(term.Options{Out: &out, Mode: mode, ASCII: true})
		p.Print(term.TaskStarted{ID: "1", Title: "naïve", Index: 1, Total: 2})
		p.Print(term.Note{Level: term.Info, Text: "pawl status → shows it …"})
		p.Print(term.TaskEnded{ID: "1", Title: "naïve", Index: 1, Total: 2, Result: "proven", Iterations: 1})
		p.Print(term.LoopEnded{Loop: "brisk-otter", Progress: "1 of 2 tasks done", Outcome: "stuck", ExitCode: 13})
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		symbols := strings.ContainsAny(out.String(), "·…→✓✗●◌–×")
		if symbols != (mode == term.JSON) || mode == term.Plain && !strings.Contains(out.String(), "naïve") {
			t.Errorf("mode %d: %s", mode, out.String())
		}
	}
}
