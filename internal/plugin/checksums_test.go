package plugin

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// However far an export came before it was cut off, the next one finishes, also
// one of another version.
func TestExportThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	version := func(n string) map[string][]byte {
		return map[string][]byte{
			marketplaceFile: []byte("market " + n),
			manifestFile:    []byte("manifest " + n),
			"pawl/same.md":  []byte("same"),
			"pawl/" + n:     []byte("only in " + n),
		}
	}
	first, second, third := version("1"), version("2"), version("3")
	for written := range 6 {
		for _, next := range []map[string][]byte{first, second, third} {
			t.Run(fmt.Sprintf("%d files, then %s", written, next[manifestFile]), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if _, err := Export(dir, Plugin{Files: first}); err != nil {
					t.Fatal(err)
				}
				cutOff(t, dir, second, written)
				if _, err := Export(dir, Plugin{Files: next}); err != nil {
					t.Fatal(err)
				}
				if changed, err := Export(dir, Plugin{Files: next}); changed || err != nil {
					t.Errorf("once more: changed %v, %v", changed, err)
				}
				if diff := cmp.Diff(next, within(t, dir)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// cutOff does what Export does until so many files are written.
func cutOff(t *testing.T, dir string, files map[string][]byte, written int) {
	t.Helper()
	earlier, err := readChecksums(dir)
	if err != nil {
		t.Fatal(err)
	}
	stale, err := staleFiles(dir, earlier, files)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeChecksums(dir, earlier.union(newChecksums(files))); err != nil {
		t.Fatal(err)
	}
	for _, name := range stale[:min(written, len(stale))] {
		if err := writeOrRemove(dir, name, files[name]); err != nil {
			t.Fatal(err)
		}
	}
}

func within(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == checksumsFile {
			return err
		}
		all[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheMarketplaceIsWrittenLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := New(RepositoryHook())
	if err != nil {
		t.Fatal(err)
	}
	stale, err := staleFiles(dir, nil, p.Files)
	if err != nil || len(stale) != len(p.Files) || stale[len(stale)-1] != marketplaceFile {
		t.Errorf("%q, %v", stale, err)
	}
}

// Whatever changes in a file, its name or the number of them, the version does.
func TestVersionChangesWithEveryFile(t *testing.T) {
	t.Parallel()
	manifest := `{"name": "x", "version": "1.2.3+00000000"}`
	base := map[string][]byte{manifestFile: []byte(manifest), "a": []byte("1"), "b": []byte("")}
	changes := map[string]func(files map[string][]byte){
		"nothing":       func(map[string][]byte) {},
		"content":       func(f map[string][]byte) { f["a"] = []byte("2") },
		"name":          func(f map[string][]byte) { delete(f, "a"); f["aa"] = []byte("1") },
		"more":          func(f map[string][]byte) { f["c"] = []byte("") },
		"less":          func(f map[string][]byte) { delete(f, "b") },
		"moved":         func(f map[string][]byte) { f["a"], f["b"] = f["b"], f["a"] },
		"manifest":      func(f map[string][]byte) { f[manifestFile] = []byte(manifest + "\n") },
		"number":        func(f map[string][]byte) { f[manifestFile] = []byte(`{"name": "x", "version": "1.2.4"}`) },
		"another stamp": func(f map[string][]byte) { f[manifestFile] = []byte(`{"name": "x", "version": "1.2.3+ffffffff"}`) },
	}
	got := map[string]string{}
	for name, change := range changes {
		files := maps.Clone(base)
		change(files)
		got[name] = setVersion(files)
		if again := setVersion(files); again != got[name] {
			t.Errorf("%s: %s, and stamped again %s", name, got[name], again)
		}
	}
	seen := map[string]string{}
	for name, v := range got {
		if name == "another stamp" || name == "nothing" {
			continue
		}
		if other, ok := seen[v]; ok || v == got["nothing"] {
			t.Errorf("%s and %s have one version", name, other)
		}
		seen[v] = name
	}
	if got["another stamp"] != got["nothing"] {
		t.Error("the version depends on itself")
	}
	if got["number"][:6] != "1.2.4+" {
		t.Errorf("version %s", got["number"])
	}
}

func FuzzChecksums(f *testing.F) {
	f.Add("a", "b/c", "x", "y")
	f.Add("../x", "/etc/passwd", "", "\n")
	f.Add("a b", "ä\nb", "1", "2")
	f.Fuzz(func(t *testing.T, name, other, one, two string) {
		l := newChecksums(map[string][]byte{name: []byte(one)}).union(newChecksums(map[string][]byte{name: []byte(two), other: []byte(one)}))
		got, err := parseChecksums(string(l.format()))
		if err != nil {
			return // a path that no export has
		}
		for path := range got {
			if !filepath.IsLocal(filepath.FromSlash(path)) {
				t.Errorf("%q leads out of the folder", path)
			}
		}
		if diff := cmp.Diff(l, got); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzParseChecksums(f *testing.F) {
	f.Add(checksumsHeader)
	f.Add(string(newChecksums(map[string][]byte{"a": nil, "b/c": []byte("x")}).format()))
	f.Add(checksumsHeader + "00  ../x\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseChecksums(text)
		if err != nil {
			return
		}
		again, err := parseChecksums(string(l.format()))
		if diff := cmp.Diff(l.union(l), again.union(again)); err != nil || diff != "" {
			t.Error(err, diff)
		}
		for path := range l {
			if !filepath.IsLocal(filepath.FromSlash(path)) {
				t.Errorf("%q leads out of the folder", path)
			}
		}
	})
}
