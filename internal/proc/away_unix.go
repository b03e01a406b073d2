//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// awayMost is how long the shell may take that starts a command and ends.
const awayMost = 10 * time.Second

// Away starts a command so that it is nobody's child, and returns its process id.
// A session of its own is not enough: a client that ends its hooks (Esc, a closed
// terminal, a time-out) looks for their processes by who started whom, and a
// parent that has ended leaves no trace. Its standard input is empty, its output
// goes where cmd.Stdout says, which must be a file or nil.
func Away(cmd *exec.Cmd) (pid int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), awayMost)
	defer cancel()
	out, ok := cmd.Stdout.(*os.File)
	if !ok {
		if out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			return 0, fmt.Errorf("start %s: %w", cmd.Path, err)
		}
		defer out.Close()
	}
	script := `"$@" </dev/null >&3 2>&3 3>&- & echo $!`
	sh := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, "sh", cmd.Path}, cmd.Args[1:]...)...)
	sh.Env, sh.Dir, sh.ExtraFiles = cmd.Env, cmd.Dir, []*os.File{out}
	Detach(sh)
	var said, problem bytes.Buffer
	sh.Stdout, sh.Stderr, sh.WaitDelay = &said, &problem, time.Second
	if err := sh.Run(); err != nil {
		return 0, fmt.Errorf("start %s: %w %s", cmd.Path, err, strings.TrimSpace(problem.String()))
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(said.String())); err != nil {
		return 0, fmt.Errorf("start %s: the shell named no process: %w", cmd.Path, err)
	}
	return pid, nil
}
