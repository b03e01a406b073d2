package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entry is one path in a tree.
type Entry struct {
	Mode string // 100644, 100755, 120000 symlink, 160000 submodule
	ID   string // of the blob, or the submodule's commit
}

const (
	modeTree      = "040000"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// IsFile reports whether the entry has a blob: a file or a symbolic link.
func (e Entry) IsFile() bool { return e.ID != "" && e.Mode != modeSubmodule && e.Mode != modeTree }

// IsExecutable reports whether a file may be run.
func (e Entry) IsExecutable() bool { return e.Mode == "100755" }

// maxFolders limits the folders that are read of a tree: a few objects can represent a tree of any
// size.
const maxFolders = 1 << 21

// trees reads the entries of trees by name, including folders, in the order of the ids.
func (r *Repo) trees(ctx context.Context, ids []string) ([]map[string]Entry, error) {
	if len(ids) > maxFolders {
		return nil, fmt.Errorf("read trees: %d folders", len(ids))
	}
	found, err := r.objects(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read trees: %w", err)
	}
	all := make([]map[string]Entry, len(ids))
	for i, o := range found {
		if o.kind != "tree" {
			return nil, fmt.Errorf("read tree %s: %w", ids[i], missingContent(ids[i]))
		}
		if all[i], err = parseTree(o.data, len(o.id)); err != nil {
			return nil, fmt.Errorf("read tree %s: %w", ids[i], err)
		}
	}
	return all, nil
}

// parseTree reads a tree as git stores it: mode, a space, the name, a NUL, the bytes of the id.
// digits is the length of an id in hex.
func parseTree(data []byte, digits int) (map[string]Entry, error) {
	entries := map[string]Entry{}
	err := eachEntry(data, digits, func(mode, name, id []byte) { entries[string(name)] = storedEntry(mode, id) })
	return entries, err
}

// storedEntry is the entry that a tree stores as a mode without leading zeros and the bytes of an id.
func storedEntry(mode, id []byte) Entry {
	return Entry{Mode: strings.Repeat("0", len(modeTree)-len(mode)) + string(mode), ID: hex.EncodeToString(id)}
}

// eachEntry calls use with the parts of each entry of a stored tree.
func eachEntry(data []byte, digits int, use func(mode, name, id []byte)) error {
	for len(data) > 0 {
		mode, rest, _ := bytes.Cut(data, []byte(" "))
		name, rest, ok := bytes.Cut(rest, []byte{0})
		if n := digits / 2; !ok || len(mode) > len(modeTree) || len(name) == 0 || bytes.IndexByte(name, '/') >= 0 || len(rest) < n {
			return fmt.Errorf("unexpected entry %q", data[:min(len(data), 100)])
		}
		use(mode, name, rest[:digits/2])
		data = rest[digits/2:]
	}
	return nil
}

// pair is a folder in two trees. An id is "" if the tree lacks the folder.
type pair struct{ dir, from, to string }

// Diff returns the changes from one tree (or commit) to another, sorted by path.
func (r *Repo) Diff(ctx context.Context, from, to string) ([]Change, error) {
	return r.diff(ctx, from, to, nil)
}

// diff is Diff for the paths in a set; nil = all.
func (r *Repo) diff(ctx context.Context, from, to string, within *pathSet) ([]Change, error) {
	if from == to {
		return nil, nil
	}
	sides, err := r.treesOf(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var changes []Change
	level := []pair{{"", sides[0], sides[1]}}
	for len(level) > 0 {
		var ids []string
		for _, p := range level {
			ids = append(ids, p.from, p.to)
		}
		entries, err := r.treesOrNone(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("compare trees: %w", err)
		}
		var next []pair
		for i, p := range level {
			found, below := compareFolders(p.dir, entries[2*i], entries[2*i+1])
			if within != nil {
				found = slices.DeleteFunc(found, func(c Change) bool { return !within.covers(c.Path) })
				below = slices.DeleteFunc(below, func(p pair) bool { return !within.reaches(strings.TrimSuffix(p.dir, "/")) })
			}
			changes, next = append(changes, found...), append(next, below...)
		}
		level = next
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// treesOrNone is trees for ids that may be "" for a missing folder.
func (r *Repo) treesOrNone(ctx context.Context, ids []string) ([]map[string]Entry, error) {
	there := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	found, err := r.trees(ctx, there)
	if err != nil {
		return nil, err
	}
	all := make([]map[string]Entry, len(ids))
	n := 0
	for i, id := range ids {
		if id != "" {
			all[i] = found[n]
			n++
		}
	}
	return all, nil
}

// compareFolders compares the entries of a folder. It returns their changes and the subfolders that
// differ.
func compareFolders(dir string, from, to map[string]Entry) (changes []Change, below []pair) {
	names := maps.Clone(from)
	if names == nil {
		names = map[string]Entry{}
	}
	maps.Copy(names, to)
	for name := range names {
		was, is := from[name], to[name]
		if was == is {
			continue
		}
		path := dir + name
		p := pair{dir: path + "/"}
		if was.Mode == modeTree {
			p.from, was = was.ID, Entry{}
		}
		if is.Mode == modeTree {
			p.to, is = is.ID, Entry{}
		}
		if p.from != p.to {
			below = append(below, p)
		}
		c := Change{Path: path, Status: 'M', From: was, To: is}
		switch {
		case was == is: // both are folders
			continue
		case was.ID == "":
			c.Status = 'A'
		case is.ID == "":
			c.Status = 'D'
		case was.Mode[:2] != is.Mode[:2]:
			c.Status = 'T'
		}
		changes = append(changes, c)
	}
	return changes, below
}

// treesOf returns the ids of the trees of revisions.
func (r *Repo) treesOf(ctx context.Context, revs ...string) ([]string, error) {
	ids := make([]string, len(revs))
	for i, rev := range revs {
		var err error
		if ids[i], err = r.TreeOf(ctx, rev); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Entries returns the entries of a tree at these paths (files or folders), or all. A path
// that the tree lacks is not in the map. The map must not be changed.
func (r *Repo) Entries(ctx context.Context, tree string, paths ...string) (map[string]Entry, error) {
	id, err := r.TreeOf(ctx, tree)
	switch {
	case err != nil:
		return nil, err
	case len(paths) == 0 && r.of != nil:
		return r.of.Entries(ctx, id)
	case len(paths) == 0:
		return r.Select(ctx, id, &r.all)
	}
	return r.entriesOf(ctx, id, paths)
}

// EntriesAt is Entries for paths of which there may be none.
func (r *Repo) EntriesAt(ctx context.Context, tree string, paths []string) (map[string]Entry, error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	return r.entriesOf(ctx, id, paths)
}

// entriesOf is EntriesAt for the id of a tree.
func (r *Repo) entriesOf(ctx context.Context, id string, paths []string) (map[string]Entry, error) {
	wanted, found := newPathSet(paths), map[string]Entry{}
	err := r.walk(ctx, id, wanted.reaches, func(path string, e Entry) bool {
		if wanted.covers(path) {
			found[path] = e
		}
		return true
	})
	return found, err
}

// Paths returns the paths of changes, in their order.
func Paths(changes []Change) []string {
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	return paths
}

// HasAny reports whether a tree has a file for whose path wanted returns true. It only reads as
// many folders as needed.
func (r *Repo) HasAny(ctx context.Context, tree string, wanted func(path string) bool) (has bool, err error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return false, err
	}
	err = r.walk(ctx, id, nil, func(path string, _ Entry) bool {
		has = wanted(path)
		return !has
	})
	return has, err
}

// maxWalked limits the folders that a walk reads at once; the first one is read alone.
const maxWalked = 1000

// walk visits the entries of a tree, by its id, that are no folders, until visit returns false. It only
// reads the folders for which enter returns true (nil = all).
func (r *Repo) walk(ctx context.Context, id string, enter func(dir string) bool, visit func(path string, e Entry) bool) error {
	todo, walked := []pair{{to: id}}, 0
	for most := 1; len(todo) > 0; most = min(2*most, maxWalked) {
		some := slices.Clone(todo[max(0, len(todo)-most):])
		todo = todo[:len(todo)-len(some)]
		if walked += len(some); walked > maxFolders {
			return fmt.Errorf("list tree %s: %d folders", id, walked)
		}
		var ids []string
		for _, p := range some {
			ids = append(ids, p.to)
		}
		entries, err := r.trees(ctx, ids)
		if err != nil {
			return fmt.Errorf("list tree %s: %w", id, err)
		}
		for i, p := range some {
			for name, e := range entries[i] {
				switch path := p.dir + name; {
				case e.Mode == modeTree && (enter == nil || enter(path)):
					todo = append(todo, pair{dir: path + "/", to: e.ID})
				case e.Mode != modeTree && !visit(path, e):
					return nil
				}
			}
		}
	}
	return nil
}

// pathSet is a set of files and folders.
type pathSet struct{ paths, above map[string]bool }

func newPathSet(paths []string) pathSet {
	set := pathSet{map[string]bool{}, map[string]bool{}}
	for _, p := range paths {
		p = strings.TrimSuffix(p, "/")
		set.paths[p] = true
		for i := range len(p) {
			if p[i] == '/' {
				set.above[p[:i]] = true
			}
		}
	}
	return set
}

// covers reports whether path is in the set or below a folder that is.
func (s pathSet) covers(path string) bool {
	if len(s.paths) == 0 {
		return false
	}
	if s.paths[path] {
		return true
	}
	for i := range len(path) {
		if path[i] == '/' && s.paths[path[:i]] {
			return true
		}
	}
	return false
}

// reaches reports whether the set may contain something in or below a folder.
func (s pathSet) reaches(dir string) bool { return s.above[dir] || s.covers(dir) }
