package lesson_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/lesson"
)

func TestLessonIsKeptOncePerProject(t *testing.T) {
	t.Parallel()
	b := lesson.NewStore(filepath.Join(t.TempDir(), "home"))
	for _, text := range []string{"one", "two", "one"} {
		if err := b.Add(t.Context(), "/shop", text); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Add(t.Context(), "/other", "three"); err != nil {
		t.Fatal(err)
	}
	if err := b.Remove(t.Context(), "/shop", "one"); err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string][]string{"/shop": {"two"}, "/other": {"three"}, "/none": nil} {
		got, err := b.List(root)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", root, err, diff)
		}
	}
}

func TestStoreIsBoundedAndKeptIfDamaged(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	b := lesson.NewStore(home)
	for i := range lesson.MaxPerProject {
		if err := b.Add(t.Context(), "/shop", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Add(t.Context(), "/shop", "more"); err == nil || !strings.Contains(err.Error(), "20 lessons") {
		t.Errorf("one too many: %v", err)
	}
	path := filepath.Join(home, "lessons.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(t.Context(), "/shop", "more"); err == nil {
		t.Error("a file that cannot be read was written over")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "{" {
		t.Errorf("%q %v", data, err)
	}
}
