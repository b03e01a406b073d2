package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/view"
)

// pathOf is a file that a user names from where they are, in the loop's work tree or its
// repository: relative to the root, with slashes.
func (a *app) pathOf(s *view.Loop, file string) (string, error) {
	at := absIn(git.RealPath(a.dir), file)
	for _, root := range []string{s.Spec.WorkTree(s.Loop), s.Spec.Root} {
		if rel, err := filepath.Rel(git.RealPath(root), at); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", failure.New(failure.Usage, "name files of "+s.Spec.Root, "%s is not in the repository of loop %s", file, s.ID)
}

func (a *app) pathsOf(s *view.Loop, files []string) ([]string, error) {
	var paths []string
	for _, file := range files {
		path, err := a.pathOf(s, file)
		if err != nil {
			return nil, err
		}
		if path == "." {
			return nil, failure.New(failure.Usage, "pawl restore "+s.ID+" N restores the whole tree", "--file names the whole work tree")
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// covers tells whether a file is one of the paths, or below one.
func covers(paths []string, file string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return file == p || strings.HasPrefix(file, p+"/") })
}

// otherVersion is the newest checkpoint that has one of the paths otherwise than the work
// tree, which may have lost it.
func otherVersion(ctx context.Context, repo *git.Repo, s *view.Loop, paths []string) (goal, error) {
	all, err := repo.Checkpoints(ctx, s.ID)
	if err != nil {
		return goal{}, err
	}
	now, _, err := repo.Snapshot(ctx)
	if err != nil {
		return goal{}, err
	}
	for _, cp := range slices.Backward(all) {
		changes, err := repo.Diff(ctx, now, cp.Tree)
		if err != nil {
			return goal{}, err
		}
		if slices.ContainsFunc(changes, func(c git.Change) bool { return c.Status != 'D' && covers(paths, c.Path) }) {
			return goal{Checkpoint: cp}, nil
		}
	}
	return goal{}, failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists what is kept",
		"no checkpoint of loop %s has another version of %s", s.ID, strings.Join(paths, ", "))
}
