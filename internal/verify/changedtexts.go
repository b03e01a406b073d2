package verify

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl/internal/git"
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

// contents returns a file before and after a change, unless it deleted the file.
func contents(ctx context.Context, repo *git.Repo, c git.Change) (was, is []byte, err error) {
	err = eachText(ctx, repo, []git.Change{c}, func(_ git.Change, before, after []byte) error {
		was, is = before, after
		return nil
	})
	return was, is, err
}

func isFile(e git.Entry) bool { return e.Mode == "100644" || e.Mode == "100755" }
