package checkout

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/deps"
)

// sockets returns services' sockets in the temporary folders and in folders there.
func (k *Checkout) sockets() map[string]string {
	found := map[string]string{}
	for _, dir := range k.tempFolders() {
		for _, below := range addSockets(dir, found) {
			addSockets(below, found)
		}
	}
	return found
}

// addSockets adds the sockets in a folder and returns its folders. It stats only sockets: temporary
// folders are large.
func addSockets(dir string, found map[string]string) (folders []string) {
	entries, _ := os.ReadDir(dir) // unreadable: no usable socket
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		switch e.Type() {
		case fs.ModeDir:
			folders = append(folders, file)
		case fs.ModeSymlink:
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				folders = append(folders, file)
			}
		case fs.ModeSocket:
			if state := socketState(file); state != "" {
				found[file] = state
			}
		}
	}
	return folders
}

// socketState returns what tells a socket from a later one of the same path, "" if there is none.
func socketState(file string) string {
	info, err := os.Lstat(file)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), deps.ChangeTime(info))
}

// listening returns the sockets in use, if the system lists them (Linux).
func listening() map[string]bool {
	found := map[string]bool{}
	table, _ := atomicfile.Read("/proc/net/unix", atomicfile.Large)
	for line := range strings.Lines(string(table)) {
		if i := strings.Index(line, " /"); i >= 0 {
			found[strings.TrimSuffix(line[i+1:], "\n")] = true
		}
	}
	return found
}

// isLeft reports whether a socket's program has ended: it refuses to connect. Killed browsers leave
// hundreds, and mounting each is slow.
func isLeft(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
