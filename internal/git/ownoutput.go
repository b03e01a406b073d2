package git

import "os"

// isOwnOutput reports whether a path is the file that this process writes its output or
// errors to (pawl run … > pawl.log in the work tree). It grows with each line of Pawl's:
// it is neither work nor anything that gates read.
func (r *Repo) isOwnOutput(path string) bool {
	info, err := os.Lstat(r.path(path))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	for _, stream := range []*os.File{os.Stdout, os.Stderr} {
		if own, err := stream.Stat(); err == nil && os.SameFile(info, own) {
			return true
		}
	}
	return false
}
