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

// sockets returns the sockets of services in the temporary folders and in their subfolders.
func (k *Checkout) sockets() map[string]string {
	found := map[string]string{}
	for _, dir := range k.tempFolders() {
		for _, below := range addSockets(dir, found) {
			addSockets(below, found)
		}
	}
	return found
}

// addSockets adds the sockets in a folder and returns its subfolders. It only stats sockets,
// because temporary folders are large.
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

// socketState distinguishes a socket from a later one at the same path. It returns "" if there is
// none.
func socketState(file string) string {
	info, err := os.Lstat(file)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), deps.ChangeTime(info))
}

// listeningSockets returns the sockets in use, if the system lists them (Linux).
func listeningSockets() map[string]bool {
	found := map[string]bool{}
	table, _ := atomicfile.Read("/proc/net/unix", atomicfile.Large)
	for line := range strings.Lines(string(table)) {
		if i := strings.Index(line, " /"); i >= 0 {
			found[strings.TrimSuffix(line[i+1:], "\n")] = true
		}
	}
	return found
}

// isStaleSocket reports whether a socket refuses connections because its program has ended. Killed
// browsers leave hundreds of them, and mounting each is slow.
func isStaleSocket(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
