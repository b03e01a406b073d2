package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// signalled is the cause of a context that a signal ended.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string { return fmt.Sprintf("stopped by %s", s.signal) }

// untilSignal is a context that ends with the first Ctrl-C, TERM or HUP. It is
// for commands that have nothing to keep; a loop listens to signals itself.
func untilSignal() (context.Context, context.CancelFunc) {
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
	return ctx, func() { cancel(nil) }
}

// ended is err, or the signal that was behind it.
func ended(ctx context.Context, err error) error {
	if s, ok := context.Cause(ctx).(signalled); ok && err != nil { //nolint:errorlint // the cause is never wrapped
		return s
	}
	return err
}
