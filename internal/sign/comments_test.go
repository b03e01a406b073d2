package sign_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

func TestCommentsOnlyIgnoresCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, before, after string
		want                bool
	}{
		"a licence header":       {"a.py", "x = 1\n", "# Copyright\n\nx = 1\n", true},
		"a docstring":            {"a.py", "def f():\n    return 1\n", "def f():\n    \"\"\"Return one.\"\"\"\n    return 1\n", true},
		"a string":               {"a.py", "x = 'a'\n", "x = 'b'\n", false},
		"an indent":              {"a.py", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n", false},
		"two lines that moved":   {"a.py", "a()\nb()\n", "b()\na()\n", false},
		"a Go comment":           {"a.go", "package a\n\nvar x = 1 // old\n", "// Package a is one.\npackage a\n\nvar x = 1 // new\n", true},
		"a comment in a string":  {"a.js", "x = '// a'\n", "x = '// b'\n", false},
		"code behind a comment":  {"a.go", "package a\n\nvar x = 1\n", "package a\n\nvar x = 2 // two\n", false},
		"a file that is no code": {"a.json", "{}\n", "{}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := sign.CommentsOnly(c.file, []byte(c.before), []byte(c.after)); got != c.want {
				t.Errorf("%t", got)
			}
		})
	}
	if sign.CommentsOnly("a.go", nil, []byte("// Package a is one.\npackage a\n")) {
		t.Error("a new file is more than comments")
	}
}
