package dirwatch_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/dirwatch"
)

func TestWatchTellsOfChanges(t *testing.T) {
	write := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	rename := func(from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*testing.T, string)
		want   bool
	}{
		{"a file is written", write("new"), true},
		{"a hidden file is renamed to a visible one", rename(".hidden", "new"), true},
		{"a hidden file is written", write(".new"), false},
		{"a file is moved away", rename("old", "../old"), false},
		{"the folder is moved", rename("", "../elsewhere"), true},
		{"the folder above it is moved", rename("..", "../../elsewhere"), true},
		{"the folder is deleted", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "above", "inbox")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			write("old")(t, dir)
			write(".hidden")(t, dir)
			w := dirwatch.New(dir)
			if w == nil {
				agenttest.Lacks(t, "folders of this file system are not watched, or the watches of the user are used up")
			}
			tt.change(t, dir)
			within := 10 * time.Second
			if !tt.want {
				within = 50 * time.Millisecond
			}
			got := false
			select {
			case <-w.Changed():
				got = true
			case <-time.After(within):
			}
			if got != tt.want {
				t.Errorf("told of a change: %v, want %v", got, tt.want)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNothingToWatch(t *testing.T) {
	w := dirwatch.New(filepath.Join(t.TempDir(), "none"))
	if w != nil {
		t.Error("a folder is watched that does not exist")
	}
	if w.Changed() != nil || w.Close() != nil {
		t.Error("a nil Watch is not one that does nothing")
	}
}
