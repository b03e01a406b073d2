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

// signalHandler turn signals into cancellations: the first ends the turn cleanly, the
// second ends the loop at once. The process has lastGrace for that; then it ends,
// whatever it waits for, and the loop is left for its next owner.
type signalHandler struct {
	causes  chan string
	signals chan os.Signal
	pipes   chan os.Signal
	done    chan struct{}
	hungUp  sync.Once
	keepsOn atomic.Bool // the loop continues without its terminal
	left    atomic.Bool // and does so now
	told    int         // signals so far, those of a closed terminal aside
	leave   func(code int)
}

// lastGrace is how long the process may take to end after a second signal.
const lastGrace = 15 * time.Second

// listen begins to hear; stop ends it. After a second signal and the grace, leave
// is called with the exit code: it must end the process.
func listen(leave func(code int)) *signalHandler {
	e := &signalHandler{
		causes: make(chan string, 4), signals: make(chan os.Signal, 4), pipes: make(chan os.Signal, 1), done: make(chan struct{}),
		leave: leave,
	}
	signal.Notify(e.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// Nobody reads these: a program of ours that ends before it has read its input
	// raises them too. Which pipe broke is told by the write, see writer.
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
		e.gone(loop.ByHangup)
		return
	case syscall.SIGTERM:
		cause = loop.ByTerm
	}
	e.tell(cause)
	if e.told++; e.told == 2 {
		go e.leaveAfter(lastGrace, loop.CancelledEnd.ExitCode(cause))
	}
}

// leaveAfter ends the process unless it has ended its work by then.
func (e *signalHandler) leaveAfter(grace time.Duration, code int) {
	select {
	case <-time.After(grace):
		e.leave(code)
	case <-e.done:
	}
}

// gone: a terminal or pipe that goes away says so more than once (the kernel, the
// shell, each write), and is heard once.
func (e *signalHandler) gone(cause string) {
	if e.keepsOn.Load() {
		e.left.Store(true)
		return
	}
	e.hungUp.Do(func() { e.tell(cause) })
}

// tell passes a cause on; past the second, which ends the loop at once, none is
// missed.
func (e *signalHandler) tell(cause string) {
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

// leaveLoop ends this process at once: what it waits for does not end. The loop is
// left as if the process had been killed.
func (a *app) leaveLoop(id string, mode term.Mode) func(code int) {
	return func(code int) {
		if mode == term.Live {
			fmt.Fprint(a.Err, term.ShowCursor)
		}
		term.Warnf(a.Err, "the loop did not end within %s; its process ends now. The work is kept:  pawl resume %s  continues,  pawl stop %[2]s  ends it", lastGrace, id)
		a.Exit(code)
	}
}

// writer hears when what it writes to has no reader any more.
func (e *signalHandler) writer(w io.Writer) io.Writer { return signalWriter{w, e} }

type signalWriter struct {
	io.Writer
	handler *signalHandler
}

func (h signalWriter) Write(p []byte) (int, error) {
	n, err := h.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		h.handler.gone(loop.ByPipe)
	}
	return n, err
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string { return fmt.Sprintf("stopped by %s", s.signal) }

// untilSignal is the context of the command, which ends with the first Ctrl-C, TERM or HUP.
// It is for what has nothing to keep; a loop listens to signals itself. Who asks a question
// does so before, and a signal ends the process.
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
		signal.Stop(signals) // a second one ends the process at once
	}()
	a.until, a.release = ctx, func() { cancel(nil) }
	return ctx
}

// releaseSignals ends that context: the command is over, or drives a loop, which listens to
// signals itself.
func (a *app) releaseSignals() {
	if a.until != nil {
		a.release()
		a.until = nil
	}
}

// ended is the error of a command, or the signal that was behind it.
func (a *app) ended(err error) error {
	if a.until == nil || err == nil {
		return err
	}
	if s, ok := errors.AsType[signalled](context.Cause(a.until)); ok {
		return s
	}
	return err
}
