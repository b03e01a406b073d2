package ralphloop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

// TestPromiseTagIsAClaim has the rows about the promise: what the plugin's users count as
// saying it. The promise goes through the file both ways.
func TestPromiseTagIsAClaim(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, promise, message string
		want                   bool
	}{
		{"alone", "DONE", "<promise>DONE</promise>", true},
		{"white space within", "TASK COMPLETE", "<promise>\n  TASK\n  COMPLETE\n</promise>", true},
		{"text before and after", "DONE", "All of it works.\n<promise>DONE</promise>\nSee you.", true},
		{"at the end of a sentence", "DONE", "All of it works: <promise>DONE</promise>", true},
		{"a bare word", "DONE", "DONE", false},
		{"a mention in prose", "DONE", "When finished I will output `<promise>DONE</promise>`; not yet", false},
		{"a mention without code", "DONE", "When finished I will output <promise>DONE</promise>; not yet", false},
		{"in a quote", "DONE", "> <promise>DONE</promise>\n", false},
		{"in code", "DONE", "```\n<promise>DONE</promise>\n```\n", false},
		{"two, the second right", "DONE", "<promise>SOON</promise>\n<promise>DONE</promise>", true},
		{"then another text", "DONE", "<promise>DONE</promise>\n\nI also tidied up.", true},
		{"no message", "DONE", "", false},
		{"an asterisk", "*", "<promise>*</promise>", true},
		{"an asterisk is no pattern", "*", "<promise>DONE</promise>", false},
		{"a pattern", "D?N[A-Z]", "<promise>DONE</promise>", false},
		{"two blanks", "A  B", "<promise>A  B</promise>", true},
		{"two blanks, said with one", "A  B", "<promise>A B</promise>", true},
		{"one blank, said with two", "A B", "<promise>A  B</promise>", true},
		{"over two lines", "A\nB", "<promise>A B</promise>", true},
		{"inner quotes", `say "hi"`, `<promise>say "hi"</promise>`, true},
		{"null", "null", "<promise>null</promise>", true},
		{"other case", "DONE", "<promise>done</promise>", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := ralphloop.New(ralphloop.Options{Promise: tt.promise, Prompt: "Do it."})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(claim.Parse(tt.message, f.Promise)) > 0; got != tt.want {
				t.Errorf("%q claims %q: %v, want %v", tt.message, f.Promise, got, tt.want)
			}
		})
	}
}

func TestMessageTexts(t *testing.T) {
	t.Parallel()
	tests := []struct{ got, want string }{
		{ralphloop.IterationMessage(2, "X"), "🔄 Ralph iteration 2 | To stop: output <promise>X</promise> (ONLY when statement is TRUE - do not lie to exit!)"},
		{ralphloop.IterationMessage(3, ""), "🔄 Ralph iteration 3 | No completion promise set - loop runs infinitely"},
		{ralphloop.MaxReachedMessage(20), "🛑 Ralph loop: Max iterations (20) reached."},
		{ralphloop.PromiseMessage("X"), "✅ Ralph loop: Detected <promise>X</promise>"},
		{ralphloop.CancelledMessage(4), "Cancelled Ralph loop (was at iteration 4)"},
		{ralphloop.NoLoop, "No active Ralph loop found."},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}
