package atomicfile

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// Times are when a file was made, and when its content and its attributes changed last.
// Of a symbolic link they are its own.
func Times(path string) ([]time.Time, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("read the times of %s: %w", path, err)
	}
	times := []time.Time{info.ModTime()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		for _, t := range []syscall.Timespec{s.Ctimespec, s.Birthtimespec} {
			times = append(times, time.Unix(t.Unix()))
		}
	}
	return times, nil
}
