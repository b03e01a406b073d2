package verify

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/sign"
)

// Signs are what a reviewer would want to see in the difference between two trees,
// outside of the tests (globs, nil = DefaultTests), see package sign.
func Signs(ctx context.Context, repo *git.Repo, tests []string, before, after string) ([]sign.Sign, error) {
	changes, err := repo.Diff(ctx, before, after)
	if err != nil {
		return nil, fmt.Errorf("look for signs: %w", err)
	}
	var found []sign.Sign
	for _, c := range changes {
		if c.Status == 'D' || IsTest(tests, c.Path) || !sign.Knows(c.Path) {
			continue
		}
		was, is, err := contents(ctx, repo, before, after, c)
		if err != nil {
			return nil, fmt.Errorf("look for signs: %w", err)
		}
		found = append(found, sign.In(c.Path, was, is)...)
		for _, gone := range changes {
			if s, ok := sign.Moved(gone.Path, c.Path); ok && gone.Status == 'D' && c.Status == 'A' {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// contents are a file before and after a change that did not delete it; nothing of what
// is no file.
func contents(ctx context.Context, repo *git.Repo, before, after string, c git.Change) (was, is []byte, err error) {
	if !isFile(c.To) {
		return nil, nil, nil
	}
	if isFile(c.From) {
		if was, err = repo.Show(ctx, before, c.Path); err != nil {
			return nil, nil, err
		}
	}
	is, err = repo.Show(ctx, after, c.Path)
	return was, is, err
}

func isFile(e git.Entry) bool { return e.Mode == "100644" || e.Mode == "100755" }
