package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

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
