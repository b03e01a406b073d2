package git

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/failure"
)

// IsSubmodule reports whether the entry is a commit of another repository.
func (e Entry) IsSubmodule() bool { return e.Mode == modeSubmodule }

// Submodules opens the checked-out submodules among the entries of a tree, by path, without nested
// ones.
func (r *Repo) Submodules(ctx context.Context, entries map[string]Entry) (map[string]*Repo, error) {
	subs := map[string]*Repo{}
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		if !entries[path].IsSubmodule() {
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

// submodule opens a submodule. It returns nil if it is not checked out or git rejects it.
func (r *Repo) submodule(ctx context.Context, path string) (*Repo, error) {
	if info, err := os.Stat(r.path(path)); isAbsent(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	sub, err := Reopen(ctx, r.path(path))
	switch {
	case err != nil && failure.CodeOf(err) == failure.Usage:
		return nil, nil
	case err != nil:
		return nil, err
	case samePath(sub.root, r.root): // it is part of this repository
		return nil, nil
	}
	if has, err := sub.HasCommit(ctx); err != nil || !has {
		return nil, err
	}
	return sub, nil
}
