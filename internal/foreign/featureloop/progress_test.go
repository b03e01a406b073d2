package featureloop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
)

const sample = "# Progress\n\n- Iteration: 3\n- Max Iterations: 5\n- Status: IN_PROGRESS\n"

func parse(t *testing.T, text string) *featureloop.Progress {
	t.Helper()
	p, err := featureloop.Parse("progress.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProgressIsParsedAndUpdated checks each row of docs/reference/feature-loop.md on progress.txt, by name: the
// values, and the file as iteration 7 of 9, COMPLETE.
func TestProgressIsParsedAndUpdated(t *testing.T) {
	t.Parallel()
	const done = "- Iteration: 7\n- Max Iterations: 9\n- Status: COMPLETE\n"
	tests := []struct {
		name, text     string
		iteration, max int
		status         string
		want           string
	}{
		{"the three lines", sample, 3, 5, "IN_PROGRESS", "# Progress\n\n" + done},
		{"without a dash", "Iteration: 3\nMax Iterations: 5\nStatus: IN_PROGRESS\n", 3, 5, "IN_PROGRESS", strings.ReplaceAll(done, "- ", "")},
		{"indented", "  - Iteration: 3\n\t* Max Iterations: 5\n", 3, 5, "", "  - Iteration: 7\n\t* Max Iterations: 9\n- Status: COMPLETE\n"},
		{"bold", "- **Iteration:** 3\n- **Max Iterations**: 5\n- **Status:** *In progress*\n", 3, 5, "IN_PROGRESS", "- **Iteration:** 7\n- **Max Iterations**: 9\n- **Status:** COMPLETE\n"},
		{"other case", "- iteration: 3\n- MAX ITERATIONS: 5\n- status: complete\n", 3, 5, "COMPLETE", "- iteration: 7\n- MAX ITERATIONS: 9\n- status: complete\n"},
		{"current iteration", "- Current Iteration: 3\n- Max Iterations: 5\n", 3, 5, "", "- Current Iteration: 7\n- Max Iterations: 9\n- Status: COMPLETE\n"},
		{"words behind a number", "- Iteration: 3 (feature 2)\n- Max Iterations: 5 iterations\n", 3, 5, "", "- Iteration: 7 (feature 2)\n- Max Iterations: 9 iterations\n- Status: COMPLETE\n"},
		{"n of m", "- Iteration: 3 of 5\n", 3, 5, "", "- Iteration: 7 of 5\n- Max Iterations: 9\n- Status: COMPLETE\n"},
		{"n/m", "- Iteration: 3/5\n- Max Iterations: 6\n", 3, 6, "", "- Iteration: 7/5\n- Max Iterations: 9\n- Status: COMPLETE\n"},
		{"leading zero", "- Iteration: 08\n- Max Iterations: 09\n", 8, 9, "", "- Iteration: 7\n- Max Iterations: 09\n- Status: COMPLETE\n"},
		{"words behind a status", "- Status: IN_PROGRESS: on feature 2\n" + sample, 3, 5, "IN_PROGRESS", "- Status: COMPLETE\n# Progress\n\n- Iteration: 7\n- Max Iterations: 9\n- Status: IN_PROGRESS\n"},
		{"the same status, decorated", "- Status: COMPLETE (3 of 3)\n", 0, 15, "COMPLETE", "- Iteration: 7\n- Max Iterations: 9\n- Status: COMPLETE (3 of 3)\n"},
		{"log: list items", sample + "\n## Log\n- Iteration: 1 did the first\n- Status: COMPLETE\n", 3, 5, "IN_PROGRESS", "# Progress\n\n" + done + "\n## Log\n- Iteration: 1 did the first\n- Status: COMPLETE\n"},
		{"log: headings", sample + "\n### Iteration: 1\n", 3, 5, "IN_PROGRESS", "# Progress\n\n" + done + "\n### Iteration: 1\n"},
		{"log: prose", "Feature 2 Status: COMPLETE\n" + sample, 3, 5, "IN_PROGRESS", "Feature 2 Status: COMPLETE\n# Progress\n\n" + done},
		{"missing Iteration", "- Max Iterations: 5\n- Status: IN_PROGRESS\nlog\n", 0, 5, "IN_PROGRESS", done + "log\n"},
		{"missing Max Iterations", "- Iteration: 3\nlog\n- Status: X\n", 3, 15, "X", "- Iteration: 7\n- Max Iterations: 9\nlog\n- Status: COMPLETE\n"},
		{"missing Status", "- Iteration: 3\n- Max Iterations: 5", 3, 5, "", strings.TrimSuffix(done, "\n")},
		{"missing lines, heading", "# Log\nfoo", 0, 15, "", "# Log\n\n" + done + "\nfoo"},
		{"missing lines, heading and blank", "# Log\r\n\r\nfoo\r\n", 0, 15, "", strings.ReplaceAll("# Log\n\n"+done+"\nfoo\n", "\n", "\r\n")},
		{"missing lines, heading alone", "# Log", 0, 15, "", "# Log\n\n" + strings.TrimSuffix(done, "\n")},
		{"missing lines, no heading", "\ufefffoo", 0, 15, "", "\ufeff" + done + "\nfoo"},
		{"empty file", "", 0, 15, "", done},
		{"byte order mark alone", "\ufeff", 0, 15, "", "\ufeff" + done},
		{"empty values", "- Iteration:\n- Max Iterations: \n- **Status:**", 0, 15, "", "- Iteration: 7\n- Max Iterations: 9\n- **Status:** COMPLETE"},
		{"CRLF", strings.ReplaceAll(sample, "\n", "\r\n"), 3, 5, "IN_PROGRESS", strings.ReplaceAll("# Progress\n\n"+done, "\n", "\r\n")},
		{"CRLF, a line missing", "- Iteration: 3\r\n", 3, 15, "", strings.ReplaceAll(done, "\n", "\r\n")},
		{"byte order mark", "\ufeff- Status: X\n", 0, 15, "X", "\ufeff" + done},
		{"not UTF-8", "- Iteration: 3\n\xff\xfe\n- Max Iterations: 5\n", 3, 5, "", "- Iteration: 7\n\xff\xfe\n- Max Iterations: 9\n- Status: COMPLETE\n"},
		{"not a number", "- Iteration: three of them\n- Max Iterations: -1\n", 0, 15, "", "- Iteration: 7 of them\n- Max Iterations: 9\n- Status: COMPLETE\n"},
		{"table", "| Iteration: | 3 |\n", 0, 15, "", done + "\n| Iteration: | 3 |\n"},
		{"on one line", "Iteration: 3, Max Iterations: 5\n", 3, 15, "", "Iteration: 7, Max Iterations: 5\n- Max Iterations: 9\n- Status: COMPLETE\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := parse(t, tt.text)
			if p.Iteration != tt.iteration || p.MaxIterations != tt.max || p.Status != tt.status {
				t.Errorf("read %d of %d, %q; want %d of %d, %q", p.Iteration, p.MaxIterations, p.Status, tt.iteration, tt.max, tt.status)
			}
			set := p.Set(featureloop.Values{Iteration: 100, Status: featureloop.InProgress}).
				Set(featureloop.Values{Iteration: 7, MaxIterations: 9, Status: featureloop.Complete})
			if tt.status == featureloop.Complete { // not by way of another
				set = p.Set(featureloop.Values{Iteration: 7, MaxIterations: 9, Status: featureloop.Complete})
			}
			if diff := cmp.Diff(tt.want, string(set.Bytes())); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if string(p.Bytes()) != tt.text {
				t.Error("the file before was changed")
			}
		})
	}
}

func TestNewProgressIsReadBack(t *testing.T) {
	t.Parallel()
	p := featureloop.New(featureloop.Values{Iteration: 1, MaxIterations: 15, Status: featureloop.InProgress})
	const want = "# Ralph Loop Progress\n\n- Iteration: 1\n- Max Iterations: 15\n- Status: IN_PROGRESS\n"
	if diff := cmp.Diff(want, string(p.Bytes())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMalformedProgressIsAnError(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"UTF-16", "\xff\xfe-\x00 \x00", "progress.txt:1: this is not UTF-8 text: expected a file saved as UTF-8"},
		{"binary", "- Iteration: 3\na\x00", "progress.txt:2: this is not UTF-8 text: expected a file saved as UTF-8"},
		{"too large", strings.Repeat("a", featureloop.MaxSize+1), "progress.txt:1: the file has 1048577 bytes: expected at most 1048576"},
		{"not a number", "\n- Iteration: three\x1b[2J of\n", `progress.txt:2: Iteration is "three": expected a whole number`},
		{"negative", "- Iteration: -1\n", `progress.txt:1: Iteration is "-1": expected a whole number`},
		{"a fraction", "- Iteration: 2.5\n", `progress.txt:1: Iteration is "2.5": expected a whole number`},
		{"too many digits", "- Iteration: 99999999999999999999\n", `progress.txt:1: Iteration is "99999999999999999999": expected a whole number`},
		{"no limit", "- Iteration: 1\n- Max Iterations: unlimited\n", `progress.txt:2: Max Iterations is "unlimited": expected a whole number`},
		{"a limit of 0", "- Max Iterations: 0\n", `progress.txt:1: Max Iterations is "0": expected at least 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := featureloop.Parse("progress.txt", []byte(tt.text))
			if err == nil {
				err = p.Check()
			}
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
			if hint := failure.Hint(err); hint != "correct the file, or delete it to restart the count; pawl does not change it" {
				t.Errorf("hint %q", hint)
			}
		})
	}
}
