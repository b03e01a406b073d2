package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/proc"
)

// A background job does not read the terminal, because that would stop it.
func TestBackgroundJobIsNotInForeground(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	for script, want := range map[string]string{
		`"$0"`:                      "true",
		`set -m; "$0" <&0 & wait`:   "false",
		`"$0" </dev/null`:           "false",
		`set -m; "$0" & wait; "$0"`: "falsetrue",
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script, os.Args[0])
		cmd.Env = append(os.Environ(), "TEST_MAIN=foreground")
		cmd.Stdin = terminal(t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", script, got, want, err)
		}
	}
	if proc.InForeground(terminal(t)) {
		t.Error("in the foreground of a terminal that is another's")
	}
}

// terminal creates a pseudo-terminal.
func terminal(t *testing.T) *os.File {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = main.Close() })
	if err := unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
