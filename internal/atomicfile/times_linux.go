package atomicfile

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Times are when a file was made, as far as its file system says, and when its content
// and its attributes changed last. Of a symbolic link they are its own.
func Times(path string) ([]time.Time, error) {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &s); err != nil {
		return nil, fmt.Errorf("read the times of %s: %w", path, err)
	}
	stamps := []unix.StatxTimestamp{s.Mtime, s.Ctime}
	if s.Mask&unix.STATX_BTIME != 0 {
		stamps = append(stamps, s.Btime)
	}
	var times []time.Time
	for _, t := range stamps {
		times = append(times, time.Unix(t.Sec, int64(t.Nsec)))
	}
	return times, nil
}
