package git

import (
	"os"
	"slices"
)

// isOwnOutput reports whether a path is the file that this process writes its output or
// errors to (pawl run … > pawl.log in the work tree). It grows with each line of Pawl's:
// it is neither work nor anything that gates read.
func (r *Repo) isOwnOutput(path string) bool {
	info, err := os.Lstat(r.path(path))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(stream *os.File) bool {
		own, err := stream.Stat()
		return err == nil && os.SameFile(info, own)
	})
}
