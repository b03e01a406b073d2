package frozen

import (
	"io/fs"
	"os"
)

// Watch notes how the files stand of which every change counts. The function that
// it returns lists those that were written or replaced since, sorted, whatever they
// hold by then: who swaps a gate for as long as it is judged puts it back in time
// for the next look. A gate may write them too, so this is a word and no verdict.
func (f *Files) Watch() func() []string {
	paths := f.Whole()
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
