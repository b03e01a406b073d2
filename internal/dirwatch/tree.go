package dirwatch

// Tree records which paths below a folder change, from NewTree on until Close. It needs no
// goroutine: the kernel keeps the events until somebody asks.
//
// It does not see all that can happen to a file: a write under another name (a hard link
// elsewhere), and one through a mapping of a file that is still open, are not reported.
// Where somebody may want to hide a change, read the files themselves.
//
// The methods of a nil Tree report that nothing is known. They must not be called from two
// goroutines at a time.
type Tree struct {
	root    string
	fd      int
	folders map[int]string // by number of the watch, relative with slashes, "" for the root
	changed map[string]bool
	lost    bool // the kernel dropped events, or a folder could not be watched
	moved   bool // the root was
	limit   int  // of watches
}

// Restart forgets what changed so far. It reports whether changes are seen from now on.
func (t *Tree) Restart() bool {
	if t == nil {
		return false
	}
	if t.read(); t.lost || t.moved {
		t.rewatch()
	}
	t.changed = map[string]bool{}
	return !t.lost
}

// Changed returns the paths that changed since Restart, relative with slashes: files, or
// folders that may have changed as a whole. It is false where more may have changed.
func (t *Tree) Changed() (map[string]bool, bool) {
	if t == nil {
		return nil, false
	}
	t.read()
	return t.changed, !t.lost && !t.moved
}

// Forget takes back that a path changed: the caller did that.
func (t *Tree) Forget(path string) {
	if t != nil {
		t.read()
		delete(t.changed, path)
	}
}

// Moved says that the root was renamed by the caller.
func (t *Tree) Moved(root string) {
	if t != nil {
		t.read()
		t.root, t.moved = root, false
	}
}
