//go:build unix

package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// timeout bounds each run of pawl, also on a machine that has other work.
const timeout = 8 * time.Minute

// result is what a run of pawl left.
type result struct {
	code     int // 128 + n if signal n ended it
	out, err string
}

func (r result) String() string {
	return fmt.Sprintf("exit %d\n--- stdout\n%s\n--- stderr\n%s", r.code, r.out, r.err)
}

// contains reports whether the output has all texts.
func (r result) contains(texts ...string) bool {
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			return false
		}
	}
	return true
}

// running is a pawl under way.
type running struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err lockedBuffer
	done     chan struct{}
}

// lockedBuffer may be read while the process writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs pawl in the repository, in a process group of its own as a shell
// would.
func (b *bench) start(args ...string) *running {
	b.t.Helper()
	r := &running{t: b.t, cmd: exec.Command(b.binary, args...), done: make(chan struct{})}
	r.cmd.Dir, r.cmd.Env = b.root, b.environ()
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.WaitDelay = 2 * time.Second
	if err := r.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.done)
	}()
	b.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.done
	})
	return r
}

// pawl runs pawl to its end.
func (b *bench) pawl(args ...string) result {
	b.t.Helper()
	return b.start(args...).wait()
}

// run is `pawl run`, which must end with the code.
func (b *bench) run(code int, args ...string) result {
	b.t.Helper()
	r := b.pawl(append([]string{"run"}, args...)...)
	b.checkExitCode(r, code)
	return r
}

// checkExitCode checks an exit code. On failure it prints the journal.
func (b *bench) checkExitCode(r result, code int) {
	b.t.Helper()
	if r.code != code {
		b.t.Fatalf("exit %d wanted; %s\n--- log\n%s", code, r, b.pawl("log", ".").out)
	}
}

func (r *running) wait() result {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(timeout):
		_ = r.cmd.Process.Signal(syscall.SIGQUIT) // it tells where it stands
		select {
		case <-r.done:
		case <-time.After(5 * time.Second):
		}
		r.t.Fatalf("pawl %v is still running after %v\n%s\n%s", r.cmd.Args[1:], timeout, r.out.String(), r.err.String())
	}
	res := result{out: r.out.String(), err: r.err.String(), code: r.cmd.ProcessState.ExitCode()}
	if ws, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.code = 128 + int(ws.Signal())
	}
	return res
}

func (r *running) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// waitUntil waits until a condition holds.
func (r *running) waitUntil(what string, so func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(timeout / 2); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if so() {
			return
		}
		select {
		case <-r.done:
			if so() {
				return
			}
			r.t.Fatalf("pawl ended before %s\n%s\n%s", what, r.out.String(), r.err.String())
		default:
		}
	}
	r.t.Fatalf("no %s within %v\n%s\n%s", what, timeout/2, r.out.String(), r.err.String())
}

// waitForOutput waits for a text in the output.
func (r *running) waitForOutput(text string) {
	r.t.Helper()
	r.waitUntil(strconv.Quote(text), func() bool { return strings.Contains(r.out.String()+r.err.String(), text) })
}

// checkProcessesGone checks that the processes whose ids are in a file, one a line, have ended.
func (b *bench) checkProcessesGone(file string) {
	b.t.Helper()
	pids := strings.Fields(b.read(file))
	if len(pids) == 0 {
		b.t.Errorf("%s names no process", file)
	}
	for _, pid := range pids {
		if b.isAlive(pid) {
			b.t.Errorf("process %s is left over", pid)
		}
	}
}

// killAll kills the processes of a loop and waits until they hold nothing. A busy kernel ends them,
// and each of their threads, a little later than kill returns. Some may have ended already.
func (b *bench) killAll(pids ...int) {
	b.t.Helper()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	live := func(pid int) bool { return b.isAlive(strconv.Itoa(pid)) }
	for end := time.Now().Add(timeout); slices.ContainsFunc(pids, live) || b.status().State == "running"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("some of %v live on", pids)
		}
	}
}

// isAlive reports whether a process runs. A zombie does not.
func (b *bench) isAlive(pid string) bool {
	b.t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		b.t.Fatal(err)
	}
	if errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
		return false
	}
	agenttest.Needs(b.t, "ps")
	out, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	state := strings.TrimSpace(string(out))
	return state != "" && !strings.HasPrefix(state, "Z")
}
