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

// detachTimeout limits the shell that starts a command and exits.
const detachTimeout = 10 * time.Second

// StartDetached starts a command without a parent and returns its process id. A new session is not
// enough. A client that ends its hooks (Esc, a closed terminal, a timeout) finds their processes by
// their parents, but not after a parent has exited. The command's input is empty; cmd.Stdout must
// be a file or nil.
func StartDetached(cmd *exec.Cmd) (pid int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), detachTimeout)
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
		return 0, fmt.Errorf("start %s: read process id: %w", cmd.Path, err)
	}
	return pid, nil
}
