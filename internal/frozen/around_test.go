//go:build unix

package frozen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/frozen"
)

// A program that gates run by name, and a filter of git's, are named once they are
// others, and once only.
func TestWhatIsAroundTheWorkTree(t *testing.T) {
	t.Parallel()
	root, early, late := t.TempDir(), t.TempDir(), t.TempDir()
	o := frozen.Options{
		Root: root, Store: filepath.Join(t.TempDir(), "frozen"), Gates: []gate.Gate{{Command: "runner -q && other"}},
		Path: early + string(os.PathListSeparator) + late,
	}
	program := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "runner"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program(late, "#!/bin/sh\nexit 1\n")
	filters := map[string]string{"filter.lfs.clean": "git-lfs clean -- %f"}
	o.Converters = func() (map[string]string, error) { return filters, nil }
	for _, step := range []struct {
		do   func()
		want []string
	}{
		{func() {}, nil},
		{func() {}, nil},
		{func() { program(early, "#!/bin/sh\n") }, []string{"the program runner of the gates is another than before: " + early + "/runner, "}},
		{func() {}, nil},
		{func() { program(early, "#!/bin/sh\nexit 0\n") }, []string{early + "/runner, 17 bytes"}},
		{func() { filters["filter.same.clean"] = "cat old" }, []string{"git's filter.same.clean is another than before: cat old"}},
		{func() { delete(filters, "filter.same.clean") }, nil},
	} {
		step.do()
		f, err := frozen.Take(o) // as after a crash
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Moved(filters)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(step.want) || len(got) > 0 && !strings.Contains(got[0], step.want[0]) {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}
