//go:build !linux

package proc

import "time"

// Listener is a process of this user that accepts connections.
type Listener struct {
	PID         int
	StartedAt   time.Time
	Command, At string
}

// HasVariable reports whether the process was started with KEY=value in its environment.
func (Listener) HasVariable(string) bool { return false }

// IsSameProgram reports whether another process runs the same executable under the same name.
func (Listener) IsSameProgram(int) bool { return false }

// Listeners returns nothing: only Linux lists them.
func Listeners(time.Time) []Listener { return nil }

// EndListener ends nothing, see Listeners.
func EndListener(Listener, time.Duration) {}
