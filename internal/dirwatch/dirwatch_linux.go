package dirwatch

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// moved is what happens to a folder itself.
const moved = unix.IN_MOVE_SELF | unix.IN_DELETE_SELF | unix.IN_ONLYDIR

// New watches a folder. It returns nil where that is not possible.
func New(dir string) *Watch {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !isLocal(dir) {
		return nil
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	events := os.NewFile(uintptr(fd), "inotify") // waits in the runtime's poller: Close ends a Read
	if _, err := unix.InotifyAddWatch(fd, dir, moved|unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_CREATE); err != nil {
		_ = events.Close()
		return nil
	}
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		_, _ = unix.InotifyAddWatch(fd, up, moved) // one that cannot be watched is left to the caller's polling
	}
	w := &Watch{changed: make(chan struct{}, 1)}
	done := make(chan struct{})
	w.close = func() error {
		err := events.Close()
		<-done
		return err
	}
	go func() {
		defer close(done)
		w.read(events)
	}()
	return w
}

// read passes events on until the file is closed.
func (w *Watch) read(events *os.File) {
	buf := make([]byte, 4<<10) // some dozens of events; one has at most 272 bytes
	for {
		n, err := events.Read(buf)
		if err != nil {
			return
		}
		if !counts(buf[:n]) {
			continue
		}
		select {
		case w.changed <- struct{}{}:
		default: // the last one is not taken yet
		}
	}
}

// counts reports whether one of the events is about more than files with a dot. An event
// without a name is about a folder, or says that some were lost.
func counts(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		if size == unix.SizeofInotifyEvent || events[unix.SizeofInotifyEvent] != '.' {
			return true
		}
		events = events[size:]
	}
	return false
}

// isLocal reports whether all that writes to a folder writes through this kernel.
func isLocal(dir string) bool {
	remote := []int64{
		unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC,
	}
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && !slices.Contains(remote, int64(fs.Type)) //nolint:unconvert // 32 bits on some systems
}
