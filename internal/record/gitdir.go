package record

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// maxHeadBytes bounds a HEAD, and a file that points to a git folder.
const maxHeadBytes = 64 << 10

// CheckedOutBranch returns the branch that the work tree of a folder is on, or "" if
// there is none or it is unknown. It reads git's files without running git, since the
// guard needs it during a tool call.
func CheckedOutBranch(dir string) string {
	place := gitDir(dir)
	if place == "" {
		return ""
	}
	data, err := atomicfile.Read(filepath.Join(place, "HEAD"), maxHeadBytes)
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/heads/")
	if err != nil || !ok {
		return ""
	}
	return branch
}

// gitDir returns the git folder of the work tree that a folder is in, or "": .git, or the
// folder that a file of this name points to, as in a linked worktree.
func gitDir(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		place := filepath.Join(at, ".git")
		if info, err := os.Stat(place); err == nil {
			if info.IsDir() {
				return place
			}
			return readLink(place, "gitdir: ")
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// commonGitDir returns the git folder that all worktrees of the repository share.
func commonGitDir(dir string) string {
	place := gitDir(dir)
	if place == "" {
		return ""
	}
	if common := readLink(filepath.Join(place, "commondir"), ""); common != "" {
		return common
	}
	return place
}

// readLink returns the folder that a file names after a prefix, or "".
func readLink(file, prefix string) string {
	data, err := atomicfile.Read(file, maxHeadBytes)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if err != nil || !ok || to == "" {
		return ""
	}
	if to = filepath.FromSlash(to); !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return to
}
