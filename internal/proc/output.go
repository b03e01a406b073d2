package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// outputPipe copies an output stream of the child to a writer. The Wait of os/exec would only
// return when all holders have closed the pipe. Here the process exits, its group is ended, and
// then the rest of the pipe is read.
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
	p.outputs = append(p.outputs, o)
	go func() { o.done <- o.copy(w) }()
	return child, nil
}

// copy reads to the end even if the writer fails, so that the child never blocks on a full pipe.
func (o *outputPipe) copy(w io.Writer) error {
	_, err := io.CopyN(writerOnly{w}, o.r, chattyBytes) // most children print less
	if err == nil {
		widenPipe(o.r)
		_, err = io.CopyBuffer(writerOnly{w}, readerOnly{o.r}, make([]byte, wideBufferBytes))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil || errors.Is(err, os.ErrClosed) { // drain closed it
		return nil
	}
	_, _ = io.Copy(io.Discard, o.r)
	return fmt.Errorf("write output: %w", err)
}

// writerOnly hides ReadFrom. Some writers would use it to take the pipe out of the poller, and
// Close would have no effect.
type writerOnly struct{ io.Writer }

// readerOnly hides WriteTo, which would read into a small buffer.
type readerOnly struct{ io.Reader }

// A child that printed more than chatty bytes gets a larger pipe and a larger buffer, so that it
// waits less often.
const (
	chattyBytes     = 1 << 20
	widePipeBytes   = 1 << 20
	wideBufferBytes = 1 << 18
)

// releaseChildEnds closes this process's copies of the child's ends.
func (p *Process) releaseChildEnds() {
	for _, o := range p.outputs {
		o.w.Close()
	}
}

// drain waits until all output is read, up to a timeout, and then closes the pipes.
func (p *Process) drain(timeout time.Duration) error {
	var first error
	limited, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for _, o := range p.outputs {
		select {
		case err := <-o.done:
			if first == nil {
				first = err
			}
		case <-limited.Done():
		}
		o.r.Close()
	}
	return first
}

// sameWriter reports whether two writers are the same; writers that cannot be compared differ.
func sameWriter(a, b io.Writer) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	return a == b
}
