package hook

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
)

// A tool's result may have tens of megabytes, and so may its event.
func TestLargeToolResultsAreProcessed(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of megabytes")
	}
	w := newFixture(t)
	w.begin(usualSpec())
	for _, tt := range []struct {
		session, event string
		size           int
		says           string
	}{
		{"s9", codec.PostToolUse, 50 << 20, ""},
		{"s1", codec.PostToolUse, 50 << 20, ""},
		{"s9", codec.Stop, 50 << 20, ""},
		{"s1", codec.Stop, 50 << 20, "2/25 · continuing"},
		{"s1", codec.Stop, 70 << 20, ""}, // more than is read: as if it had not come
	} {
		head := fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"prompt_id":"p1","last_assistant_message":"`, tt.event, tt.session)
		in := io.MultiReader(strings.NewReader(head), strings.NewReader(strings.Repeat("x", tt.size)), strings.NewReader(`"}`))
		at := time.Now()
		out, problem, code := w.run(in, "claude")
		if code != exitOK || len(problem) > 0 || len(out) > 0 != (tt.says != "") || !strings.Contains(string(out), tt.says) {
			t.Errorf("%s of %d MB in %s: exit %d, %.200s%s", tt.event, tt.size>>20, tt.session, code, out, problem)
		}
		if took := time.Since(at); took > 20*time.Second {
			t.Errorf("%s of %d MB in %s took %s", tt.event, tt.size>>20, tt.session, took)
		}
	}
}
