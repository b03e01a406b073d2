//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// CanLeaveTerminal reports whether a process can leave its terminal.
const CanLeaveTerminal = true

// LeaveTerminal detaches this process from its terminal: it gets a new session, empty input, and
// writes to a file. It must not be the leader of its process group.
func LeaveTerminal(out *os.File) error {
	none, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("leave the terminal: %w", err)
	}
	defer none.Close()
	_, err = unix.Setsid()
	err = errors.Join(err, duplicateFD(none, 0), duplicateFD(out, 1), duplicateFD(out, 2))
	if err != nil {
		return fmt.Errorf("leave the terminal: %w", err)
	}
	return nil
}
