// Package dirwatch reports when the files of a folder change, so that a process can wait
// without polling, and which files of a tree changed (Tree).
//
// Watch says that something changed, not what: the caller reads the folder, as it would when
// polling. Watching is a help and no promise. A caller polls beside it, rarely, because a
// disk that is mounted meanwhile hides the folder without a word; and often where New
// returns nil: on systems other than Linux, where the user's watches are used up, and on
// file systems that other machines, or processes of the user, write to unseen (NFS, FUSE).
package dirwatch

// Watch watches one folder until Close. The methods of a nil Watch do nothing.
type Watch struct {
	changed chan struct{}
	close   func() error
}

// Changed receives a value after a file of the folder was written, or came there by another
// name, and after the folder or one above it was moved or deleted. Changes that come close
// together are one value. Names that begin with a dot do not count. The channel of a nil
// Watch receives nothing.
func (w *Watch) Changed() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.changed
}

// Close ends the watch.
func (w *Watch) Close() error {
	if w == nil {
		return nil
	}
	return w.close()
}
