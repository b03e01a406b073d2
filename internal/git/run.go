package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

const (
	lockWait     = 10 * time.Second       // wait for the lock of another git
	heldLockWait = 2 * time.Second        // the same before a loop starts
	lockPause    = 20 * time.Millisecond  // first pause between two attempts, doubled each time
	lockMax      = 500 * time.Millisecond // longest pause
	stopGrace    = 3 * time.Second        // from TERM to KILL, so that git can remove its lock files
	writeTime    = time.Minute            // limit of a command that must not be interrupted
	askTime      = 5 * time.Minute        // limit of one that only reads names and settings
	callTime     = 30 * time.Minute       // limit of the others: in a huge repository the first takes minutes
	tailBytes    = 4 << 10                // part of standard error that is kept for messages
)

// errTimeout means that git was stopped after its time limit.
var errTimeout = errors.New("timed out")

// errIncomplete means that git warned that it left out something.
var errIncomplete = errors.New("git could not read everything")

// call is one run of git.
type call struct {
	args   []string
	index  string   // "" = the user's own index
	stdin  []byte   // kept, so that a call can be repeated
	env    []string // added to the scrubbed environment
	limit  int      // limit of standard output in bytes, 0 = none
	hooks  bool     // use the user's core.hooksPath
	whole  bool     // not interrupted once it has started, but limited in time
	strict bool     // a warning about something unreadable is an error

	inert      []string      // additional settings, see Repo.Inert
	places     gitDirs       // searched for pipes
	pipesAfter time.Duration // 0 = default
	timeLimit  time.Duration // 0 = default of the verb
}

// maxTime returns the time limit of the call.
func (c call) maxTime() time.Duration {
	switch c.verb() {
	case "rev-parse", "config", "symbolic-ref", "check-ref-format", "var", "for-each-ref", "interpret-trailers":
		return cmp.Or(c.timeLimit, askTime)
	}
	return cmp.Or(c.timeLimit, callTime)
}

// verb returns the subcommand.
func (c call) verb() string {
	for i, arg := range c.args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || c.args[i-1] != "-c") {
			return arg
		}
	}
	return ""
}

// runError means that git exited with a code other than 0.
type runError struct {
	verb   string // the subcommand, such as read-tree
	code   int    // -1 if it was killed
	stderr string // end of standard error
	err    error
}

func (e *runError) Error() string {
	if e.stderr == "" {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.verb, e.stderr)
}

func (e *runError) Unwrap() error { return e.err }

// Is reports whether git failed with this system error, which its message names.
func (e *runError) Is(target error) bool {
	words := func(all ...string) bool { return stderrContains(e, all...) }
	switch target {
	case syscall.ENOSPC:
		return words("No space left on device", "Out of diskspace")
	case syscall.EDQUOT:
		return words("Disk quota exceeded")
	case syscall.EROFS:
		return words("Read-only file system")
	}
	return false
}

// stderrContains reports whether git failed and wrote one of the words to standard error.
func stderrContains(err error, words ...string) bool {
	e, ok := errors.AsType[*runError](err)
	return ok && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(e.stderr, w) })
}

// isExitOne reports whether git exited with 1, which means "no" or "not found".
func isExitOne(err error) bool {
	e, ok := errors.AsType[*runError](err)
	return ok && e.code == 1
}

// hasExited reports whether git exited by itself, with any code.
func hasExited(err error) bool {
	e, ok := errors.AsType[*runError](err)
	return err == nil || ok && e.code > 0
}

