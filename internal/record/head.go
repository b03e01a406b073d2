package record

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// maxHead is more than a HEAD, or a file that leads to one, has in bytes.
const maxHead = 64 << 10

// Head is the branch that the work tree of a folder is on, "" if it is on none or
// that cannot be told. It reads what git keeps for that and runs no git, for the guard
// asks in the middle of a call.
func Head(dir string) string {
	place := gitDir(dir)
	if place == "" {
		return ""
	}
	data, err := atomicfile.Read(filepath.Join(place, "HEAD"), maxHead)
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/heads/")
	if err != nil || !ok {
		return ""
	}
	return branch
}

// gitDir is where git keeps what belongs to the work tree that a folder is in, "" if
// it is in none: .git, or where a file of that name points to, as in a work tree
// beside the first.
func gitDir(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		place := filepath.Join(at, ".git")
		if info, err := os.Stat(place); err == nil {
			if info.IsDir() {
				return place
			}
			return linked(place, "gitdir: ")
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// sharedGitDir is where git keeps what all work trees of the repository share.
func sharedGitDir(dir string) string {
	place := gitDir(dir)
	if place == "" {
		return ""
	}
	if common := linked(filepath.Join(place, "commondir"), ""); common != "" {
		return common
	}
	return place
}

// linked is the folder that a file names behind a prefix, "" if it names none.
func linked(file, prefix string) string {
	data, err := atomicfile.Read(file, maxHead)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if err != nil || !ok || to == "" {
		return ""
	}
	if to = filepath.FromSlash(to); !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return to
}
