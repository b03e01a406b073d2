package verify

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// Changed files are read by blob ID, many at a time: a change may contain very many files.

// readTogether is how many files are in memory at once.
const readTogether = 64

// eachText calls use with each changed file before and now; nil if a side is not a file. Both are nil
// if the file was deleted.
func eachText(ctx context.Context, repo *git.Repo, changes []git.Change, use func(c git.Change, was, is []byte) error) error {
	for some := range slices.Chunk(changes, readTogether) {
		var ids []string
		for _, c := range some {
			for _, e := range []git.Entry{c.From, c.To} {
				if isFile(c.To) && isFile(e) {
					ids = append(ids, e.ID)
				}
			}
		}
		texts, err := repo.KnownBlobs(ctx, ids)
		if err != nil {
			return err
		}
		for _, c := range some {
			var was, is []byte
			if isFile(c.To) {
				is = texts[c.To.ID]
				if isFile(c.From) {
					was = texts[c.From.ID]
				}
			}
			if err := use(c, was, is); err != nil {
				return err
			}
		}
	}
	return nil
}

// changedFile is a changed file with its texts; nil where a side is not a file.
type changedFile struct {
	git.Change
	before, after []byte
}

// readChanged reads the changed files before and now.
func readChanged(ctx context.Context, repo *git.Repo, changes []git.Change) ([]changedFile, error) {
	var ids []string
	for _, c := range changes {
		for _, e := range []git.Entry{c.From, c.To} {
			if isFile(e) {
				ids = append(ids, e.ID)
			}
		}
	}
	texts, err := repo.KnownBlobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	files := make([]changedFile, 0, len(changes))
	for _, c := range changes {
		f := changedFile{Change: c}
		if isFile(c.From) {
			f.before = texts[c.From.ID]
		}
		if isFile(c.To) {
			f.after = texts[c.To.ID]
		}
		files = append(files, f)
	}
	return files, nil
}

// isDeletedProgram reports whether a file with known functions is gone.
func (f changedFile) isDeletedProgram() bool {
	return f.Status == 'D' && isFile(f.From) && mutant.Knows(f.Path)
}

// hasFunctions reports whether a file with known functions is there now.
func (f changedFile) hasFunctions() bool { return isFile(f.To) && mutant.Knows(f.Path) }

func isFile(e git.Entry) bool { return e.Mode == "100644" || e.Mode == "100755" }
