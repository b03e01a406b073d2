package verify

import (
	"maps"
	"slices"
)

// Whole lists the frozen files of which every change counts, by path relative to
// the root with slashes: an edit of one can be refused before it is made. Of the
// others only a part judges, or they come and go with what the work depends on.
func (f *Frozen) Whole() []string {
	var whole []string
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		if _, partly := partOf(path); !partly && f.files[path].Deps == "" && !InGitDir(path) { // no edit goes there in any case
			whole = append(whole, path)
		}
	}
	return whole
}

// Look finds what Freeze would freeze, and keeps nothing.
func Look(o FreezeOptions) (*Frozen, error) {
	f := &Frozen{o: o, files: map[string]frozenFile{}}
	return f, f.find()
}
