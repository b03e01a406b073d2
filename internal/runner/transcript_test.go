package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/record"
)

// The tool calls of a turn are stored in the iteration's folder, without secrets.
func TestTranscriptRecordsToolCallsWithoutSecrets(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"README.md": "x\n"})
	b.run(`
-- 1/unread/greet.txt --
hello
-- 1/run --
echo begun; echo ghp_0123456789abcdefghijklmnopqrstuvwxyz; exit 3
-- 1/reply --
<promise>DONE</promise>
`, []string{"greet"}, map[string]any{"gates": []string{"test -f greet.txt"}})
	calls, dropped, err := record.Transcript(b.loop, 1)
	if err != nil || dropped > 0 {
		t.Fatalf("%v, %d dropped", err, dropped)
	}
	var got []string
	for _, c := range calls {
		got = append(got, fmt.Sprintf("%s %s: %s: %s", c.Tool, c.Detail, c.Status, strings.ReplaceAll(c.Output, "\n", "|")))
	}
	if diff := cmp.Diff([]string{"Write write greet.txt: ok: ", "Bash $ echo begun; echo [redacted]; exit 3: failed: begun|[redacted]"}, got); diff != "" {
		t.Error(diff)
	}
}
