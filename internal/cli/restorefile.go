package cli

import (
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
)

// pathOf is a file that a user names from where they are, in the loop's work tree or its
// repository: relative to the root, with slashes.
func (a *app) pathOf(s *loopinfo.Loop, file string) (string, error) {
	at := absIn(git.RealPath(a.dir), file)
	for _, root := range []string{s.Spec.WorkTree(s.Loop), s.Spec.Root} {
		if rel, err := filepath.Rel(git.RealPath(root), at); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", failure.New(failure.Usage, "name files of "+s.Spec.Root, "%s is not in the repository of loop %s", file, s.ID)
}

func (a *app) pathsOf(s *loopinfo.Loop, files []string) ([]string, error) {
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
