package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/failure"
)

func TestExit(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		err  error
		code int
		says string
	}{
		{"nothing went wrong", nil, 0, ""},
		{"all has been said", fmt.Errorf("audit: %w", codeUndecided), 3, ""},
		{"an error", errors.New("disk full"), 1, "pawl: error: disk full\n"},
		{"a failure", failure.New(failure.Usage, "say which", "there are 2 loops"), 2, "pawl: error: there are 2 loops\npawl: hint: say which\n"},
		{"Ctrl-C", signalled{syscall.SIGINT}, 130, ""},
		{"TERM", signalled{syscall.SIGTERM}, 143, ""},
		{"HUP", signalled{syscall.SIGHUP}, 129, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "stderr")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			a := &app{Stdio: Stdio{Err: f}}
			if got := a.exit(c.err); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			said, err := os.ReadFile(path)
			if err != nil || string(said) != c.says {
				t.Errorf("said %q (%v), want %q", said, err, c.says)
			}
		})
	}
}
