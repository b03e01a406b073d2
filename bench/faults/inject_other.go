//go:build !linux

package faults

import (
	"context"
	"os/exec"
)

// Enter is for Linux only.
func Enter(string, []string) error { return ErrUnsupported }

// supervise is for Linux only.
func supervise(context.Context, *exec.Cmd, Point, func(Kind, string)) (Calls, error) {
	return nil, ErrUnsupported
}
