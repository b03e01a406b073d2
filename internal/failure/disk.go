package failure

import (
	"errors"
	"syscall"
)

// diskHint returns what to do about a disk that cannot be written to, or "".
func diskHint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full: free some space"
	case errors.Is(err, syscall.EDQUOT):
		return "your disk quota is used up: free some space"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only: make it writable"
	}
	return ""
}
