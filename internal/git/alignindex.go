package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/git/indexfile"
)

// maxRefreshed limits the size of files that are read to compare them with a commit, in bytes.
const maxRefreshed = 1 << 20

// setUserIndex changes the user's index to the To side of changes, and makes git remember which
// files are unchanged. It returns false if git would have to check all files.
func (r *Repo) setUserIndex(ctx context.Context, changes []Change) bool {
	index := filepath.Join(r.gitDir, "index")
	if len(changes) == 0 {
		return true
	}
	if indexfile.Version(index) > 3 {
		return false
	}
	args := append([]string{"update-index", "-q"}, setArgs(changes)...)
	files, err := r.unchangedFiles(ctx, changes)
	if err != nil {
		return false
	}
	args = append(args, "--no-force-remove", "--")
	for _, file := range files {
		args = append(args, "./"+file)
	}
	if r.write(ctx, args...) != nil {
		return false
	}
	entries, err := indexfile.Read(index)
	return err == nil && hasEntries(entries, changes) // a file may have changed meanwhile
}

// hasEntries reports whether an index contains the To side of changes.
func hasEntries(entries []indexfile.Entry, changes []Change) bool {
	for _, c := range changes {
		i, found := indexfile.Find(entries, c.Path)
		if found != (c.Status != 'D') || found && (entries[i].IsConflict() || Entry(entries[i].Object()) != c.To) {
			return false
		}
	}
	return true
}

// unchangedFiles returns the files of the work tree that equal the To side of changes.
func (r *Repo) unchangedFiles(ctx context.Context, changes []Change) ([]string, error) {
	var same, ask []string
	wanted := map[string]string{}
	for _, c := range changes {
		info, err := os.Lstat(r.path(c.Path))
		if c.Status == 'D' || err != nil || r.firstNonFolder(c.Path) != "" {
			continue
		}
		link := info.Mode()&fs.ModeSymlink != 0
		if link != (c.To.Mode == modeLink) || !link && (!info.Mode().IsRegular() || info.Mode()&0o100 != 0 != c.To.IsExecutable()) {
			continue
		}
		var content []byte
		if link {
			target, errLink := os.Readlink(r.path(c.Path))
			content, err = []byte(target), errLink
		} else {
			content, err = atomicfile.Read(r.path(c.Path), maxRefreshed)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("compare %s: %w", c.Path, err)
		case (object{id: c.To.ID, kind: "blob", data: content}).sum() == c.To.ID:
			same = append(same, c.Path)
		case !link: // compared without filters; a filter may make it equal
			ask, wanted[c.Path] = append(ask, c.Path), c.To.ID
		}
	}
	if len(ask) == 0 {
		return same, nil
	}
	if slices.ContainsFunc(ask, func(file string) bool { return strings.ContainsAny(file, "\n\"") }) {
		return nil, fmt.Errorf("compare %q: not a line", ask)
	}
	out, err := r.run(ctx, call{args: []string{"hash-object", "--stdin-paths"}, stdin: []byte(strings.Join(ask, "\n") + "\n")})
	if err != nil {
		return nil, err
	}
	for i, id := range strings.Fields(string(out)) {
		if i < len(ask) && id == wanted[ask[i]] {
			same = append(same, ask[i])
		}
	}
	return same, nil
}
