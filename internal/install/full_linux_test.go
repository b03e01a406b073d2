package install

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// childDir makes this test binary the child of TestAFullDiskChangesNothing.
var childDir = flag.String("child.dir", "", "install into the settings in this folder, under a limit of 1 MB for a file")

// There is space for the record but not for the settings.
func TestAFullDiskChangesNothing(t *testing.T) {
	t.Parallel()
	if *childDir != "" {
		installTooMuch(t)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	put(t, path, huge(), 0o600)
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-child.dir="+dir).CombinedOutput()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	if content(t, path) != huge() {
		t.Error("the settings were changed")
	}
	want := []string{".", "home", "home/install", "home/install/" + filepath.Base(recordPath("", path)), "settings.json"}
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Error(diff)
	}
	// The record of the failed install does not affect the next one.
	r := Request{Scope: Local, Path: path, Home: filepath.Join(dir, "home"), Entries: wanted()}
	for _, do := range []func(Request) (Result, error){Uninstall, Install, Uninstall} {
		if _, err := do(r); err != nil {
			t.Fatal(err)
		}
	}
	if content(t, path) != huge() {
		t.Error("not as before")
	}
}

func installTooMuch(t *testing.T) {
	limit := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	r := Request{Scope: Local, Path: filepath.Join(*childDir, "settings.json"), Home: filepath.Join(*childDir, "home"), Entries: wanted()}
	if _, err := Install(r); err == nil {
		t.Error("no error")
	}
}
