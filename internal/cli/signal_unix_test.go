//go:build unix

package cli

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"
)

func TestSignalEndsACommand(t *testing.T) {
	ctx, cancel := untilSignal()
	defer cancel()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the signal was not heard")
	}
	var s signalled
	if err := ended(ctx, ctx.Err()); !errors.As(err, &s) || s.signal != syscall.SIGTERM {
		t.Errorf("ended = %v", err)
	}
	if err := ended(ctx, nil); err != nil {
		t.Errorf("what came to its end is an error: %v", err)
	}
}

func TestErrorsWithoutASignalStay(t *testing.T) {
	t.Parallel()
	ctx, cancel := untilSignal()
	cancel()
	if err := ended(ctx, ctx.Err()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended = %v", err)
	}
}
