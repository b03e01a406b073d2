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

// gitDir returns the git folder of the work tree that a folder is in, or "".
func gitDir(dir string) string {
	for current := filepath.Clean(dir); ; current = filepath.Dir(current) {
		if folder, ok := gitDirAt(current); ok || current == filepath.Dir(current) {
			return folder
		}
	}
}

// gitDirAt returns the git folder of the work tree with this root: .git, or the folder that
// a file of this name points to, as in a linked worktree.
func gitDirAt(root string) (folder string, ok bool) {
	path := filepath.Join(root, ".git")
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		return path, true
	}
	return readGitLink(path, "gitdir: "), true
}

// SameRepository returns a function that reports whether a folder is the worktree at root,
// or the root of another one of its repository.
func SameRepository(root string) func(other string) bool {
	of := func(root string) string {
		folder, _ := gitDirAt(root)
		shared, err := filepath.EvalSymlinks(sharedGitDir(folder))
		if err != nil {
			return ""
		}
		return shared
	}
	shared, known := of(root), map[string]bool{root: true}
	return func(other string) bool {
		same, asked := known[other]
		if !asked {
			same = shared != "" && of(other) == shared
			known[other] = same
		}
		return same
	}
}

// sharedGitDir returns the git folder that all worktrees of the repository share, given
// that of one, or "".
func sharedGitDir(folder string) string {
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
