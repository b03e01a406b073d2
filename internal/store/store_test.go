package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store"
)

type spec struct {
	Goal string `json:"goal"`
}

func TestCreateIsAtomicAndPrivate(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "pawl")
	s := store.Open(home)
	l := create(t, s, "/repo")
	if !regexp.MustCompile(`^[a-z]+-[a-z]+-[0-9a-f]{4}$`).MatchString(l.ID) {
		t.Errorf("id = %q", l.ID)
	}
	got, err := l.Spec()
	if err != nil {
		t.Fatal(err)
	}
	var body spec
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Fatal(err)
	}
	if got.ID != l.ID || got.Root != "/repo" || body.Goal != "tidy up" || time.Since(got.CreatedAt) > time.Minute {
		t.Errorf("spec = %+v, body = %+v", got, body)
	}
	if _, err := l.IterationDir(7); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(l.Dir, "iterations", "0007")); err != nil {
		t.Error(err)
	}
	append1(t, own(t, l), "begun")
	wantPrivate(t, home)
}

func TestCreateRefusesUnencodableSpec(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	if _, err := s.Create("/repo", func() {}); err == nil {
		t.Error("a function was kept as a spec")
	}
	if loops, err := s.Loops(); err != nil || len(loops) != 0 {
		t.Errorf("loops = %v, %v", loops, err)
	}
}

func TestHomeIsAFile(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "pawl")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := store.Open(home)
	if _, err := s.Create("/repo", spec{}); err == nil {
		t.Error("created a loop in a file")
	}
	if _, err := s.Loops(); err == nil {
		t.Error("listed loops of a file")
	}
	if _, err := s.Resolve("x", ""); err == nil {
		t.Error("resolved a loop of a file")
	}
}

func TestResolveFindsLoopsByPrefix(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	at := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	put(t, home, "brisk-otter-0001", "/a", at)
	put(t, home, "brisk-otter-0002", "/a", at.Add(time.Hour))
	put(t, home, "brisk-otter-00020", "/c", at)
	put(t, home, "calm-wren-0003", "/b", at)
	damaged := put(t, home, "dull-spoon-0004", "/a", at.Add(2*time.Hour))
	if err := os.WriteFile(filepath.Join(damaged, "spec.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := put(t, home, "eager-crane-0005", "/d", at.Add(time.Hour))
	write(t, filepath.Join(newer, "spec.json"), `{"v":99,"root":"/d","created_at":"2026-01-31T10:00:00Z","spec":[]}`)
	put(t, home, "eager-crane-0006", "/d", at)
	cases := []struct{ name, ref, root, want, hint string }{
		{"whole id", "calm-wren-0003", "/x", "calm-wren-0003", ""},
		{"whole id that is also a prefix", "brisk-otter-0002", "/x", "brisk-otter-0002", ""},
		{"unique prefix", "calm", "/x", "calm-wren-0003", ""},
		{"damaged, by id", "dull", "/x", "dull-spoon-0004", ""},
		{"prefix of several", "brisk", "/x", "", "it may be brisk-otter-0001, brisk-otter-0002, brisk-otter-00020"},
		{"prefix of several, one of them here", "brisk", "/c", "brisk-otter-00020", ""},
		{"unknown", "../etc", "/x", "", "calm-wren-0003"},
		{"unknown, near one of here", "brsik", "/a", "", "here are brisk-otter-0001, brisk-otter-0002 (pawl list --all"},
		{"newest here", ".", "/a", "brisk-otter-0002", ""},
		{"the only one here", "", "/b", "calm-wren-0003", ""},
		{"several here", "", "/a", "", "say which: . for the newest, or brisk-otter-0001, brisk-otter-0002"},
		{"none here", ".", "/x", "", "pawl list"},
		{"none here, and one is damaged", ".", "/x", "", "cannot be read: dull-spoon-0004 (pawl status ID says why)"},
		{"the newest is of a newer pawl", ".", "/d", "eager-crane-0005", ""},
		{"one of several is of a newer pawl", "", "/d", "", "say which: . for the newest, or eager-crane-0005, eager-crane-0006"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := store.Open(home).Resolve(c.ref, c.root)
			if c.want != "" {
				if err != nil || l.ID != c.want {
					t.Errorf("got %v, %v; want %s", l, err, c.want)
				}
				return
			}
			if err == nil || !strings.Contains(failure.Hint(err), c.hint) {
				t.Errorf("error %v with hint %q, want %q in it", err, failure.Hint(err), c.hint)
			}
		})
	}
}

func TestResolveWithoutLoops(t *testing.T) {
	t.Parallel()
	_, err := store.Open(filepath.Join(t.TempDir(), "none")).Resolve("", "/a")
	if !errors.Is(err, store.ErrNotFound) || !strings.Contains(failure.Hint(err), "pawl run") {
		t.Errorf("error = %v (%s)", err, failure.Hint(err))
	}
}

func TestHintListsAtMostEightLoops(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i := range 20 {
		put(t, home, fmt.Sprintf("calm-wren-%04d", i), "/a", time.Now())
	}
	_, err := store.Open(home).Resolve("calm", "")
	if hint := failure.Hint(err); !strings.HasSuffix(hint, "calm-wren-0007 and 12 more") {
		t.Errorf("hint = %q", hint)
	}
}

func TestIncompleteLoopsAreNotListed(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	l := create(t, s, "/repo")
	for _, name := range []string{".new-123", "a-file"} {
		path := filepath.Join(filepath.Dir(l.Dir), name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(filepath.Dir(l.Dir), "a-file")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(l.Dir), "a-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	loops, err := s.Loops()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*store.Loop{l}, loops); diff != "" {
		t.Error(diff)
	}
}

func create(t *testing.T, s *store.Store, root string) *store.Loop {
	t.Helper()
	l, err := s.Create(root, spec{Goal: "tidy up"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// put creates a loop with a given id.
func put(t *testing.T, home, id, root string, at time.Time) string {
	t.Helper()
	dir := filepath.Join(home, "loops", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(store.Spec{ID: id, Root: root, CreatedAt: at, Body: json.RawMessage("{}")})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "spec.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func wantPrivate(t *testing.T, root string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
