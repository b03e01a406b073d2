// Package proc runs a subprocess and cleans up every process that it leaves behind.
//
// A coding agent starts shells, the shells start servers, and some of them leave their session and
// process group. So each process starts in a new session (on Windows: a job object), and its
// environment has a tag that its children inherit. When it has ended, or when its context is
// cancelled, its group gets TERM and, after a grace time, KILL. Then descendants are searched on
// the whole machine by ancestry, session and tag, and ended in the same way. On Linux a process
// also gets TERM when the process that started it is killed; SweepMarked finds what remains.
//
// There are limits. macOS does not show the environment of a process, so only ancestry and groups
// are used there. A process that clears its environment, leaves its session and outlives its parent
// is only found on Linux, after Subreaper.
package proc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// MarkerName is the environment variable with Spec.Marker.
const MarkerName = "PAWL_LOOP"

// tagName is the variable that identifies the descendants of a Process. Its value has one element
// for each ancestor Process, separated by dots, outermost first.
const tagName = "PAWL_PROC"

const (
	defaultGrace = 5 * time.Second
	// killTimeout limits the wait for a killed process, which may be stuck in the kernel (on a dead
	// disk).
	killTimeout = 5 * time.Second
	// drainTimeout limits reading output after the process and its group have ended, if another
	// process holds the pipe open.
	drainTimeout = time.Second
)

// Spec describes a process to run.
type Spec struct {
	Argv           []string      // program and arguments; the program is looked up in PATH
	Dir            string        // working directory; "" = the caller's
	Env            []string      // complete environment, KEY=value, the last one wins; nil = the caller's
	Stdin          io.Reader     // nil = empty
	PipeStdin      bool          // provide Process.Stdin instead of reading Stdin
	Stdout, Stderr io.Writer     // nil = discarded; both may be the same writer
	Marker         string        // value of PAWL_LOOP for the process and its descendants; "" = unset
	Grace          time.Duration // between TERM and KILL; 0 = 5 s
	// MaxRSS limits the resident memory in bytes, 0 = no limit. It is checked twice a second. Above
	// it the process is stopped as if its context had ended. It is for mutants, which may fill the
	// machine's memory before they time out.
	MaxRSS int64
	// KeepBackground spares descendants in other sessions (build daemons) when the
	// process exits by itself. Descendants in its session are ended.
	KeepBackground bool
}

// Exit is the end of a process.
type Exit struct {
	Code      int    // -1 if a signal ended it or it could not start
	Signal    string // name of the signal ("killed"), or ""
	Cancelled bool   // the context ended before the process did
	Swept     int    // descendants that were ended afterwards
	Err       error  // starting, waiting or writing the output failed
}

// OK reports whether the process exited by itself with code 0 and all its output was
// written.
func (e Exit) OK() bool { return e.Code == 0 && e.Signal == "" && !e.Cancelled && e.Err == nil }

// Process is a started subprocess. All methods may be called from any goroutine.
type Process struct {
	spec    Spec
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	group   *group
	tag     string
	outputs []*outputPipe
	done    chan struct{} // closed when exit is set

	mu   sync.Mutex
	exit Exit
}

// Start starts a process and supervises it; cancelling ctx stops it. Every started
// process must be waited for. The error wraps exec.ErrNotFound or fs.ErrNotExist if there
// is no such program.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if len(s.Argv) == 0 {
		return nil, errors.New("start process: no command given")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Argv[0], err)
	}
	if s.Grace <= 0 {
		s.Grace = defaultGrace
	}
	// Not CommandContext: it would only kill this process.
	p := &Process{spec: s, cmd: exec.Command(s.Argv[0], s.Argv[1:]...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = s.Dir, s.Env
	p.cmd.Env, p.tag = withTag(p.cmd.Environ(), s.Marker)
	p.cmd.WaitDelay = drainTimeout // for a Stdin that blocks in Read
	if err := p.connect(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Argv[0], err)
	}
	started := make(chan error)
	go p.run(ctx, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Argv[0], err)
	}
	return p, nil
}

// run starts the process and supervises it to its end. It keeps its thread: Linux treats
// the end of the thread that started a process as the death of its parent, and then kills
// the process (see startGroup).
func (p *Process) run(ctx context.Context, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g, err := startGroup(p.cmd)
	p.releaseChildEnds()
	if err != nil {
		_ = p.drain(0)
		started <- err
		return
	}
	p.group = g
	started <- nil
	p.supervise(ctx)
}

