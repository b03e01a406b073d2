package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

func TestSpecOfNewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	path := filepath.Join(l.Dir, "spec.json")
	written := read(t, path)
	if !strings.HasPrefix(written, `{"v":3,`) {
		t.Fatalf("spec.json begins with %.20s", written)
	}
	for _, newer := range []string{strings.Replace(written, `{"v":3,`, `{"v":4,`, 1), `{"v":4,"id":7,"spec":[]}`} {
		write(t, path, newer)
		_, err := l.Spec()
		if !errors.Is(err, journal.ErrNewer) || !strings.Contains(failure.Hint(err), "update pawl") {
			t.Errorf("%.40s: %v, hint %q", newer, err, failure.Hint(err))
		}
	}
	write(t, path, strings.Replace(written, `{"v":3,`, `{`, 1)) // loopsIn before there were versions
	if s, err := l.Spec(); err != nil || s.ID != l.ID {
		t.Errorf("without a version: %+v, %v", s, err)
	}
}

// Records of a newer version are neither read nor cut off as damaged.
func TestJournalOfNewerVersionIsRefusedAndUnchanged(t *testing.T) {
	t.Parallel()
	for _, newer := range []string{`"v":4,"type":"turn"`, `"v":4,"type":{"of":"another shape"}`} {
		l, o := owned(t)
		append1(t, o, "turn")
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		replaceInJournal(t, l, `"v":3,"type":"turn"`, newer)
		before := read(t, filepath.Join(l.Dir, "journal.jsonl"))
		_, _, folded := store.Fold(l, zero, step)
		_, owned := l.Own(t.Context())
		_, _, verified := l.VerifyJournal()
		for _, err := range []error{folded, owned, verified} {
			if !errors.Is(err, journal.ErrNewer) || !strings.Contains(failure.Hint(err), "update pawl") {
				t.Errorf("%s: %v, hint %q", newer, err, failure.Hint(err))
			}
		}
		if diff := cmp.Diff(before, read(t, filepath.Join(l.Dir, "journal.jsonl"))); diff != "" {
			t.Error(diff)
		}
	}
}

// A snapshot or summary of another version may lack fields or have unknown ones. It is
// derived again.
func TestDerivedFilesOfOtherVersionAreRebuilt(t *testing.T) {
	t.Parallel()
	home := store.Open(t.TempDir())
	l := create(t, home, "/repo")
	o := own(t, l)
	mark := append1(t, o, "turn")
	type before struct {
		Kinds map[string]int `json:"count"`
	}
	if err := o.Save(mark, before{}, before{Kinds: map[string]int{"turn": 7}}); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{store.TypeOwnerTaken: 1, "turn": 1}
	got, _ := fold(t, l)
	if diff := cmp.Diff(want, got.Count); diff != "" {
		t.Error(diff)
	}
	for range 2 { // the second time out of the file
		listed, err := store.List(home, func(*store.Loop) (state, error) { return got, nil })
		if err != nil || len(listed) != 1 || !cmp.Equal(want, listed[0].Summary.Count) {
			t.Errorf("%+v, %v", listed, err)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
