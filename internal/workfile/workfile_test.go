package workfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/workfile"
)

// Whatever an agent plants in the work tree, no file outside of it changes.
func TestNothingOutsideChanges(t *testing.T) {
	t.Parallel()
	plants := map[string]func(t *testing.T, root, outside string){
		"a link to a file":           func(t *testing.T, root, outside string) { link(t, filepath.Join(outside, "f.md"), root, "docs/f.md") },
		"a link that leads nowhere":  func(t *testing.T, root, outside string) { link(t, filepath.Join(outside, "new.md"), root, "docs/f.md") },
		"a folder that is a link":    func(t *testing.T, root, outside string) { link(t, outside, root, "docs") },
		"a relative link":            func(t *testing.T, root, _ string) { link(t, "../outside", root, "docs") },
		"a link above the folder":    func(t *testing.T, root, outside string) { link(t, outside, root, "a") },
		"a file in a folder's place": func(t *testing.T, root, _ string) { write(t, filepath.Join(root, "docs"), "x") },
	}
	actions := map[string]func(root, name string) error{
		"write":   func(root, name string) error { return workfile.Write(root, name, []byte("by Pawl"), 0o644) },
		"remove":  workfile.RemoveAll,
		"chmod":   func(root, name string) error { return workfile.Chmod(root, name, 0o777) },
		"symlink": func(root, name string) error { return workfile.Symlink(root, name, "x") },
		"unlink":  workfile.RemoveLinks,
	}
	for plant, do := range plants {
		for action, act := range actions {
			t.Run(action+"/"+plant, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				root, outside := filepath.Join(dir, "root"), filepath.Join(dir, "outside")
				write(t, filepath.Join(outside, "f.md"), "precious")
				write(t, filepath.Join(outside, "docs", "f.md"), "precious")
				if err := os.Mkdir(root, 0o755); err != nil {
					t.Fatal(err)
				}
				do(t, root, outside)
				for _, name := range []string{"docs/f.md", "a/docs/f.md"} {
					err := act(root, name)
					if err != nil && !errors.Is(err, workfile.ErrLink) && !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s: %v", name, err)
					}
					if got := readFile(t, filepath.Join(root, "docs/f.md")); action == "write" && got != "by Pawl" {
						t.Errorf("the file reads %q", got)
					}
				}
				if diff := cmp.Diff(map[string]string{"f.md": "precious", "docs/f.md": "precious"}, files(t, outside)); diff != "" {
					t.Errorf("outside:\n%s", diff)
				}
			})
		}
	}
}

func TestReadFollowsNoLink(t *testing.T) {
	t.Parallel()
	root, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	write(t, secret, "key")
	link(t, secret, root, "plan.md")
	link(t, filepath.Dir(secret), root, "docs")
	write(t, filepath.Join(root, "own", "plan.md"), "tasks")
	for _, name := range []string{"plan.md", "docs/secret"} {
		if data, err := workfile.Read(root, name, 100); !errors.Is(err, workfile.ErrLink) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if err := workfile.Check(root, name); !errors.Is(err, workfile.ErrLink) {
			t.Errorf("check %s: %v", name, err)
		}
	}
	if data, err := workfile.Read(root, "own/plan.md", 100); err != nil || string(data) != "tasks" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := workfile.Read(root, "own/plan.md", 4); err == nil {
		t.Error("a file above the limit was read")
	}
	if _, err := workfile.Read(root, "none/plan.md", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := workfile.Check(root, "none/plan.md"); err != nil {
		t.Errorf("check a missing file: %v", err)
	}
}

func TestWriteKeepsTheModeAndNoTemporaryFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "run.sh"), "one")
	if err := os.Chmod(filepath.Join(root, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := workfile.Write(root, "run.sh", []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := workfile.Write(root, "new/f", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"run.sh": "two", "new/f": "x"}, files(t, root)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(root, "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 && filepath.Separator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, name := range []string{"..", ".", "", "../x", "a/../../x"} {
		if err := workfile.Write(root, name, nil, 0o600); err == nil {
			t.Errorf("wrote %q", name)
		}
	}
	if err := workfile.Write(root, "new", nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
}

func write(t *testing.T, file, data string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(data), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, root, name string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err.Error()
	}
	return string(data)
}

// files returns the regular files below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all[name] = readFile(t, filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
