//go:build !linux

package confine

import (
	"context"
	"runtime"
)

// Ask returns what this machine supports.
func Ask(context.Context) System { return System{os: runtime.GOOS} }
