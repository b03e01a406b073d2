package atomicfile_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// childFile makes this test binary the child of TestFullDiskKeepsTheOldContent.
var childFile = flag.String("child.file", "", "write more than fits to this file, under a limit of 4 kB")

func TestFullDiskKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	if *childFile != "" {
		writeTooMuch(t)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.md")
	write(t, path, "old", 0o600)
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-child.file="+path).CombinedOutput()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	wantFile(t, path, "old", 0o600)
	if diff := cmp.Diff([]string{"plan.md"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func writeTooMuch(t *testing.T) {
	limit := syscall.Rlimit{Cur: 4096, Max: 4096}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(*childFile, make([]byte, 8192), 0o600); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("error = %v, want EFBIG", err)
	}
}
