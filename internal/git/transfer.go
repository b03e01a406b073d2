package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Transfer creates a tree that equals onto with the changes between base and work. A file that onto
// has changed too is merged. If that fails, onto's version stays, and its path is among the
// clashes. The work tree does not change.
func (r *Repo) Transfer(ctx context.Context, onto, base, work string) (tree string, clashes []string, err error) {
	wanted, err := r.Diff(ctx, base, work)
	if err != nil {
		return "", nil, err
	}
	have, err := r.EntriesAt(ctx, onto, Paths(wanted))
	if err != nil {
		return "", nil, err
	}
	s, err := r.newScratchDir()
	if err != nil {
		return "", nil, err
	}
	defer s.close()
	var changes []Change
	for _, c := range wanted {
		now := have[c.Path]
		if now == c.To {
			continue
		}
		if now != c.From {
			merged, ok, err := r.mergeFile(ctx, s.dir, c, now)
			if err != nil {
				return "", nil, err
			}
			if !ok {
				clashes = append(clashes, c.Path)
				continue
			}
			c.Status, c.To = 'M', merged
		}
		c.From = now
		changes = append(changes, c)
	}
	if tree, err = r.withChanges(ctx, onto, changes); err != nil {
		return "", nil, fmt.Errorf("transfer changes: %w", err)
	}
	return tree, clashes, nil
}

// mergeFile merges both changes of a file, and returns false if it cannot.
func (r *Repo) mergeFile(ctx context.Context, dir string, c Change, now Entry) (Entry, bool, error) {
	var names []string
	for i, e := range []Entry{now, c.From, c.To} {
		if !e.IsFile() || e.Mode == modeLink {
			return Entry{}, false, nil
		}
		blob, err := r.run(ctx, call{args: []string{"cat-file", "blob", e.ID}})
		if err != nil {
			return Entry{}, false, missingObjectError(err, c.Path)
		}
		name := filepath.Join(dir, "merge"+string(rune('0'+i)))
		if err := os.WriteFile(name, blob, 0o600); err != nil {
			return Entry{}, false, fmt.Errorf("merge %s: %w", c.Path, err)
		}
		names = append(names, name)
	}
	merged, err := r.run(ctx, call{args: append([]string{"merge-file", "-p", "-q"}, names...)})
	if err != nil {
		if hasExited(err) {
			err = nil // conflicts, or binary files
		}
		return Entry{}, false, err
	}
	id, err := r.run(ctx, call{args: []string{"hash-object", "-w", "--stdin"}, stdin: merged})
	return Entry{Mode: now.Mode, ID: strings.TrimSpace(string(id))}, err == nil, err
}
