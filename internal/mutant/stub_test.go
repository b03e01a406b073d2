package mutant_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

func TestStubsAreRecognized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, text string
		stub       bool
	}{
		{"a.go", "package a\n\nfunc Divide(a, b int) int { return 0 }\n", true},
		{"a.go", "package a\n\nfunc Add(a, b int) int { return a + b }\n", false},
		{"a.go", "package a\n\nfunc Name() string { return \"x\" }\n", false},
		{"a.go", "package a\n\nfunc Serve(w int) { f(); g() }\n", false},
		{"a.py", "def rotate(directory, keep):\n    \"\"\"Delete old ones.\"\"\"\n    # TODO\n    return None\n", true},
		{"a.py", "def name(self):\n    return 'x'\n", false},
		{"a.py", "def camel_case(name):\n    return name\n", true},
		{"a.py", "class A:\n    async def __aenter__(self):\n        return self\n", false},
		{"a.py", "class A:\n    def __exit__(self, *error):\n        self.file.close()\n", false},
		{"a.py", "class A:\n    def add(self, item):\n        return self\n", true},
		{"a.js", "export const toCsv = (rows) => '';\n", true},
		{"a.js", "export const toCsv = (rows) => rows.join();\n", false},
		{"a.rs", "pub fn parse(text: &str) -> u8 {\n    0\n}\n", true},
		{"a.py", "def total_text(lines):\n    return f\"{total(lines) / 100:.2f} EUR\"\n", false},
		{"a.py", "def text(lines):\n    return rf'{{x}} {sum(lines):>{WIDTH}}'\n", false},
		{"a.py", "def parse(text):\n    return {\"text\": \"\", \"rows\": []}\n", true},
		{"a.js", "export const text = (rows) => `${rows.length} rows`;\n", false},
		{"a.ts", "export function text(rows: string[]) {\n  return `${count({ of: rows })}`\n}\n", false},
		{"a.rs", "pub fn text(unit: &str) -> String {\n    format!(\"{unit:>3}\")\n}\n", false},
		{"A.java", "class A {\n    int f(int a) {\n        return 0;\n    }\n}\n", true},
	} {
		if got := mutant.Stubs(c.file, nil, []byte(c.text)); (len(got) == 1) != c.stub {
			t.Errorf("%s\n\t%+v", c.text, got)
		}
		if got := mutant.Stubs(c.file, []byte(c.text), []byte(c.text)); len(got) > 0 {
			t.Errorf("it was there: %+v", got)
		}
	}
}

func TestUnusedFunctionsAreFound(t *testing.T) {
	t.Parallel()
	const text = "package api\n\nfunc shouldRetry(n int) bool { return n == 503 }\n"
	for programs, want := range map[string]int{text: 1, text + "if shouldRetry(3) {": 0} {
		if got := mutant.UncalledFunctions("a.go", nil, []byte(text), programs); len(got) != want {
			t.Errorf("%q: %+v", programs, got)
		}
	}
	if got := mutant.UncalledFunctions("a.go", nil, []byte("package a\n\nfunc Public() {}\n"), ""); len(got) > 0 {
		t.Error(got)
	}
}
