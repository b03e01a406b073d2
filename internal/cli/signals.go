package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/term"
)

// signalHandler turns signals into cancellations. The first ends the turn cleanly, the second ends the
// loop at once. If the process has not ended lastGrace later, leave ends it, and the loop waits for
// its next owner.
type signalHandler struct {
	causes      chan string
	signals     chan os.Signal
	pipes       chan os.Signal
	done        chan struct{}
	hungUp      sync.Once
	mayDetach   atomic.Bool // the loop can continue without its terminal
	detached    atomic.Bool // it continues without it now
	signalCount int         // number of signals so far, without those of a closed terminal
	exit        func(code int)
}

// lastGrace is how long the process may take to end after a second signal.
const lastGrace = 15 * time.Second

// handleSignals starts a signalHandler, and its method stop ends it. If the process has not ended after a
// second signal and the grace, leave is called with the exit code and must end the process.
func handleSignals(leave func(code int)) *signalHandler {
	e := &signalHandler{
		causes: make(chan string, 4), signals: make(chan os.Signal, 4), pipes: make(chan os.Signal, 1), done: make(chan struct{}),
		exit: leave,
	}
	signal.Notify(e.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// SIGPIPE is received and ignored, because a child process that ends before it has read its input
	// also raises it. The failed write shows which pipe broke, see writer.
	signal.Notify(e.pipes, syscall.SIGPIPE)
	go func() {
		for {
			select {
			case s := <-e.signals:
				e.handle(s)
			case <-e.done:
				return
			}
		}
	}()
	return e
}

func (e *signalHandler) handle(s os.Signal) {
	cause := loop.ByInterrupt
	switch s {
	case syscall.SIGHUP:
		e.hangUp(loop.ByHangup)
		return
	case syscall.SIGTERM:
		cause = loop.ByTerm
	}
	e.sendCause(cause)
	if e.signalCount++; e.signalCount == 2 {
		go func() {
			select {
			case <-time.After(lastGrace):
				e.exit(loop.CancelledEnd.ExitCode(cause))
			case <-e.done:
			}
		}()
	}
}

// hangUp handles a closed terminal or pipe. The kernel, the shell and each write report it, and only the
// first report counts.
func (e *signalHandler) hangUp(cause string) {
	if e.mayDetach.Load() {
		e.detached.Store(true)
		return
	}
	e.hungUp.Do(func() { e.sendCause(cause) })
}

// sendCause sends a cause. It drops a cause if the channel is full: the second one already ends the loop at
// once.
func (e *signalHandler) sendCause(cause string) {
	select {
	case e.causes <- cause:
	default:
	}
}

func (e *signalHandler) stop() {
	signal.Stop(e.signals)
	signal.Stop(e.pipes)
	close(e.done)
}

// exitNow returns a function that ends this process at once. The loop is left as if the process had
// been killed.
func (a *app) exitNow(id string) func(code int) {
	return func(code int) {
		term.Warnf(a.Err, "the loop did not end within %s; its process ends now. The work is kept:  pawl resume %s  continues,  pawl stop %[2]s  ends it", lastGrace, id)
		a.Exit(code)
	}
}

// signalWriter notices when nobody reads its output any more.
type signalWriter struct {
	io.Writer
	handler *signalHandler
}

func (h signalWriter) Write(p []byte) (int, error) {
	n, err := h.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		h.handler.hangUp(loop.ByPipe)
	}
	return n, err
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string { return fmt.Sprintf("stopped by %s", s.signal) }

// StopCause returns the cause of a loop that the signal ended.
func (s signalled) StopCause() string {
	switch s.signal {
	case syscall.SIGTERM:
		return loop.ByTerm
	case syscall.SIGHUP:
		return loop.ByHangup
	}
	return loop.ByInterrupt
}

// untilSignal returns the context of the command. It ends with the first SIGINT, SIGTERM or SIGHUP. It
// is for commands that have nothing to save; a loop handles signals itself. Questions are asked before
// the first call, so that a signal ends the process.
func (a *app) untilSignal() context.Context {
	if a.until != nil {
		return a.until
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			cancel(signalled{number})
		case <-ctx.Done():
		}
		signal.Stop(signals) // a second signal ends the process at once
	}()
	a.until, a.release = ctx, func() { cancel(nil) }
	return ctx
}

// releaseSignals ends that context when the command is over, or before it drives a loop, which handles
// signals itself.
func (a *app) releaseSignals() {
	if a.until != nil {
		a.release()
		a.until = nil
	}
}

// commandError returns the error of a command, or the signal that caused it.
func (a *app) commandError(err error) error {
	if a.until == nil || err == nil {
		return err
	}
	if s, ok := errors.AsType[signalled](context.Cause(a.until)); ok {
		return s
	}
	return err
}
