//go:build unix

package doctor

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/store"
)

func TestLoopWritableByOthersIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := store.Open(dir).Create("/repo", struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if found := checkHome(Facts{home: readHome(dir)}); len(found) != 1 || found[0].Status != OK {
		t.Errorf("before: %+v", found)
	}
	if err := os.Chmod(l.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	found := checkHome(Facts{home: readHome(dir)})
	if len(found) != 1 || found[0].Status != Bad || !strings.Contains(found[0].What, l.Dir) || !strings.Contains(found[0].Fix, "chmod go-w "+l.Dir) {
		t.Errorf("%+v", found)
	}
}