// git runs a command with the user's index and returns its output without the last newline.
func (r *Repo) git(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, call{args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// write runs a command that changes the user's refs or index. It takes milliseconds and is not
// interrupted, because it could leave a lock file behind.
func (r *Repo) write(ctx context.Context, args ...string) error {
	_, err := r.run(ctx, call{args: args, whole: true})
	return err
}

// run runs git, and retries for a limited time while another git holds the lock. An editor or the
// user's shell prompt holds one for a moment.
func (r *Repo) run(ctx context.Context, c call) ([]byte, error) {
	c = r.pin(c)
	deadline := time.Now().Add(r.lockWait)
	for pause := lockPause; ; pause = min(2*pause, lockMax) {
		out, err := r.attempt(ctx, c)
		if err == nil || !stderrContains(err, ".lock': File exists") {
			return out, err
		}
		if r.removeStaleLock(lockOf(err)) {
			continue
		}
		if time.Now().After(deadline) {
			return nil, r.lockHeld(err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a lock of another git: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// pin makes a call work in this repository. If an agent deletes .git or sets core.worktree, git
// must not use another repository, for example one in a parent folder. If it writes a file
// "commondir", git must not use another configuration.
func (r *Repo) pin(c call) call {
	c.env = append([]string{"GIT_DIR=" + r.gitDir, "GIT_COMMON_DIR=" + r.commonDir, "GIT_WORK_TREE=" + r.root}, c.env...)
	c.inert, c.places, c.pipesAfter, c.timeLimit = r.inert, r.gitDirs(), r.pipesAfter, r.callTime
	return c
}

// bounded limits a call in time, and cancels it if git waits for a named pipe.
func (c call) bounded(ctx context.Context) (context.Context, func()) {
	limit := c.maxTime()
	if c.whole && ctx.Err() == nil {
		ctx, limit = context.WithoutCancel(ctx), min(limit, writeTime)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	ctx, stop := context.WithCancelCause(ctx)
	go c.places.watch(ctx, stop, cmp.Or(c.pipesAfter, pipeSearchDelay))
	return ctx, func() { stop(nil); cancel() }
}

// attempt runs git once. A killed write leaves no lock behind.
func (r *Repo) attempt(ctx context.Context, c call) ([]byte, error) {
	if !c.whole {
		return runOnce(ctx, r.root, c)
	}
	if err := errors.Join(r.removeLogLinks(c), r.unlinkIndex()); err != nil {
		return nil, err
	}
	note := r.saveWriteNote(c)
	out, err := runOnce(ctx, r.root, c)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if ok && exit.ExitCode() < 0 || errors.Is(err, errTimeout) {
		removeLocks(note)
	}
	_ = os.Remove(note)
	return out, err
}

// runOnce runs git with a time limit. It returns an error if git would wait for a named pipe.
func runOnce(ctx context.Context, dir string, c call) ([]byte, error) {
	if path := c.places.check(); path != "" {
		return nil, pipeError(path)
	}
	ctx, done := c.bounded(ctx)
	defer done()
	cmd := command(ctx, dir, c)
	stdout, stderr := proc.Head{MaxBytes: cmp.Or(c.limit, math.MaxInt), OnFull: done}, proc.Tail{MaxBytes: tailBytes}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.stdin), &stdout, &stderr
	err := runPinned(ctx, cmd)
	if err == nil && c.strict && strings.Contains(stderr.String(), "ignoring broken ref") {
		err = errIncomplete
	}
	switch {
	case err == nil, stdout.Truncated: // then we stopped it on purpose
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, interruptedError(ctx, c.verb())
	case errors.Is(err, exec.ErrNotFound):
		return nil, startError(err, c.verb())
	case cmd.Process == nil && isGone(dir): // the system reports the program as missing
		return nil, goneError(c.verb(), dir)
	}
	return nil, &runError{verb: c.verb(), code: cmd.ProcessState.ExitCode(), stderr: strings.TrimSpace(stderr.String()), err: err}
}

func isGone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// goneError returns the error of a git whose folder is missing.
func goneError(verb, dir string) error {
	if dir == os.TempDir() {
		return failure.New(failure.Error, "make it, or set TMPDIR to a folder that exists", "git %s: there is no folder for temporary files: %s", verb, dir)
	}
	return failure.New(failure.Error, "move it back", "git %s: the folder %s was moved or removed", verb, dir)
}

// startError returns the error of a git that did not start.
func startError(err error, verb string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return failure.New(failure.Error, "install git 2.30 or newer and put it on PATH", "git was not found: %w", err)
	}
	return fmt.Errorf("git %s: %w", verb, err)
}

// runPinned runs a git that is killed when this process dies. Linux treats the end of the thread
// that started a process as the end of its parent, so the thread is kept.
func runPinned(ctx context.Context, cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		killGroup(cmd) // its children may ignore the TERM
	}
	return err
}

// interruptedError returns the error of a git that was interrupted.
func interruptedError(ctx context.Context, verb string) error {
	cause := context.Cause(ctx)
	if pipe, ok := errors.AsType[*PipeError](cause); ok {
		return fmt.Errorf("git %s: %w", verb, pipeError(pipe.Path))
	}
	if errors.Is(cause, errTimeout) {
		return failure.New(failure.Error, "see whether it ends by hand:  git status", "git %s: %w", verb, errTimeout)
	}
	return fmt.Errorf("git %s: %w", verb, ctx.Err())
}

// command returns a git process. All of them are created here.
func command(ctx context.Context, dir string, c call) *exec.Cmd {
	args := []string{
		"--no-pager",
		"-c", "core.quotepath=false",
		"-c", "core.fsmonitor=false", // may run a program of the repository
		// A file with the same size and time may have other content.
		"-c", "core.checkStat=default", "-c", "core.trustctime=true",
		"-c", "core.safecrlf=false", // otherwise a file with mixed line ends could not be captured
		"-c", "log.showSignature=false",
	}
	if !c.hooks { // Pawl must not trigger post-index-change and reference-transaction
		args = append(args, "-c", "core.hooksPath=/dev/null")
	}
	if c.index != "" {
		args = append(args, "-c", "core.splitIndex=false") // keep private indexes in one file
	}
	cmd := exec.CommandContext(ctx, "git", slices.Concat(args, c.inert, c.args)...)
	cmd.Dir = dir
	cmd.Env = append(scrubEnv(cmd.Environ()),
		"LC_ALL=C", "LANGUAGE=", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", // an object must match its id
		"GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_PAGER=cat")
	if c.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.index)
	}
	cmd.Env = append(cmd.Env, c.env...)
	setProcessGroup(cmd)
	cmd.WaitDelay = stopGrace
	return cmd
}

// keptVariables are git's variables about the user. All other GIT_ variables (GIT_DIR,
// GIT_INDEX_FILE, GIT_TRACE …) come from a hook or alias around Pawl, and would redirect git.
var keptVariables = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT",
	"GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}

// scrubEnv removes the GIT_ variables that are not kept.
func scrubEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") || slices.Contains(keptVariables, name) {
			return false
		}
		return !strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
	})
}

// wrap says what failed in an error. It is deferred, so that each return of a function is wrapped.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// splitNul splits NUL-terminated output.
func splitNul(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// joinNul joins paths as git reads them with -z --stdin.
func joinNul(paths []string) []byte {
	var b bytes.Buffer
	for _, p := range paths {
		b.WriteString(p)
		b.WriteByte(0)
	}
	return b.Bytes()
}
