//go:build unix

package frozen_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/frozen"
)

// A filter of git's and settings in the user's home are named once they are others, and once only.
func TestWhatIsAroundTheWorkTree(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	site := filepath.Join(home, ".local", "lib", "python3.12", "site-packages")
	o := frozen.Options{
		Root: root, Store: filepath.Join(t.TempDir(), "frozen"),
		Personal: []string{filepath.Join(home, ".npmrc"), filepath.Join(site, "usercustomize.py"), filepath.Join(site, "*.pth")},
	}
	personal := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	personal(filepath.Join(home, ".npmrc"), "//example.com/:_authToken=secret\n")
	filters := map[string]string{"filter.lfs.clean": "git-lfs clean -- %f"}
	o.Converters = func() (map[string]string, error) { return filters, nil }
	for _, step := range []struct {
		do   func()
		want []string
	}{
		{func() {}, nil},
		{func() {}, nil},
		{func() {}, nil},
		{func() { filters["filter.same.clean"] = "cat old" }, []string{"git's filter.same.clean is another than before: cat old"}},
		{func() { delete(filters, "filter.same.clean") }, nil},
		{func() { personal(filepath.Join(home, ".npmrc"), "script-shell=true\n") }, []string{"the user's " + home + "/.npmrc is another than before: 18 bytes, sha256 "}},
		{func() { personal(filepath.Join(site, "usercustomize.py"), "") }, []string{"site-packages/usercustomize.py is another"}},
		{func() { personal(filepath.Join(site, "a.pth"), "import a\n") }, []string{"site-packages/a.pth is another"}},
		{func() { personal(filepath.Join(home, ".profile"), "x\n") }, nil},
	} {
		step.do()
		f, err := frozen.Take(context.Background(), o) // as after a crash
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.ChangedTools(filters)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(step.want) || len(got) > 0 && !strings.Contains(got[0], step.want[0]) {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}
