package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// serverIdle is how long an unused server lives: longer than most turns.
const serverIdle = 10 * time.Minute

// server is a git that handles one request after another, so that a request starts no process. It
// starts with the first request. It restarts after it died, or after a change that its cache may
// not show. It ends with this process, because its input ends.
type server struct {
	mu     sync.Mutex
	cmd    *exec.Cmd // nil = not running
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *proc.Tail
	stamp  string // of the packs that it knows
	idle   *time.Timer
}

// askServer sends a request to a git with these arguments and lets read read the response. If the
// git died, it tries once more. It is limited in time like other calls of git.
func (r *Repo) askServer(ctx context.Context, s *server, args []string, request []byte, read func(*bufio.Reader) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := r.pin(call{args: args, stdin: request})
	err := s.once(ctx, c, r.packStamp(), read)
	if errors.As(err, new(*runError)) && ctx.Err() == nil {
		err = s.once(ctx, c, r.packStamp(), read)
	}
	return err
}

func (s *server) once(ctx context.Context, c call, stamp string, read func(*bufio.Reader) error) error {
	if path := c.places.check(); path != "" {
		return pipeError(path)
	}
	if s.cmd != nil && s.stamp != stamp {
		s.stop()
	}
	if s.cmd == nil {
		if err := s.start(c); err != nil {
			return err
		}
		s.stamp = stamp
	}
	ctx, done := c.bounded(ctx)
	defer done()
	cmd, in, stderr := s.cmd, s.in, s.stderr
	defer context.AfterFunc(ctx, func() { killGroup(cmd) })()
	wrote := make(chan error, 1)
	go func() { _, err := in.Write(c.stdin); wrote <- err }()
	err := read(s.out)
	if err == nil {
		err = <-wrote
	}
	if err == nil {
		s.idle.Reset(serverIdle)
		return nil
	}
	killGroup(cmd)
	s.stop()
	if ctx.Err() != nil {
		return interruptedError(ctx, c.verb())
	}
	return &runError{verb: c.verb(), code: cmd.ProcessState.ExitCode(), stderr: strings.TrimSpace(stderr.String()), err: err}
}

func (s *server) start(c call) error {
	// Not in the work tree, where it would look like a git that somebody is running.
	cmd := command(context.Background(), filepath.VolumeName(c.places.gitDir)+string(os.PathSeparator), c)
	s.stderr = &proc.Tail{MaxBytes: tailBytes}
	cmd.Stderr = s.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("git %s: %w", c.verb(), err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return startError(err, c.verb())
	}
	s.cmd, s.in, s.out = cmd, in, bufio.NewReader(out)
	s.idle = time.AfterFunc(serverIdle, s.end)
	return nil
}

// end ends the git, if it runs. The next request starts a new one.
func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	s.idle.Stop()
	_ = s.in.Close()
	cmd := s.cmd
	late := time.AfterFunc(stopGrace, func() { killGroup(cmd) })
	_, _ = io.Copy(io.Discard, s.out)
	_ = cmd.Wait() // it is no longer needed
	late.Stop()
	s.cmd = nil
}

// packStamp changes when packs are added or removed. A git only knows the packs that existed when
// it started.
func (r *Repo) packStamp() string {
	var b strings.Builder
	objects := filepath.Join(r.commonDir, "objects")
	packs, _ := os.ReadDir(filepath.Join(objects, "pack"))
	for _, p := range packs {
		if info, err := p.Info(); err == nil {
			fmt.Fprintln(&b, p.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	if info, err := os.Stat(filepath.Join(objects, "info", "alternates")); err == nil {
		fmt.Fprintln(&b, info.Size(), info.ModTime().UnixNano())
	}
	return b.String()
}
