package ralphloop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

// sample is a file as the plugin writes it.
const sample = `---
active: true
iteration: 1
session_id: 0f5c-11
max_iterations: 20
completion_promise: "TASK COMPLETE"
started_at: "2026-01-01T00:00:00Z"
---

Build it.
`

var ignoreBytes = cmpopts.IgnoreUnexported(ralphloop.File{})

func parse(t *testing.T, text string) *ralphloop.File {
	t.Helper()
	f, err := ralphloop.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

func TestNewFileIsReadBack(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))
	f, err := ralphloop.New(ralphloop.Options{
		SessionID: "0f5c-11", MaxIterations: 20, Promise: "TASK COMPLETE", StartedAt: started, Prompt: "Build it.",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample, string(f.Bytes())); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	want := &ralphloop.File{
		Active: true, Iteration: 1, MaxIterations: 20, MaxGiven: true, SessionID: "0f5c-11", Promise: "TASK COMPLETE",
		Prompt: "Build it.",
	}
	if diff := cmp.Diff(want, f, ignoreBytes); diff != "" {
		t.Errorf("what it says (-want +got):\n%s", diff)
	}

	f, err = ralphloop.New(ralphloop.Options{StartedAt: started, Prompt: "Build it."})
	if err != nil {
		t.Fatal(err)
	}
	text := "---\nactive: true\niteration: 1\nsession_id: \nmax_iterations: 0\ncompletion_promise: null\n" +
		"started_at: \"2026-01-01T00:00:00Z\"\n---\n\nBuild it.\n"
	if diff := cmp.Diff(text, string(f.Bytes())); diff != "" {
		t.Errorf("file with as little as can be (-want +got):\n%s", diff)
	}
}

func TestUnreadableNewFileIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options ralphloop.Options
		want    string
	}{
		{"no prompt", ralphloop.Options{Prompt: " \n"}, "no prompt provided"},
		{"binary", ralphloop.Options{Prompt: "a\x00b"}, "the prompt holds a NUL byte"},
		{"too large", ralphloop.Options{Prompt: strings.Repeat("a", ralphloop.MaxSize)}, "the prompt has 1048576 bytes: at most about 1048576"},
		{"negative", ralphloop.Options{Prompt: "a", MaxIterations: -1}, "a loop cannot have at most -1 iterations"},
		{"keys in the session", ralphloop.Options{Prompt: "a", SessionID: "x\nactive: false"}, `"x active: false" is not a session id`},
		{"a null session", ralphloop.Options{Prompt: "a", SessionID: "null"}, `"null" is not a session id`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := ralphloop.New(tt.options); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestFileIsParsed has the rows about the file of the table of what the plugin does and
// what its users want instead, and the liberties that people take.
func TestFileIsParsed(t *testing.T) {
	t.Parallel()
	const promptText = "\n\nDo it.\n"
	tests := []struct {
		name, text string
		want       ralphloop.File
	}{
		{"not active", "---\nactive: false\niteration: 1\n---" + promptText, ralphloop.File{Iteration: 1}},
		{"no session", "---\niteration: 1\nsession_id:\n---" + promptText, ralphloop.File{Active: true, Iteration: 1}},
		{"null session", "---\niteration: 1\nsession_id: null\n---" + promptText, ralphloop.File{Active: true, Iteration: 1}},
		{
			"short form", "---\niteration: 2\nmax_iterations: 5\ncompletion_promise: \"DONE\"\n---" + promptText,
			ralphloop.File{Active: true, Iteration: 2, MaxIterations: 5, MaxGiven: true, Promise: "DONE"},
		},
		{"keys left out", "---\niteration: 3\n---" + promptText, ralphloop.File{Active: true, Iteration: 3}},
		{"keys left empty", "---\nactive:\niteration: 3\nmax_iterations:\ncompletion_promise:\nstarted_at:\n---" + promptText, ralphloop.File{Active: true, Iteration: 3}},
		{"unlimited", "---\niteration: 3\nmax_iterations: 0\n---" + promptText, ralphloop.File{Active: true, Iteration: 3, MaxGiven: true}},
		{"octal", "---\niteration: 1\nmax_iterations: 08\n---" + promptText, ralphloop.File{Active: true, Iteration: 1, MaxIterations: 8, MaxGiven: true}},
		{"no blank", "---\niteration:1\nmax_iterations:20\n---" + promptText, ralphloop.File{Active: true, Iteration: 1, MaxIterations: 20, MaxGiven: true}},
		{"quoted numbers", "---\niteration: '7'\nmax_iterations: \"9\"\n---" + promptText, ralphloop.File{Active: true, Iteration: 7, MaxIterations: 9, MaxGiven: true}},
		{
			"comments", "---\n# mine\nactive: no # for now\niteration: 7 # of many\nsession_id: # mine\ncompletion_promise: \"A\"  # say so\n---" + promptText,
			ralphloop.File{Iteration: 7, Promise: "A"},
		},
		{
			"unknown keys", "---\nowner: me\niteration: 1\ntags:\n  iteration: 9\n  - max_iterations: x\nnonsense\nMax_Iterations: y\n---" + promptText,
			ralphloop.File{Active: true, Iteration: 1},
		},
		{"no time", "---\niteration: 1\nstarted_at: yesterday\n---" + promptText, ralphloop.File{Active: true, Iteration: 1}},
		{"byte order mark", "\ufeff---\niteration: 1\n---" + promptText, ralphloop.File{Active: true, Iteration: 1}},
		{"blanks behind", "--- \niteration: 1 \n---\t" + promptText, ralphloop.File{Active: true, Iteration: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Prompt = "Do it."
			if diff := cmp.Diff(&tt.want, parse(t, tt.text), ignoreBytes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			tt.text, tt.want.Prompt = strings.ReplaceAll(tt.text, "\n", "\r\n"), "Do it."
			if diff := cmp.Diff(&tt.want, parse(t, tt.text), ignoreBytes); diff != "" {
				t.Errorf("with CRLF (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPromptIsTheText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, want string }{
		{"a line of dashes", "\nOne\n---\nTwo\n", "One\n---\nTwo"},
		{"dashes and what looks like a counter", "\nOne\n---\niteration: 77\nmax_iterations: x\n---\nTwo\n", "One\n---\niteration: 77\nmax_iterations: x\n---\nTwo"},
		{"no blank line before", "One\n", "One"},
		{"no end of line", "\nOne", "One"},
		{"white space of its own", "\n\n  One \n\n\n", "\n  One \n\n"},
		{"CRLF within", "\r\nOne\r\nTwo\r\n", "One\r\nTwo"},
		{"signs of all kinds", "\n$HOME `ls` \"q\" \\n é 🔁\n", "$HOME `ls` \"q\" \\n é 🔁"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, "---\niteration: 3\nmax_iterations: 4\n---\n"+tt.file)
			if diff := cmp.Diff(tt.want, f.Prompt); diff != "" {
				t.Errorf("prompt (-want +got):\n%s", diff)
			}
			if f.Iteration != 3 || f.MaxIterations != 4 {
				t.Errorf("iteration %d of %d, want 3 of 4", f.Iteration, f.MaxIterations)
			}
		})
	}
}

func TestPromiseIsUnquoted(t *testing.T) {
	t.Parallel()
	tests := []struct{ written, want string }{
		{`"TASK COMPLETE"`, `TASK COMPLETE`},
		{`"say "hi""`, `say "hi"`},
		{`"say "hi"" # the "greeting"!`, `say "hi"`},
		{`""quoted""`, `"quoted"`},
		{`"A  B"`, `A  B`},
		{`"*"`, `*`},
		{`"C:\new \"x\""`, `C:\new \"x\"`},
		{`'it''s done'`, `it's done`},
		{`ALL DONE`, `ALL DONE`},
		{`ALL DONE # with a comment`, `ALL DONE`},
		{`TASK #1`, `TASK #1`},
		{`#1`, `#1`},
		{`don't`, `don't`},
		{`"half`, `"half`},
		{`"`, `"`},
		{`""`, ``},
		{`" "`, ``},
		{`"null"`, `null`},
		{`null`, ``},
		{`NULL`, ``},
		{`~`, ``},
		{``, ``},
		{`# nothing`, ``},
	}
	for _, tt := range tests {
		f := parse(t, "---\niteration: 1\ncompletion_promise: "+tt.written+"\n---\n\nDo it.\n")
		if f.Promise != tt.want {
			t.Errorf("%s is read as %q, want %q", tt.written, f.Promise, tt.want)
		}
	}
}

func TestSetIterationChangesOneNumber(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"as the plugin writes", sample, strings.Replace(sample, "iteration: 1", "iteration: 12", 1)},
		{
			"all else stays",
			"\ufeff---\r\n# iteration: 3\r\nown: x\r\niteration:   003   # now\r\nactive: yes\r\n---\r\nOne\r\n---\r\niteration: 3\r\n",
			"\ufeff---\r\n# iteration: 3\r\nown: x\r\niteration:   12   # now\r\nactive: yes\r\n---\r\nOne\r\n---\r\niteration: 3\r\n",
		},
		{"no blank, quotes", "---\niteration:'3'\n---\nOne", "---\niteration:'12'\n---\nOne"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, tt.text)
			g := f.SetIteration(100).SetIteration(12)
			if diff := cmp.Diff(tt.want, string(g.Bytes())); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			if string(f.Bytes()) != tt.text {
				t.Error("the file before was changed")
			}
		})
	}
}

func TestMalformedFilesAreErrors(t *testing.T) {
	t.Parallel()
	const path = ralphloop.Path
	tests := []struct{ name, text, want string }{
		{"empty", "", path + ":1: the file does not begin with front matter: expected a line with --- alone"},
		{"no front matter", "iteration: 1\n", path + ":1: the file does not begin with front matter: expected a line with --- alone"},
		{"no end", "---\niteration: 1\n", path + ":1: the front matter that begins here does not end: expected a second line with --- alone"},
		{"no iteration", "---\nactive: true\n---\n\nDo it.\n", path + ":3: there is no iteration above this line: expected a line like iteration: 1"},
		{"empty iteration", "---\niteration:\n---\n\nDo it.\n", path + `:2: iteration is "": expected a whole number`},
		{"no value", "---\nactive: true\niteration\n---\n\nDo it.\n", path + ":3: iteration has no value: expected iteration: and a value"},
		{"iteration is text", "---\niteration: \x1b[31mmany\n---\n\nDo it.\n", path + ":2: iteration holds a control character: expected plain text"},
		{"negative iteration", "---\niteration: -1\n---\n\nDo it.\n", path + `:2: iteration is "-1": expected a whole number`},
		{"huge iteration", "---\niteration: 99999999999999999999\n---\n\nDo it.\n", path + `:2: iteration is "99999999999999999999": expected a whole number`},
		{"limit is text", "---\niteration: 1\nmax_iterations: many\n---\n\nDo it.\n", path + `:3: max_iterations is "many": expected a whole number, 0 for unlimited`},
		{"activity is text", "---\niteration: 1\nactive: perhaps\n---\n\nDo it.\n", path + `:3: active is "perhaps": expected true or false`},
		{"twice", "---\niteration: 1\nactive: true\niteration: 2\n---\n\nDo it.\n", path + ":4: iteration is set twice: expected only the one on line 2"},
		{"no prompt", "---\niteration: 1\n---\n \n", path + ":3: nothing follows the front matter: expected the prompt"},
		{"UTF-16", "\xff\xfe-\x00-\x00-\x00\n\x00", path + ":1: this is not UTF-8 text: expected a file saved as UTF-8"},
		{"binary", "---\niteration: 1\n---\n\nDo \x00it.\n", path + ":5: this is not UTF-8 text: expected a file saved as UTF-8"},
		{"too large", sample + strings.Repeat("a", ralphloop.MaxSize), path + ":1: the file has 1048731 bytes: expected at most 1048576"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ralphloop.Parse([]byte(tt.text))
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
			if hint := failure.Hint(err); hint != "correct the file, or delete it; pawl does not change it" {
				t.Errorf("hint %q", hint)
			}
		})
	}
}
