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
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		place := filepath.Join(at, ".git")
		if info, err := os.Stat(place); err == nil {
			return headOf(at, place, info.IsDir())
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// headOf reads HEAD in .git, or where a file of that name points to, as in a work tree
// beside the first.
func headOf(tree, place string, folder bool) string {
	if !folder {
		data, err := atomicfile.Read(place, maxHead)
		to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
		if err != nil || !ok {
			return ""
		}
		if place = filepath.FromSlash(to); !filepath.IsAbs(place) {
			place = filepath.Join(tree, place)
		}
	}
	data, err := atomicfile.Read(filepath.Join(place, "HEAD"), maxHead)
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/heads/")
	if err != nil || !ok {
		return ""
	}
	return branch
}
