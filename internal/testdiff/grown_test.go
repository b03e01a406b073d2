package testdiff

import (
	"testing"
)

// A golden file that the task names may have more of what the program says, and keeps what it had.
func TestGoldenFileMayGrow(t *testing.T) {
	t.Parallel()
	const old = "usage: app [-h] file\n\nCount 5 words.\n\noptions:\n  -h, --help  show this help\n"
	grown := edited(old, "[-h] file", "[-h] [--top N] file", "this help\n", "this help\n  --top N     only the N first words\n")
	for _, c := range []struct {
		name, task, now string
		may             bool
	}{
		{"an option more", "--top N; tests/golden/help.txt changes", grown, true},
		{"the file by its words", "--top N; update the golden file of help", grown, true},
		{"a file that the task does not name", "--top N prints fewer", grown, false},
		{"a word that the program lacks", "help.txt changes", edited(grown, "first", "last"), false},
		{"a line less", "help.txt changes", edited(grown, "Count 5 words.\n", ""), false},
		{"a value that is another", "help.txt changes", edited(grown, "Count 5", "Count 6"), false},
		{"a sign before a value", "help.txt changes", edited(old, "Count 5", "Count -5"), false},
		{"nothing left of it", "help.txt changes", "only the N first words\n", false},
	} {
		w := Work{
			Task: c.task, ProgramWords: Words("top N only the N first words 6"),
			MayShadow: func(string) bool { return false }, Declares: func(string) bool { return false }, Untested: func(string) bool { return true },
		}
		got := w.Adapt([]File{{"tests/golden/help.txt", []byte(old)}}, []File{{"tests/golden/help.txt", []byte(c.now)}})
		if (len(got) > 0) != c.may {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
