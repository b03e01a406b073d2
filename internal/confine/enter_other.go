//go:build !linux

package confine

import (
	"errors"
	"runtime"
)

// ErrNoCommand means that the command to run does not exist.
var ErrNoCommand = errors.New("no such command")

// Enter returns an error: this system has no sandbox.
func Enter(string, bool, []string, []string) error {
	return errors.New("there is no sandbox on " + runtime.GOOS)
}
