package frozen

import (
	"maps"
	"slices"
)

// Whole lists the frozen files of which every change counts, by path relative to
// the root with slashes: an edit of one can be refused before it is made. The others
// come and go with what the work depends on, or lie in the git directory.
func (f *Files) Whole() []string {
	var whole []string
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		if f.files[path].Deps == "" && !InGitDir(path) { // no edit goes there in any case
			whole = append(whole, path)
		}
	}
	return whole
}

// Look finds what Take would freeze, and keeps nothing.
func Look(o Options) (*Files, error) {
	f := &Files{o: o, files: map[string]frozenFile{}}
	return f, f.find()
}
