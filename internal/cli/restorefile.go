package cli

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
)

// pathOf returns the path of a file that the user named, relative to the loop's root, with slashes.
// The file is in the loop's work tree or its repository. Pawl prints paths from the root. So in a
// subfolder, a path whose file or folder exists only from the root is read from the root.
func (a *app) pathOf(s *loopinfo.Loop, file string) (string, error) {
	roots := []string{git.RealPath(s.Spec.WorkTree(s.Loop)), git.RealPath(s.Spec.Root)}
	at := launch.AbsPath(git.RealPath(a.dir), file)
	for _, root := range roots {
		rel, err := filepath.Rel(root, at)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		printed := filepath.Clean(file)
		onlyThere := func(here, there string) bool { return !existsIn(roots, here) && existsIn(roots, there) }
		if filepath.IsLocal(printed) && (onlyThere(rel, printed) || onlyThere(filepath.Dir(rel), filepath.Dir(printed))) {
			rel = printed
		}
		return filepath.ToSlash(rel), nil
	}
	return "", failure.New(failure.Usage, "name files of "+s.Spec.Root, "%s is not in the repository of loop %s", file, s.ID)
}

// existsIn reports whether one of the folders has a file or folder at path.
func existsIn(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		_, err := os.Lstat(filepath.Join(folder, path))
		return err == nil
	})
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
