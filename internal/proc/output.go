package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// outputPipe copies an output stream of the child to a writer. os/exec is not used for
// this, since its Wait returns only when the last holder of the pipe is gone: here the
// process exits first, its group is ended, and the rest of the pipe is read.
type outputPipe struct {
	r, w *os.File
	done chan error
}

// connect opens the child's three streams.
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

// open creates a pipe to w and returns the child's end. A file is passed to the child
// itself.
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
	o := &outputPipe{r: r, w: child, done: make(chan error, 1)}
	p.outlets = append(p.outlets, o)
	go func() { o.done <- o.copy(w) }()
	return child, nil
}

// copy reads to the end even if the writer fails, since the child must not block on a
// pipe that nobody reads.
func (o *outputPipe) copy(w io.Writer) error {
	_, err := io.CopyN(writerOnly{w}, o.r, chatty) // most children say less
	if err == nil {
		widenPipe(o.r)
		_, err = io.CopyBuffer(writerOnly{w}, readerOnly{o.r}, make([]byte, wideBuffer))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil || errors.Is(err, os.ErrClosed) { // closed by drain
		return nil
	}
	_, _ = io.Copy(io.Discard, o.r)
	return fmt.Errorf("write output: %w", err)
}

// writerOnly hides ReadFrom, with which some writers would take the pipe out of the
// poller, so that Close had no effect.
type writerOnly struct{ io.Writer }

// readerOnly hides WriteTo, which would read into a small buffer.
type readerOnly struct{ io.Reader }

// A child that said more than chatty bytes gets a wider pipe, and its output a larger
// buffer: then fewer of its writes wait for a reader.
const (
	chatty     = 1 << 20
	widePipe   = 1 << 20
	wideBuffer = 1 << 18
)

// releaseChildEnds closes our copies of the child's ends.
func (p *Process) releaseChildEnds() {
	for _, o := range p.outlets {
		o.w.Close()
	}
}

// drain waits until all output is read, up to a timeout, and then closes the pipes.
func (p *Process) drain(timeout time.Duration) error {
	var first error
	deadline := time.After(timeout)
	for _, o := range p.outlets {
		select {
		case err := <-o.done:
			if first == nil {
				first = err
			}
		case <-deadline:
			deadline = expired()
		}
		o.r.Close()
	}
	return first
}

// expired returns a channel that is ready.
func expired() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// sameWriter compares two writers; writers that cannot be compared differ.
func sameWriter(a, b io.Writer) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	return a == b
}
