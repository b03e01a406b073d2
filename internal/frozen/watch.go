package frozen

import (
	"io/fs"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/testreport"
)

// Watch notes how the files stand that may not change at all, and the scripts and
// Makefiles by which gates run. The function that it returns lists those that were
// written or replaced since, sorted, whatever they hold by then: who swaps a script for
// as long as it is judged puts it back before the trees are compared. A gate may write
// them too, so this is a word and no verdict.
func (f *Files) Watch() func() []string {
	_, through := testreport.Reach(f.o.Gates, testreport.FilesIn(f.o.Root))
	paths := slices.Concat(f.Whole(), slices.DeleteFunc(through, f.built))
	slices.Sort(paths)
	paths = slices.Compact(paths)
	before := f.stand(paths)
	return func() []string {
		var touched []string
		for i, now := range f.stand(paths) {
			was := before[i]
			if was == nil && now == nil {
				continue
			}
			if was == nil || now == nil || !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime()) {
				touched = append(touched, paths[i])
			}
		}
		return touched
	}
}

// stand is what the file system says of files, nil of one that it does not show.
func (f *Files) stand(paths []string) []fs.FileInfo {
	infos := make([]fs.FileInfo, len(paths))
	for i, path := range paths {
		if info, err := os.Lstat(f.Where(path)); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// built reports whether git ignores a file: a gate may build it.
func (f *Files) built(path string) bool {
	if f.o.Ignores == nil {
		return false
	}
	ignored, err := f.o.Ignores(path)
	return ignored || err != nil // nothing is said of what is not known
}
