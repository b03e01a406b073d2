package proc

import (
	"errors"
	"os"
)

// CanLeaveTerminal reports whether a process can leave its terminal.
const CanLeaveTerminal = false

// LeaveTerminal is not supported on Windows.
func LeaveTerminal(*os.File) error { return errors.ErrUnsupported }

// Keys reads keys from a terminal one by one, without Enter.
type Keys struct{ C <-chan byte }

// ReadKeys reads no keys on Windows.
func ReadKeys(*os.File) *Keys { return &Keys{} }

// Hold lets the terminal read lines again, until release is called.
func (*Keys) Hold() (release func()) { return func() {} }

// Close stops reading.
func (*Keys) Close() {}
