//go:build !linux

package confine

import (
	"errors"
	"runtime"
)

// bridge is empty: this system does not support sandboxes.
type bridge struct{}

func openBridge(string, []string) (*bridge, error) {
	return nil, errors.New("there is no sandbox on " + runtime.GOOS)
}

func (*bridge) net() *Net         { return nil }
func (*bridge) close() error      { return nil }
func (*bridge) refused() []string { return nil }
