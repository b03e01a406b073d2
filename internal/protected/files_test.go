//go:build unix

package protected_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/protected"
)

const manifest = `{
  "name": "shop",
  "scripts": {
    "test": "npm run lint && jest",
    "lint": "eslint .",
    "start": "node ."
  },
  "jest": {"bail": true},
  "dependencies": {"left-pad": "1"}
}
`

func shopFiles() files {
	return files{
		"package.json": manifest, "check.sh": "exit 1\n", "Makefile": "test:\n\ttrue\n", "jest.config.js": "x\n",
		"docs/rules.md": "x\n", "keep/me.sh": "exit 0\n", "app.js": "x\n",
	}
}

func freeze(t *testing.T, root, store string) *protected.Files {
	t.Helper()
	f, err := protected.Freeze(context.Background(), protected.Options{
		Root: root, Store: store, Protect: []string{"docs/**", "./keep/*"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestScanFindsProtectedFiles(t *testing.T) {
	t.Parallel()
	b := newProject(t, shopFiles())
	f, err := protected.Scan(context.Background(), protected.Options{Root: b.root, Protect: []string{"docs/**", "pawl.toml"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"docs/rules.md", "pawl.toml"}, f.WorkTreeFiles()); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyProtectedFilesAreRestored(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		work files
		want []string
	}{
		{"nothing", nil, nil},
		{"the product", files{"app.js": "y\n", "new.js": "z\n"}, nil},
		{"what a protected glob names", files{"docs/rules.md": "y\n"}, []string{"docs/rules.md"}},
		{"a protected file that is gone", files{"keep/me.sh": ""}, []string{"keep/me.sh"}},
		{"Pawl's own file comes to be", files{"pawl.toml": "gates = []\n"}, []string{"pawl.toml"}},
		// A claim is judged with these as they were, too.
		{"gate inputs", files{"check.sh": "exit 0\n", "Makefile": "test:\n", "jest.config.js": "y\n", "package.json": "{}\n", ".github/workflows/ci.yml": "on: push\n"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newProject(t, shopFiles())
			f := freeze(t, b.root, t.TempDir())
			b.write(c.work)
			got, err := f.Changes(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if err := f.Restore(context.Background(), append(got, "app.js")); err != nil {
				t.Fatal(err)
			}
			if left, err := f.Changes(context.Background()); err != nil || left != nil {
				t.Errorf("still changed: %q, %v", left, err)
			}
		})
	}
}

func TestFrozenCopySurvivesRestartAndUserEdits(t *testing.T) {
	t.Parallel()
	b := &project{t: t, root: t.TempDir()}
	b.write(shopFiles())
	store := t.TempDir()
	freeze(t, b.root, store)
	b.write(files{"keep/me.sh": "exit 1\n"})
	f := freeze(t, b.root, store) // as after a crash: not what is there now
	if got, err := f.Changes(context.Background()); err != nil || !cmp.Equal(got, []string{"keep/me.sh"}) {
		t.Fatalf("changes %q, %v", got, err)
	}
	for _, path := range []string{"keep/me.sh", "app.js"} {
		if err := f.AcceptChange(path); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := freeze(t, b.root, store).Changes(context.Background()); err != nil || got != nil {
		t.Errorf("after adoption: %q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(store, "protected.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := protected.Freeze(context.Background(), protected.Options{Root: b.root, Store: store}); err == nil {
		t.Error("broken copies are taken for none")
	}
}

func TestFrozenFileReplacedByALink(t *testing.T) {
	t.Parallel()
	b := &project{t: t, root: t.TempDir()}
	b.write(shopFiles())
	f := freeze(t, b.root, t.TempDir())
	elsewhere := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(elsewhere, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	check := filepath.Join(b.root, "keep/me.sh")
	if err := os.Remove(check); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, check); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	got, err := f.Changes(context.Background())
	if err != nil || !cmp.Equal(got, []string{"keep/me.sh"}) {
		t.Fatalf("changes %q, %v", got, err)
	}
	if err := f.Restore(context.Background(), got); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(elsewhere); err != nil || string(kept) != "mine" {
		t.Errorf("the link was followed: %q, %v", kept, err)
	}
	if info, err := os.Lstat(check); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("put back as %v, %v", info, err)
	}
}

// A folder that the agent replaces by a link is restored, and nothing changes where the link leads.
func TestFolderOfFrozenFileReplacedByALink(t *testing.T) {
	t.Parallel()
	b := &project{t: t, root: t.TempDir()}
	b.write(shopFiles())
	f := freeze(t, b.root, t.TempDir())
	outside := t.TempDir()
	put(t, outside, files{"me.sh": "mine"})
	if err := os.RemoveAll(filepath.Join(b.root, "keep")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.root, "keep")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	got, err := f.Changes(context.Background())
	if err != nil || !cmp.Equal(got, []string{"keep/me.sh"}) {
		t.Fatalf("changes %q, %v", got, err)
	}
	if err := f.Restore(context.Background(), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"me.sh": "mine"}, tree(t, outside)); diff != "" {
		t.Errorf("outside:\n%s", diff)
	}
	if info, err := os.Lstat(filepath.Join(b.root, "keep")); err != nil || !info.IsDir() {
		t.Errorf("the folder is %v, %v", info, err)
	}
	if got, err := f.Changes(context.Background()); err != nil || len(got) > 0 {
		t.Errorf("still changed: %q, %v", got, err)
	}
}

// Hooks that are a link at the start stay one, and the files it leads to are protected. A link that
// the agent makes of them is removed.
func TestFolderOfHooksIsALink(t *testing.T) {
	t.Parallel()
	for _, atStart := range []bool{true, false} {
		root, store, hooks, evil := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
		put(t, hooks, files{"pre-commit": "exit 0"})
		put(t, evil, files{"pre-commit": "evil", "commit-msg": "evil"})
		put(t, root, files{".git/config": ""})
		at := filepath.Join(root, ".git", "hooks")
		if !atStart {
			put(t, root, files{".git/hooks/pre-commit": "exit 0"})
		} else if err := os.Symlink(hooks, at); err != nil {
			t.Skipf("no symlinks here: %v", err)
		}
		o := protected.Options{Root: root, Store: store, GitDir: filepath.Join(root, ".git"), CommonDir: filepath.Join(root, ".git")}
		f, err := protected.Freeze(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Changes(t.Context()); err != nil || len(got) > 0 {
			t.Fatalf("changed at the start: %q, %v", got, err)
		}
		if err := errors.Join(os.RemoveAll(at), os.Symlink(evil, at)); err != nil {
			t.Fatal(err)
		}
		got, err := f.Changes(t.Context())
		if err != nil || len(got) == 0 {
			t.Fatalf("the new link was not noticed: %v", err)
		}
		if err := f.Restore(t.Context(), got); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(at); err != nil || info.IsDir() == atStart {
			t.Errorf("hooks are %v, %v", info, err)
		}
		if text, err := os.ReadFile(filepath.Join(at, "pre-commit")); string(text) != "exit 0" {
			t.Errorf("pre-commit is %q, %v", text, err)
		}
		if diff := cmp.Diff(map[string]string{"pre-commit": "evil", "commit-msg": "evil"}, tree(t, evil)); diff != "" {
			t.Errorf("where the agent's link leads:\n%s", diff)
		}
		if got, err := f.Changes(t.Context()); err != nil || len(got) > 0 {
			t.Errorf("still changed: %q, %v", got, err)
		}
	}
}
