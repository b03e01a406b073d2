//go:build unix

package cli

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"
)

func TestSignalEndsCommand(t *testing.T) {
	a := &app{}
	defer a.releaseSignals()
	ctx := a.untilSignal()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the signal was not heard")
	}
	var s signalled
	if err := a.commandError(ctx.Err()); !errors.As(err, &s) || s.signal != syscall.SIGTERM {
		t.Errorf("ended = %v", err)
	}
	if err := a.commandError(nil); err != nil {
		t.Errorf("what came to its end is an error: %v", err)
	}
}

// A running loop handles signals itself. Afterwards, a signal ends the command again.
func TestErrorWithoutSignalIsKept(t *testing.T) {
	t.Parallel()
	a := &app{}
	ctx := a.untilSignal()
	a.releaseSignals()
	if err := a.commandError(ctx.Err()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended = %v", err)
	}
	if a.untilSignal().Err() != nil {
		t.Error("what comes after the loop has no context of its own")
	}
	a.releaseSignals()
}
