//go:build !unix

package front

import (
	"errors"
	"io"
)

// dial connects to a daemon's socket. It fails at once if nobody listens.
func dial(string) (io.ReadWriteCloser, error) { return nil, errors.ErrUnsupported }
