package proc

import (
	"errors"
	"os"
)

// CanLeaveTerminal reports whether a process can leave its terminal.
const CanLeaveTerminal = false

// LeaveTerminal has this process continue without its terminal.
func LeaveTerminal(*os.File) error { return errors.ErrUnsupported }

// Keys are read from a terminal one by one, without Enter.
type Keys struct{ C <-chan byte }

// ReadKeys reads none here.
func ReadKeys(*os.File) *Keys { return &Keys{} }

// Hold lets the terminal read lines again, until release is called.
func (*Keys) Hold() (release func()) { return func() {} }

// Close ends it.
func (*Keys) Close() {}