// Run starts a process and waits for its end.
func Run(ctx context.Context, s Spec) Exit {
	p, err := Start(ctx, s)
	if err != nil {
		return Exit{Code: -1, Err: err, Cancelled: ctx.Err() != nil}
	}
	return p.Wait()
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// RSS returns the resident memory in bytes of the largest process in the session: the program, or
// the one that it wraps. It returns 0 if unknown.
func (p *Process) RSS() int64 {
	most := RSS(p.PID())
	for _, pid := range p.group.sessionPIDs() {
		most = max(most, RSS(pid))
	}
	return most
}

// Stdin returns the pipe to the process, or nil without Spec.PipeStdin. Closing it ends the input.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Done returns a channel that is closed when the process and its descendants have ended and the
// output is read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done. After the process exits or its context ends, the wait is limited.
func (p *Process) Wait() Exit {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// SweepSessions ends the descendants of a running process in other sessions, such as an agent's
// shell commands. It spares those in its session, its helpers. It returns how many there were.
func (p *Process) SweepSessions() int {
	select {
	case <-p.done:
		return 0
	default:
		return p.group.sweep(sweepOptions{tag: p.tag, scope: outsideLeaderSession, grace: p.spec.Grace})
	}
}

// tooLarge returns a channel that is closed when the process exceeds MaxRSS, or nil without a
// limit.
func (p *Process) tooLarge(ctx context.Context) <-chan struct{} {
	if p.spec.MaxRSS == 0 {
		return nil
	}
	found := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second / 2)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if p.RSS() > p.spec.MaxRSS {
					close(found)
					return
				}
			case <-p.done:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return found
}

// supervise waits for the end of the process.
func (p *Process) supervise(ctx context.Context) {
	defer close(p.done)
	waited := make(chan error, 1)
	go func() { waited <- p.cmd.Wait() }()
	var e Exit
	var err error
	select {
	case err = <-waited:
	case <-ctx.Done():
		e.Cancelled = true
		err = p.stop(waited)
	case <-p.tooLarge(ctx):
		e.Cancelled = true
		err = p.stop(waited)
	}
	o := sweepOptions{tag: p.tag, grace: p.spec.Grace}
	if p.spec.KeepBackground && !e.Cancelled {
		o.scope = inLeaderSession
	}
	e.Swept = p.group.sweep(o)
	p.group.release(p.spec.KeepBackground)
	e.Code, e.Signal, e.Err = exitOf(p.cmd, err)
	e.Err = errors.Join(e.Err, p.drain(drainTimeout))
	p.mu.Lock()
	p.exit = e
	p.mu.Unlock()
}

// stop sends TERM to the group, and KILL after the grace time.
func (p *Process) stop(waited <-chan error) error {
	p.group.recordDescendants()
	p.group.terminate()
	select {
	case err := <-waited:
		return err
	case <-time.After(p.spec.Grace):
	}
	p.group.recordDescendants()
	p.group.kill()
	select {
	case err := <-waited:
		return err
	case <-time.After(killTimeout):
		return fmt.Errorf("process %d does not exit after SIGKILL", p.PID())
	}
}

// sweepOptions say which descendants to end, and how long to wait.
type sweepOptions struct {
	tag   string
	grace time.Duration
	scope scope
}

// scope selects descendants of a leader.
type scope int

const (
	allDescendants       scope = iota
	inLeaderSession            // only the leader's session and group
	outsideLeaderSession       // only those in neither
)

// exitOf interprets the result of Wait. A pipe that had to be closed is not an error of the
// process.
func exitOf(cmd *exec.Cmd, err error) (code int, signal string, _ error) {
	if _, exited := errors.AsType[*exec.ExitError](err); exited || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if cmd.ProcessState == nil {
		return -1, "", err
	}
	return cmd.ProcessState.ExitCode(), signalName(cmd.ProcessState), err
}

// withTag adds the marker and a new tag to an environment. It keeps the tags of ancestors, so that
// their sweeps find this process too.
func withTag(env []string, marker string) (_ []string, tag string) {
	tag = rand.Text()
	above := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, tagName+"="); ok {
			above = v + "."
		}
	}
	env = append(slices.Clip(env), tagName+"="+above+tag)
	if marker != "" {
		env = append(env, MarkerName+"="+marker)
	}
	return env, tag
}
