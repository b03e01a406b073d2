package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Submodules opens those of a tree that are checked out, by path. Of those within
// them nothing is told.
func (r *Repo) Submodules(ctx context.Context, tree string) (map[string]*Repo, error) {
	entries, err := r.Entries(ctx, tree)
	if err != nil {
		return nil, err
	}
	subs := map[string]*Repo{}
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		if entries[path].Mode != modeSubmodule {
			continue
		}
		sub, err := find(ctx, r.path(path))
		if err == nil && !samePath(sub.root, r.root) {
			_, err = sub.Head(ctx)
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("open submodule %s: %w", path, ctx.Err())
		}
		if err == nil && !samePath(sub.root, r.root) {
			subs[path] = sub
		}
	}
	return subs, nil
}
