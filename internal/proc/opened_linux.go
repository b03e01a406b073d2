package proc

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// OpenedFiles records which files below folders any process opens.
type OpenedFiles struct {
	fd      int
	wake    [2]int // a pipe; closing it wakes the reader
	folders map[int32]string
	done    sync.WaitGroup
	seen    map[string]uint32
}

// maxWatched limits the number of folders: watching so many takes half a second.
const maxWatched = 25_000

// WatchOpened starts recording. If the system watches no more folders, the rest is not recorded. It
// returns nil if the system watches none.
func WatchOpened(folders []string) *OpenedFiles {
	w := &OpenedFiles{folders: map[int32]string{}, seen: map[string]uint32{}}
	var err error
	if w.fd, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
		return nil
	}
	if err := unix.Pipe2(w.wake[:], unix.O_CLOEXEC); err != nil {
		_ = unix.Close(w.fd)
		return nil
	}
	for _, dir := range folders {
		w.add(dir)
	}
	w.done.Go(w.read)
	return w
}

// add watches a folder and its subfolders. A folder with two links, its name and its ".", has no
// subfolders and is not read.
func (w *OpenedFiles) add(dir string) {
	if len(w.folders) == maxWatched {
		return
	}
	id, err := unix.InotifyAddWatch(w.fd, dir, unix.IN_OPEN|unix.IN_CLOSE_WRITE|unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR)
	if err != nil {
		return
	}
	w.folders[int32(id)] = dir //nolint:gosec // the kernel's ids are as large
	var info unix.Stat_t
	if unix.Stat(dir, &info) == nil && info.Nlink == 2 {
		return
	}
	entries, _ := os.ReadDir(dir) // nothing can open what cannot be read
	for _, e := range entries {
		if e.IsDir() {
			w.add(filepath.Join(dir, e.Name()))
		}
	}
}

// read receives events until the pipe is closed, including the pending ones.
func (w *OpenedFiles) read() {
	buf := make([]byte, 256<<10)
	for over := false; ; {
		n, err := unix.Read(w.fd, buf)
		switch {
		case err == nil:
			w.note(buf[:n])
		case err != unix.EAGAIN && err != unix.EINTR || over:
			return
		default:
			ready := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}, {Fd: int32(w.wake[0]), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
			_, _ = unix.Poll(ready, -1)
			over = ready[1].Revents != 0
		}
	}
}

func (w *OpenedFiles) note(events []byte) {
	for len(events) >= unix.SizeofInotifyEvent {
		id := int32(binary.NativeEndian.Uint32(events)) //nolint:gosec // an id
		mask := binary.NativeEndian.Uint32(events[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:size], []byte{0})
		if dir, known := w.folders[id]; known && len(name) > 0 && mask&unix.IN_ISDIR == 0 {
			w.seen[filepath.Join(dir, string(name))] |= mask
		}
		events = events[size:]
	}
}

// End returns the files opened since. It leaves out existing files that were opened for writing,
// because those change with every run.
func (w *OpenedFiles) End() (files []string) {
	if w == nil {
		return nil
	}
	_ = unix.Close(w.wake[1])
	w.done.Wait()
	_, _ = unix.Close(w.wake[0]), unix.Close(w.fd)
	for file, mask := range w.seen {
		if mask&unix.IN_CLOSE_WRITE == 0 || mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 {
			files = append(files, file)
		}
	}
	return files
}
