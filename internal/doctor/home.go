package doctor

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// home is the folder that holds the loops.
type home struct {
	path       string
	fault      error   // why it cannot be written
	ownerErrs  []error // the parts that other users own or can write
	fileSystem string  // the kind of its file system, "" if unknown
}

// checkHome checks that Pawl's folder is writable, private and on a local disk.
func checkHome(f Facts) []Finding {
	switch {
	case f.home.fault != nil:
		return []Finding{bad("make it writable for you, or set PAWL_HOME to a folder that is", "%s, where loops live, cannot be written: %s", f.home.path, f.home.fault)}
	case len(f.home.ownerErrs) > 0:
		var out []Finding
		for _, err := range f.home.ownerErrs {
			out = append(out, bad(failure.Hint(err), "%s; it is not used", err))
		}
		return out
	case isRemoteFileSystem(f.home.fileSystem):
		return []Finding{warn("set PAWL_HOME to a folder on a local disk", "%s, where loops live, is on a network file system (%s): locks may not hold there", f.home.path, f.home.fileSystem)}
	}
	return []Finding{ok("state can be written")}
}

// isRemoteFileSystem reports whether this kind of file system is on another machine.
func isRemoteFileSystem(kind string) bool {
	switch kind {
	case "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.glusterfs", "fuse.rclone":
		return true
	}
	return false
}

// fileSystemAt returns the kind of the file system that holds a path. mounts is the text of
// Linux's /proc/self/mountinfo.
func fileSystemAt(mounts, path string) string {
	kind, longest := "", -1
	for line := range strings.Lines(mounts) {
		mount, rest, ok := strings.Cut(line, " - ")
		fields, after := strings.Fields(mount), strings.Fields(rest)
		if !ok || len(fields) < 5 || len(after) == 0 {
			continue
		}
		at := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		inside := at == "/" || path == at || strings.HasPrefix(path, at+"/")
		if inside && len(at) >= longest { // a later mount on the same folder hides the earlier
			kind, longest = after[0], len(at)
		}
	}
	return kind
}
