package deps_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
)

func TestEditableInstallsAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	for file, content := range map[string]string{
		"path/lib/python3.11/site-packages/__editable__.calc.pth":         root + "/src\n",
		"finder/lib/python3.12/site-packages/__editable___calc_finder.py": "MAPPING = {'calc': '" + root + "/calc'}\n",
		"other/lib/python3.11/site-packages/x.pth":                        root + "-two/src\nimport os\n",
		"project/.venv/lib/python3.11/site-packages/x.pth":                root + "/src\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gates := []gate.Gate{
		{Name: "a", Command: "cd sub && " + dir + "/path/bin/python -m pytest"},
		{Name: "b", Command: dir + "/other/bin/python x.py; " + root + "/.venv/bin/python; " + dir + "/path/bin/python"},
	}
	want := []deps.Editable{{Venv: filepath.Join(dir, "finder"), Gate: "a"}, {Venv: filepath.Join(dir, "path"), Gate: "a"}}
	if diff := cmp.Diff(want, deps.EditableInstalls(root, filepath.Join(dir, "finder"), gates)); diff != "" {
		t.Error(diff)
	}
}
