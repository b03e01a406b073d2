package git

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/failure"
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
		sub, err := r.submodule(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("open submodule %s: %w", path, err)
		}
		if sub != nil {
			subs[path] = sub
		}
	}
	return subs, nil
}

// submodule opens one, or gives nil where nothing is checked out, or git refuses it.
func (r *Repo) submodule(ctx context.Context, path string) (*Repo, error) {
	if info, err := os.Stat(r.path(path)); absent(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	sub, err := find(ctx, r.path(path))
	switch {
	case err != nil && failure.CodeOf(err) == failure.Usage:
		return nil, nil
	case err != nil:
		return nil, err
	case samePath(sub.root, r.root): // it has no repository of its own
		return nil, nil
	}
	if has, err := sub.HasCommit(ctx); err != nil || !has {
		return nil, err
	}
	return sub, nil
}
