//go:build !linux

package confine

import (
	"errors"
	"runtime"
)

// bridge serves the ways out of a wall: there are no walls here.
type bridge struct{}

func openWays(string, []string) (*bridge, error) {
	return nil, errors.New("nothing confines a process on " + runtime.GOOS)
}

func (*bridge) net() *Net         { return nil }
func (*bridge) close() error      { return nil }
func (*bridge) refused() []string { return nil }
