//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/pawl-dev/pawl/internal/failure"
)

// checkOwner returns an error with a hint if another user owns a file or folder, or may
// write to it. Root may write in any case. The group may if it has the owner's number,
// since many systems give each user a group.
func checkOwner(path string, info fs.FileInfo) error {
	const groupWrites, othersWrite = 0o020, 0o002
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	mode := info.Mode().Perm()
	switch me := os.Geteuid(); {
	case int(stat.Uid) != me && stat.Uid != 0:
		return notPrivateError(fmt.Sprintf("look what is in it, then chown -R %d %s; or set PAWL_HOME to a folder of yours", me, path),
			"%s belongs to another user (%d)", path, stat.Uid)
	case mode&othersWrite != 0, mode&groupWrites != 0 && stat.Gid != stat.Uid:
		return notPrivateError("look what is in it, then chmod go-w "+path,
			"other users may write to %s (%v)", path, mode)
	}
	return nil
}

// notPrivateError adds why the files must be private.
func notPrivateError(hint, format string, args ...any) error {
	return failure.New(failure.Usage, hint, "%w: it decides which commands run", fmt.Errorf(format, args...))
}
