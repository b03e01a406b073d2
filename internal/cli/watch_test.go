package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// A screen that nothing changes on reads no loop again: what it asks each second is
// whether a journal has grown, or a loop has come or gone.
func TestAnIdleScreenReadsNoLoop(t *testing.T) {
	t.Parallel()
	st := store.Open(t.TempDir())
	l, err := st.Create("/repo", record.Spec{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{app: &app{store: st}, all: true}
	var before *store.ListEntry[record.Summary] // the first of what was read
	for _, step := range []struct {
		name   string
		change func() error
		reads  bool
		loops  int
	}{
		{"at first", func() error { return nil }, true, 1},
		{"nothing changed", func() error { return nil }, false, 1},
		{"its journal grew", func() error {
			return os.WriteFile(filepath.Join(l.Dir, "journal.jsonl"), []byte("{}\n"), 0o600)
		}, true, 1},
		{"another came", func() error { _, err := st.Create("/repo", record.Spec{Prompt: "y"}); return err }, true, 2},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		got, err := w.Loops()
		if err != nil || len(got) != step.loops || (&w.list[0] != before) != step.reads {
			t.Errorf("%s: %d loops, %v, read: %v", step.name, len(got), err, &w.list[0] != before)
		}
		before = &w.list[0]
	}
}
