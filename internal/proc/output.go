package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// An outlet carries one output stream of the child to a writer. It is not left
// to os/exec, whose Wait would not return before the last holder of the pipe is
// gone: here the process is seen to end first, its group is ended, and then
// what remains in the pipe is read.
type outlet struct {
	r, w *os.File
	done chan error
}

// connect gives the child its three streams.
func (p *Process) connect() error {
	s := p.spec
	if s.PipeStdin {
		in, err := p.cmd.StdinPipe()
		if err != nil {
			return err
		}
		p.stdin = in
	} else {
		p.cmd.Stdin = s.Stdin
	}
	out, err := p.open(s.Stdout)
	if err != nil {
		return err
	}
	if out != nil {
		p.cmd.Stdout = out
	}
	if s.Stderr != nil && sameWriter(s.Stdout, s.Stderr) {
		p.cmd.Stderr = p.cmd.Stdout
		return nil
	}
	errOut, err := p.open(s.Stderr)
	if err != nil {
		p.releaseChildEnds()
		_ = p.drain(0)
		return err
	}
	if errOut != nil {
		p.cmd.Stderr = errOut
	}
	return nil
}

// open makes an outlet to w and returns the child's end. A file is handed to
// the child as it is.
func (p *Process) open(w io.Writer) (*os.File, error) {
	if w == nil {
		return nil, nil
	}
	if f, ok := w.(*os.File); ok {
		return f, nil
	}
	r, child, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	o := &outlet{r: r, w: child, done: make(chan error, 1)}
	p.outlets = append(p.outlets, o)
	go func() { o.done <- o.copy(w) }()
	return child, nil
}

// copy reads to the end, also when the writer fails: a child must not block on
// a pipe that nobody reads.
func (o *outlet) copy(w io.Writer) error {
	_, err := io.Copy(writerOnly{w}, o.r)
	if err == nil || errors.Is(err, os.ErrClosed) { // closed by drain
		return nil
	}
	_, _ = io.Copy(io.Discard, o.r)
	return fmt.Errorf("write output: %w", err)
}

// writerOnly hides ReadFrom, which would take the pipe out of the poller for
// some writers and so make it deaf to Close.
type writerOnly struct{ io.Writer }

// releaseChildEnds closes our copies of the child's ends, so that the last
// holder of the pipe is on the other side.
func (p *Process) releaseChildEnds() {
	for _, o := range p.outlets {
		o.w.Close()
	}
}

// drain waits until all output is read, for at most the patience given; then
// the pipes are closed.
func (p *Process) drain(patience time.Duration) error {
	var first error
	deadline := time.After(patience)
	for _, o := range p.outlets {
		select {
		case err := <-o.done:
			if first == nil {
				first = err
			}
		case <-deadline:
			deadline = closedTime()
		}
		o.r.Close()
	}
	return first
}

// closedTime is a deadline that is over already.
func closedTime() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// sameWriter compares two writers; those that cannot be compared differ.
func sameWriter(a, b io.Writer) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	return a == b
}
