package plugin_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/plugin"
)

const checksumsFile = ".pawl-export"

func export(t *testing.T, dir string, p plugin.Plugin) (changed bool) {
	t.Helper()
	changed, err := plugin.Export(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// exported is what lies in a folder, without the checksums.
func exported(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, file)
		if err != nil || d.IsDir() || name == checksumsFile {
			return err
		}
		text, err := os.ReadFile(file)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantExport(t *testing.T, dir string, p plugin.Plugin) {
	t.Helper()
	if diff := cmp.Diff(texts(p), exported(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func elsewhere(t *testing.T) plugin.Plugin {
	t.Helper()
	return made(t, plugin.Hook{Command: "/opt/pawl-hook", Args: []string{"claude"}})
}

func TestExportIsIdempotent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "plugin")
	p := made(t, plugin.RepositoryHook())
	if !export(t, dir, p) {
		t.Error("the first export changed nothing")
	}
	wantExport(t, dir, p)
	if export(t, dir, p) {
		t.Error("the second export changed something")
	}
	wantExport(t, dir, p)
}

func TestExportIntoAnEmptyFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := made(t, plugin.RepositoryHook())
	export(t, dir, p)
	wantExport(t, dir, p)
}

func TestExportReplacesAnEarlierOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := made(t, plugin.RepositoryHook())
	old.Files["pawl/old/commands/gone.md"] = []byte("no longer part of it")
	export(t, dir, old)
	p := elsewhere(t)
	if !export(t, dir, p) {
		t.Error("nothing changed")
	}
	wantExport(t, dir, p)
	if _, err := os.Stat(filepath.Join(dir, "pawl", "old")); err == nil {
		t.Error("the empty folder of an old file is left")
	}
}

func TestUserFilesBesideAnExportStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	export(t, dir, made(t, plugin.RepositoryHook()))
	write(t, filepath.Join(dir, "notes.md"), "mine")
	p := elsewhere(t)
	export(t, dir, p)
	want := texts(p)
	want["notes.md"] = "mine"
	if diff := cmp.Diff(want, exported(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestExportRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	p := made(t, plugin.RepositoryHook())
	cases := map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"a folder with something in it": {
			func(t *testing.T, dir string) { write(t, filepath.Join(dir, "thesis.txt"), "mine") },
			"is not empty",
		},
		"the plugin of the repository": {
			func(t *testing.T, dir string) { copyFiles(t, dir, p) },
			"is not empty",
		},
		"a file that was changed since": {
			func(t *testing.T, dir string) {
				export(t, dir, p)
				write(t, filepath.Join(dir, "pawl", "commands", "loop.md"), "mine")
			},
			"was changed since it was exported (pawl/commands/loop.md)",
		},
		"a file of a user where one of ours would go": {
			func(t *testing.T, dir string) {
				less := plugin.Plugin{Version: p.Version, Files: maps.Clone(p.Files)}
				delete(less.Files, "pawl/README.md")
				export(t, dir, less)
				write(t, filepath.Join(dir, "pawl", "README.md"), "mine")
			},
			"was changed since it was exported (pawl/README.md)",
		},
		"a damaged list": {
			func(t *testing.T, dir string) { write(t, filepath.Join(dir, checksumsFile), "../../etc/passwd") },
			"is damaged",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.prepare(t, dir)
			before := exported(t, dir)
			_, err := plugin.Export(dir, elsewhere(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if failure.CodeOf(err) != failure.Usage || failure.Hint(err) == "" {
				t.Errorf("code %d, hint %q", failure.CodeOf(err), failure.Hint(err))
			}
			if diff := cmp.Diff(before, exported(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExportRefusesAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "notes.md")
	write(t, file, "mine")
	if _, err := plugin.Export(file, elsewhere(t)); failure.CodeOf(err) != failure.Usage {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(file); string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestRemoveDeletesTheExport(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plugin")
	export(t, dir, elsewhere(t))
	if left, err := plugin.Remove(dir); err != nil || left != nil {
		t.Errorf("left %q, %v", left, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is left")
	}
	if left, err := plugin.Remove(dir); err != nil || left != nil {
		t.Errorf("again: left %q, %v", left, err)
	}
}

func TestRemoveKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	export(t, dir, elsewhere(t))
	write(t, filepath.Join(dir, "notes.md"), "mine")
	write(t, filepath.Join(dir, "pawl", "README.md"), "mine too")
	left, err := plugin.Remove(dir)
	if diff := cmp.Diff([]string{"pawl/README.md"}, left); err != nil || diff != "" {
		t.Error(err, diff)
	}
	want := map[string]string{"notes.md": "mine", "pawl/README.md": "mine too"}
	if diff := cmp.Diff(want, exported(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func copyFiles(t *testing.T, dir string, p plugin.Plugin) {
	t.Helper()
	for name, content := range p.Files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), string(content))
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
