package verify

import (
	"context"
	"fmt"
	"slices"

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
	changed := slices.DeleteFunc(slices.Clone(changes), func(c git.Change) bool { return IsTest(tests, c.Path) })
	var found []sign.Sign
	for _, c := range changed {
		if s, ok := sign.Shadows(c.Path); ok && c.Status == 'A' {
			found = append(found, s)
		}
		if c.Status == 'D' || !sign.Knows(c.Path) {
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
	gone, err := dropped(ctx, repo, [2]string{before, after}, changed)
	if err != nil {
		return nil, fmt.Errorf("look for signs: %w", err)
	}
	return append(found, gone...), nil
}

// dropped are the names that a change took from those who use them: exported before,
// and now by none of the changed files.
func dropped(ctx context.Context, repo *git.Repo, trees [2]string, changes []git.Change) ([]sign.Sign, error) {
	exported := func(tree string, e git.Entry, file string) ([]string, error) {
		if !isFile(e) || !sign.Knows(file) {
			return nil, nil
		}
		content, err := repo.Show(ctx, tree, file)
		return sign.Exported(file, content), err
	}
	var was, is []sign.Sign
	now := map[string]bool{}
	for _, c := range changes[:min(len(changes), maxBroken)] {
		names, err := exported(trees[0], c.From, c.Path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			was = append(was, sign.Dropped(c.Path, name))
		}
		if names, err = exported(trees[1], c.To, c.Path); err != nil {
			return nil, err
		}
		for _, name := range names {
			now[sign.Dropped("", name).Does] = true
		}
	}
	for _, s := range was {
		if !now[s.Does] {
			is = append(is, s)
		}
	}
	return is, nil
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
