package dirwatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// treeEvents is what may happen to the files of a folder.
const treeEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// watchShare is the part of the user's watches that one Tree takes at most.
const watchShare = 4

// maxChanged bounds the paths that are noted.
const maxChanged = 1 << 16

// NewTree watches a folder and all folders below it but .git. It returns nil where that is
// not possible.
func NewTree(root string) *Tree {
	root, err := filepath.EvalSymlinks(root)
	if err != nil || !isLocal(root) {
		return nil
	}
	t := &Tree{root: root, fd: -1, limit: mostWatches()}
	if t.rewatch(); t.lost {
		_ = t.Close()
		return nil
	}
	return t
}

// Close ends the watch.
func (t *Tree) Close() error {
	if t == nil || t.fd < 0 {
		return nil
	}
	fd := t.fd
	t.fd, t.lost = -1, true
	return unix.Close(fd)
}

// rewatch watches all folders anew.
func (t *Tree) rewatch() {
	_ = t.Close()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return
	}
	t.fd, t.lost, t.moved, t.folders, t.changed = fd, false, false, map[int]string{}, map[string]bool{}
	t.watch("")
}

// watch watches a folder and those below it. A folder is watched before it is read, so
// that one which is made meanwhile is read or reported.
func (t *Tree) watch(dir string) {
	_ = filepath.WalkDir(filepath.Join(t.root, filepath.FromSlash(dir)), func(file string, d fs.DirEntry, err error) error {
		if err != nil { // it is gone, and that is an event
			if !os.IsNotExist(err) {
				t.lost = true
			}
			return nil
		}
		if !d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(t.root, file)
		if err != nil || len(t.folders) >= t.limit {
			t.lost = true
			return fs.SkipAll
		}
		if rel == "." {
			rel = ""
		}
		if path.Base(rel) == ".git" {
			return fs.SkipDir
		}
		mask := uint32(treeEvents)
		if rel == "" {
			mask |= unix.IN_MOVE_SELF
		}
		wd, err := unix.InotifyAddWatch(t.fd, file, mask)
		switch {
		case err == nil:
			t.folders[wd] = filepath.ToSlash(rel)
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
			return fs.SkipDir
		default:
			t.lost = true
			return fs.SkipAll
		}
		return nil
	})
}

// maxSetting bounds a number in a file, in bytes.
const maxSetting = 64

// mostWatches is how many folders a Tree watches.
func mostWatches() int {
	text, err := atomicfile.Read("/proc/sys/fs/inotify/max_user_watches", maxSetting)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n / watchShare
}

// read takes the events that are there.
func (t *Tree) read() {
	if t.lost {
		return
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(t.fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			t.lost = t.lost || !errors.Is(err, unix.EAGAIN)
			return
		}
		for events := buf[:n]; len(events) >= unix.SizeofInotifyEvent; {
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
			t.event(events[:size])
			events = events[size:]
		}
	}
}

// event notes what one event says.
func (t *Tree) event(e []byte) {
	wd, mask := int(int32(binary.NativeEndian.Uint32(e))), binary.NativeEndian.Uint32(e[4:]) //nolint:gosec // a number of a watch is an int32
	if mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0 {
		t.lost = true
		return
	}
	dir, known := t.folders[wd]
	if mask&unix.IN_MOVE_SELF != 0 {
		t.moved = t.moved || dir == "" && known
		return
	}
	if mask&unix.IN_IGNORED != 0 {
		delete(t.folders, wd)
		t.lost = t.lost || dir == "" && known
		return
	}
	name, _, _ := bytes.Cut(e[unix.SizeofInotifyEvent:], []byte{0})
	if !known || len(name) == 0 { // of the folder itself: the one above tells
		return
	}
	changed := path.Join(dir, string(name))
	t.changed[changed] = true
	t.lost = t.lost || len(t.changed) > maxChanged
	if mask&unix.IN_ISDIR != 0 && mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 {
		t.watch(changed)
	}
}
