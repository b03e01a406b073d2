package git

import (
	"context"
	"fmt"
	"maps"
	"sync"
)

// Selection selects files of trees. It caches those of the last tree. The trees of a task differ in
// a few files, so the next selection only reads the differences.
type Selection struct {
	wanted func(path string, e Entry) bool // nil = all

	mu      sync.Mutex
	tree    string           // id; "" = none yet
	entries map[string]Entry // callers share it: never changed
}

// NewSelection returns a selection of the files for which wanted returns true. wanted is called
// once for each path and content.
func NewSelection(wanted func(path string, e Entry) bool) *Selection {
	return &Selection{wanted: wanted}
}

// Select returns the selected files of a tree. The map must not be changed.
func (r *Repo) Select(ctx context.Context, tree string, s *Selection) (map[string]Entry, error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree != "" {
		if changes, err := r.Diff(ctx, s.tree, id); err == nil { // on an error, the other tree may be gone
			s.apply(changes)
			s.tree = id
			return s.entries, nil
		}
	}
	found := map[string]Entry{}
	err = r.walk(ctx, id, nil, func(path string, e Entry) bool {
		if s.wanted == nil || s.wanted(path, e) {
			found[path] = e
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	s.tree, s.entries = id, found
	return found, nil
}

// apply changes the entries to those of another tree.
func (s *Selection) apply(changes []Change) {
	copied := false
	for _, c := range changes {
		_, had := s.entries[c.Path]
		has := c.Status != 'D' && (s.wanted == nil || s.wanted(c.Path, c.To))
		if !had && !has {
			continue
		}
		if !copied {
			s.entries, copied = maps.Clone(s.entries), true
		}
		if has {
			s.entries[c.Path] = c.To
		} else {
			delete(s.entries, c.Path)
		}
	}
}

// Folders returns those of the folders that a tree contains. It only reads these and their parents.
func (r *Repo) Folders(ctx context.Context, tree string, dirs []string) (map[string]bool, error) {
	id, err := r.TreeOf(ctx, tree)
	wanted, found := newPathSet(dirs), map[string]bool{}
	if err != nil || len(dirs) == 0 {
		return found, err
	}
	enter := func(dir string) bool {
		if wanted.paths[dir] {
			found[dir] = true
		}
		return wanted.above[dir]
	}
	if err := r.walk(ctx, id, enter, func(string, Entry) bool { return true }); err != nil {
		return nil, fmt.Errorf("look for folders in %s: %w", tree, err)
	}
	return found, nil
}
