package git

import (
	"context"
	"maps"
	"sync"
)

// listing is the tree that was last listed as a whole. The trees of a task differ in a few
// files, so that the next one is listed by what differs and not by reading all folders.
type listing struct {
	mu      sync.Mutex
	tree    string // id; "" = none yet
	entries map[string]Entry
}

// listTree lists a tree by its id. The map is the caller's own.
func (r *Repo) listTree(ctx context.Context, id string) (map[string]Entry, error) {
	if r.of != nil {
		return r.of.listTree(ctx, id)
	}
	l := &r.listed
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tree == "" {
		entries, err := r.entriesOf(ctx, id, nil)
		if err != nil {
			return nil, err
		}
		l.tree, l.entries = id, entries
		return maps.Clone(entries), nil
	}
	changes, err := r.Diff(ctx, l.tree, id)
	if err != nil { // of the other tree, perhaps: this one may be there all the same
		return r.entriesOf(ctx, id, nil)
	}
	for _, c := range changes {
		if c.Status == 'D' {
			delete(l.entries, c.Path)
		} else {
			l.entries[c.Path] = c.To
		}
	}
	l.tree = id
	return maps.Clone(l.entries), nil
}
