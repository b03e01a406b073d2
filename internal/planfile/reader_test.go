package planfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/planfile"
)

func TestReaderParsesBytesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plan.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var r planfile.Reader
	load := func() *planfile.File {
		t.Helper()
		f, err := r.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	write("- [ ] one\n- [ ] two\n")
	first := load()
	if load() != first {
		t.Error("the same bytes were parsed again")
	}
	ticked, err := first.Tick("1")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := first.Tick("1"); err != nil || again != ticked {
		t.Errorf("the same marks were parsed again: %v", err)
	}
	write("- [x] one\n- [ ] two\n")
	if load() != ticked {
		t.Error("the plan that was ticked was parsed again")
	}
	write("- [x] one\n- [ ] 2\n")
	if got := load().Plan().Tasks[1].Title; got != "2" {
		t.Errorf("an edit was not read: %q", got)
	}
	write("no task")
	if _, err := r.Load(path); err == nil {
		t.Error("a plan without a task was read")
	}
}
