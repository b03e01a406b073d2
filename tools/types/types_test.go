package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong in a file or a test of one system is found for that one alone.
func TestCheck(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module m\n\ngo 1.26\n",
		"all.go":            "package m\n\nimport \"os\"\n\nfunc Size(f *os.File) string { return f.Name() }\n",
		"one_windows.go":    "package m\n\nvar size int = Size(nil)\n",
		"all_test.go":       "package m\n\nimport \"testing\"\n\nfunc TestSize(t *testing.T) { t.Log(Size(nil)) }\n",
		"two_windows.go":    "package m\n\nimport \"golang.org/x/nowhere\"\n\nvar _ = nowhere.X\n",
		"one_linux.go":      "package m\n\nimport \"syscall\"\n\nvar _ = syscall.Setsid\n",
		"one_darwin.go":     "package m\n\nvar _ = Size\n",
		"two_linux_test.go": "package m\n\nfunc wrong() int { return \"one\" }\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, wants := range map[string][]string{
		"windows": {"one_windows.go:3", "nowhere"}, "linux": {"two_linux_test.go:3"}, "darwin": nil,
	} {
		problems, err := check(root, system)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(problems, "\n")
		for _, want := range wants {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is not among\n%s", system, want, said)
			}
		}
		if (len(wants) == 0) != (len(problems) == 0) {
			t.Errorf("%s:\n%s", system, said)
		}
	}
}
