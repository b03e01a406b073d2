//go:build unix

package frozen_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/frozen"
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
		"web/vitest.config.ts": "x\n", "docs/rules.md": "x\n", "app.js": "x\n", "run/me.sh": "exit 0\n",
	}
}

func freeze(t *testing.T, root, store string) *frozen.Files {
	t.Helper()
	f, err := frozen.Take(frozen.Options{
		Root: root, Store: store, Protect: []string{"docs/**"},
		Gates: []gate.Gate{
			{Command: `npm test && "./check.sh"`},
			{Command: "make test", Dir: "web"},
			{Argv: []string{"bash", "-e", "run/me.sh"}},
			{Command: "node app.js"},
			{Command: "if"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is frozen by its keys may be edited.
func TestWhatJudgesAsAWhole(t *testing.T) {
	t.Parallel()
	b := newProject(t, shopFiles())
	f, err := frozen.Look(frozen.Options{Root: b.root, Protect: []string{"docs/**", "pawl.toml"}, Gates: []gate.Gate{{Command: "npm test && ./check.sh && make"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"check.sh", "docs/rules.md", "jest.config.js", "pawl.toml"}, f.Whole()); diff != "" {
		t.Error(diff)
	}
}

func TestFrozenSeesWhatJudgesAndPutsItBack(t *testing.T) {
	t.Parallel()
	edit := func(from, to string) files {
		return files{"package.json": replaceOnce(t, manifest, from, to)}
	}
	cases := []struct {
		name string
		work files
		want []string
		back string // the package.json in the end, "" = as it was
	}{
		{"nothing", nil, nil, ""},
		{"the product", files{"app.js": "y\n", "new.js": "z\n"}, nil, ""},
		{"a gate's script", files{"check.sh": "exit 0\n"}, []string{"check.sh"}, ""},
		{"a gate's script is gone", files{"run/me.sh": ""}, []string{"run/me.sh"}, ""},
		{"a build file that a gate uses", files{"Makefile": "test:\n"}, []string{"Makefile"}, ""},
		{"runner configuration", files{"jest.config.js": "y\n", "web/vitest.config.ts": "y\n"}, []string{"jest.config.js", "web/vitest.config.ts"}, ""},
		{"what the person protects", files{"docs/rules.md": "y\n"}, []string{"docs/rules.md"}, ""},
		{"Pawl's own file comes to be", files{"pawl.toml": "gates = []\n"}, []string{"pawl.toml"}, ""},
		{"a dependency", edit(`"left-pad": "1"`, `"left-pad": "2"`), nil, replaceOnce(t, manifest, `"left-pad": "1"`, `"left-pad": "2"`)},
		{"a script that no gate runs", edit(`"node ."`, `"node app.js"`), nil, replaceOnce(t, manifest, `"node ."`, `"node app.js"`)},
		{"a script that a gate runs", edit(`&& jest"`, `|| true"`), []string{"package.json"}, ""},
		{"a script that it leads to", edit(`eslint .`, `true`), []string{"package.json"}, ""},
		{"a script before it", edit(`"start"`, `"pretest": "rm -r tests", "start"`), []string{"package.json"}, ""},
		{
			"settings of the runner, and a dependency",
			files{"package.json": replaceOnce(t, replaceOnce(t, manifest, "true}", "false}"), `"1"`, `"2"`)},
			[]string{"package.json"},
			replaceOnce(t, manifest, `"1"`, `"2"`),
		},
		{"nothing is left in it", files{"package.json": "{}"}, []string{"package.json"}, "-"},
		{"it is no JSON any more", files{"package.json": "{"}, []string{"package.json"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &project{t: t, root: t.TempDir()}
			b.write(shopFiles())
			f := freeze(t, b.root, t.TempDir())
			b.write(c.work)
			got, err := f.Changes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if err := f.PutBack(append(got, "app.js")); err != nil {
				t.Fatal(err)
			}
			if left, err := f.Changes(); err != nil || left != nil {
				t.Errorf("still changed: %q, %v", left, err)
			}
			checkManifest(t, b.root, c.back)
		})
	}
}

func replaceOnce(t *testing.T, s, from, to string) string {
	t.Helper()
	if strings.Count(s, from) != 1 {
		t.Fatalf("%q is not once in %q", from, s)
	}
	return strings.Replace(s, from, to, 1)
}

func checkManifest(t *testing.T, root, want string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	switch want {
	case "-":
		if !json.Valid(b) {
			t.Errorf("no JSON: %s", b)
		}
		return
	case "":
		want = manifest
	}
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("package.json (-want +got):\n%s", diff)
	}
}

func TestFrozenSurvivesARestartAndAPersonsChange(t *testing.T) {
	t.Parallel()
	b := &project{t: t, root: t.TempDir()}
	b.write(shopFiles())
	store := t.TempDir()
	freeze(t, b.root, store)
	b.write(files{"check.sh": "exit 0\n"})
	f := freeze(t, b.root, store) // as after a crash: not what is there now
	if got, err := f.Changes(); err != nil || !cmp.Equal(got, []string{"check.sh"}) {
		t.Fatalf("changes %q, %v", got, err)
	}
	for _, path := range []string{"check.sh", "app.js"} {
		if err := f.Adopt(path); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := freeze(t, b.root, store).Changes(); err != nil || got != nil {
		t.Errorf("after adoption: %q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(store, "frozen.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := frozen.Take(frozen.Options{Root: b.root, Store: store}); err == nil {
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
	check := filepath.Join(b.root, "check.sh")
	if err := os.Remove(check); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, check); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	got, err := f.Changes()
	if err != nil || !cmp.Equal(got, []string{"check.sh"}) {
		t.Fatalf("changes %q, %v", got, err)
	}
	if err := f.PutBack(got); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(elsewhere); err != nil || string(kept) != "mine" {
		t.Errorf("the link was followed: %q, %v", kept, err)
	}
	if info, err := os.Lstat(check); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("put back as %v, %v", info, err)
	}
}
