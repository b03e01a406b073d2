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
	folder := gitDir(dir)
	if folder == "" {
		return ""
	}
	data, err := atomicfile.Read(filepath.Join(folder, "HEAD"), maxHeadBytes)
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/heads/")
	if err != nil || !ok {
		return ""
	}
	return branch
}

// gitDir returns the git folder of the work tree that a folder is in, or "": .git, or the
// folder that a file of this name points to, as in a linked worktree.
func gitDir(dir string) string {
	for current := filepath.Clean(dir); ; current = filepath.Dir(current) {
		path := filepath.Join(current, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return path
			}
			return readGitLink(path, "gitdir: ")
		}
		if current == filepath.Dir(current) {
			return ""
		}
	}
}

// commonGitDir returns the git folder that all worktrees of the repository share.
func commonGitDir(dir string) string {
	folder := gitDir(dir)
	if folder == "" {
		return ""
	}
	if common := readGitLink(filepath.Join(folder, "commondir"), ""); common != "" {
		return common
	}
	return folder
}

// readGitLink returns the folder that a file names after a prefix, or "".
func readGitLink(file, prefix string) string {
	data, err := atomicfile.Read(file, maxHeadBytes)
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if err != nil || !ok || target == "" {
		return ""
	}
	if target = filepath.FromSlash(target); !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return target
}
