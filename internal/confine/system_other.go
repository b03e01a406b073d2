//go:build !linux

package confine

import (
	"context"
	"runtime"
)

// Detect returns what this machine supports.
func Detect(context.Context) System { return System{os: runtime.GOOS} }
