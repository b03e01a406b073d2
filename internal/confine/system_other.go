//go:build !linux

package confine

import (
	"context"
	"runtime"
)

// Ask finds out what this machine can do.
func Ask(context.Context) System { return System{os: runtime.GOOS} }
