package mutant_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

// A shortcut returns a result early for some input: the rest of the function may give the same. A
// refusal, or a question about something else than the input, is none.
func TestShortcutsAreRecognized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, code string
		want       bool
	}{
		{"a.py", "def f(text):\n    if not text:\n        return ''\n    return text[1:]\n", true},
		{"a.py", "def f(text):\n    for c in text:\n        if c == ' ':\n            continue\n        g(c)\n", true},
		{"a.py", "def f(text):\n    if not text:\n        raise ValueError('nothing')\n    return text[1:]\n", false},
		{"a.py", "def f(text):\n    if not text:\n        text = 'x'\n    return text[1:]\n", false},
		{"a.ts", "export function f(query?: string) {\n  if (!query) {\n    return []\n  }\n  return g(query)\n}\n", true},
		{"a.ts", "export function f(query?: string) {\n  if (!query) throw new Error('nothing')\n  return g(query)\n}\n", false},
		{"a.ts", "export function f(query?: string) {\n  if (!ready()) return []\n  return g(query)\n}\n", false},
		{"a.go", "package a\n\nfunc f(n int) int {\n\tif n == 0 {\n\t\treturn 0\n\t}\n\treturn n * 2\n}\n", true},
		{"a.go", "package a\n\nfunc f(n int) error {\n\tif n < 0 {\n\t\treturn errors.New(\"negative\")\n\t}\n\treturn nil\n}\n", false},
		{"a.rs", "fn f(n: i32) -> Result<i32, String> {\n    if n < 0 {\n        return Err(\"negative\".into());\n    }\n    Ok(n)\n}\n", false},
		{"a.c", "int f(int n)\n{\n\tif (n == 0)\n\t\treturn 0;\n\treturn n * 2;\n}\n", true},
	} {
		conditions := mutant.Branches(c.file, nil, []byte(c.code))
		if len(conditions) == 0 {
			t.Errorf("%s: no condition in\n%s", c.file, c.code)
			continue
		}
		if got := conditions[0].Shortcut; got != c.want {
			t.Errorf("%s: %v in\n%s", c.file, got, c.code)
		}
	}
}
