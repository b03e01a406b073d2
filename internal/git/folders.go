package git

import (
	"context"
	"fmt"
)

// Folders are those of some folders that a tree has. It reads these alone and what they lie
// in.
func (r *Repo) Folders(ctx context.Context, tree string, dirs []string) (map[string]bool, error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	found, wanted := map[string]bool{}, newPathSet(dirs)
	for todo := []pair{{to: id}}; len(todo) > 0 && len(dirs) > 0; {
		ids := make([]string, len(todo))
		for i, p := range todo {
			ids[i] = p.to
		}
		entries, err := r.trees(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("look for folders in %s: %w", tree, err)
		}
		var below []pair
		for i, p := range todo {
			for name, e := range entries[i] {
				path := p.dir + name
				if e.Mode != modeTree {
					continue
				}
				if wanted.paths[path] {
					found[path] = true
				}
				if wanted.above[path] {
					below = append(below, pair{dir: path + "/", to: e.ID})
				}
			}
		}
		todo = below
	}
	return found, nil
}
