package git

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Show returns the content of a file in a tree, or the target of a symbolic link. For any
// other path the error wraps fs.ErrNotExist.
func (r *Repo) Show(ctx context.Context, tree, path string) ([]byte, error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	e, err := r.entryAt(ctx, id, path)
	if err != nil {
		return nil, err
	}
	if !e.IsFile() {
		return nil, fmt.Errorf("show %s in %s: %w", path, tree, fs.ErrNotExist)
	}
	found, err := r.objects(ctx, e.ID)
	if err != nil {
		return nil, missingObjectError(err, path)
	}
	if found[0].kind == "" {
		return nil, missingContent(path)
	}
	return found[0].data, nil
}

// entryAt returns the entry of a file or folder in a tree, by its id, or the zero Entry if there is none.
// It reads only the folders above the path, and only their names: a claim asks for each of its files.
func (r *Repo) entryAt(ctx context.Context, id, path string) (Entry, error) {
	e := Entry{Mode: modeTree, ID: id}
	for name := range strings.SplitSeq(path, "/") {
		if e.Mode != modeTree {
			return Entry{}, nil
		}
		found, err := r.objects(ctx, e.ID)
		if err != nil {
			return Entry{}, fmt.Errorf("read trees: %w", err)
		}
		folder := found[0]
		if folder.kind != "tree" {
			return Entry{}, fmt.Errorf("read tree %s: %w", e.ID, missingContent(e.ID))
		}
		e = Entry{}
		err = eachEntry(folder.data, len(folder.id), func(mode, entry, id []byte) {
			if string(entry) == name {
				e = storedEntry(mode, id)
			}
		})
		if err != nil {
			return Entry{}, fmt.Errorf("read tree %s: %w", folder.id, err)
		}
	}
	return e, nil
}

// Contents reads at most most files by their entries, in the order of their paths. It skips files
// larger than size bytes.
func (r *Repo) Contents(ctx context.Context, entries map[string]Entry, most, size int) (map[string][]byte, error) {
	var rest []string
	for path, e := range entries {
		if strings.HasPrefix(e.Mode, "100") {
			rest = append(rest, path)
		}
	}
	slices.Sort(rest)
	files := map[string][]byte{}
	for len(rest) > 0 && len(files) < most {
		some := rest[:min(len(rest), most-len(files))]
		rest = rest[len(some):]
		var ids []string
		for _, path := range some {
			ids = append(ids, entries[path].ID)
		}
		found, err := r.readObjects(ctx, ids, size)
		if err != nil {
			return nil, fmt.Errorf("read %d files: %w", len(ids), err)
		}
		for i, o := range found {
			switch {
			case o.kind == "":
				return nil, missingContent(some[i])
			case o.data != nil:
				files[some[i]] = o.data
			}
		}
	}
	return files, nil
}
