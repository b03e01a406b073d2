package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a path that differs between two trees. Renames are not detected: they are a deletion
// and an addition.
type Change struct {
	Path   string
	Status byte  // A added, D deleted, M content or mode changed, T type changed (file, symlink, submodule)
	From   Entry // before; zero for A
	To     Entry // after; zero for D
}

// parseRaw reads diff-tree --raw -z: ":mode mode id id S", path, and so on.
func parseRaw(out []byte) ([]Change, error) {
	records := splitNul(out)
	if len(records)%2 != 0 {
		return nil, fmt.Errorf("compare trees: %d records, want pairs", len(records))
	}
	changes := make([]Change, 0, len(records)/2)
	for pair := range slices.Chunk(records, 2) {
		meta, ok := strings.CutPrefix(pair[0], ":")
		parts := strings.Split(meta, " ")
		if !ok || len(parts) != 5 || len(parts[4]) == 0 || pair[1] == "" {
			return nil, fmt.Errorf("compare trees: unexpected record %q", pair[0])
		}
		c := Change{Path: pair[1], Status: parts[4][0]}
		if c.Status != 'A' {
			c.From = Entry{Mode: parts[0], ID: parts[2]}
		}
		if c.Status != 'D' {
			c.To = Entry{Mode: parts[1], ID: parts[3]}
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// DiffText returns the unified diff between two trees, limited by the options.
func (r *Repo) DiffText(ctx context.Context, from, to string, o DiffOptions) (string, error) {
	args, err := r.treesOf(ctx, from, to)
	if err != nil {
		return "", err
	}
	args = append([]string{"--literal-pathspecs", "diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"}, args...)
	args = append(append(args, "--"), o.Paths...)
	out, err := r.run(ctx, call{args: args, limit: o.MaxBytes})
	if err != nil {
		return "", fmt.Errorf("print diff: %w", err)
	}
	return string(out), nil
}

// DiffOptions limits a DiffText.
type DiffOptions struct {
	Paths    []string // files or folders, nil = all
	MaxBytes int      // length of the text, 0 = unlimited
}

// Overlay creates a tree that equals base, except for these paths (files or folders), which it
// takes from from. Paths that from lacks are absent. It does not change the work tree. For example,
// the tree to commit without files that are not the loop's is Overlay(snapshot, base, those files).
func (r *Repo) Overlay(ctx context.Context, base, from string, paths []string) (string, error) {
	baseTree, err := r.TreeOf(ctx, base)
	if err != nil {
		return "", err
	}
	wanted := newPathSet(paths)
	changes, err := r.diff(ctx, baseTree, from, &wanted)
	if err != nil {
		return "", err
	}
	return r.withChanges(ctx, baseTree, changes)
}

// WithContent creates a tree that equals base, with new content for some of its files. Paths that
// are not files in base are ignored. The content is converted like that of the work tree (line
// ends, filters).
func (r *Repo) WithContent(ctx context.Context, base string, files map[string][]byte) (string, error) {
	if len(files) == 0 {
		return r.TreeOf(ctx, base)
	}
	entries, err := r.EntriesAt(ctx, base, slices.Collect(maps.Keys(files)))
	if err != nil {
		return "", err
	}
	return r.withFiles(ctx, base, files, func(path string) string {
		if e := entries[path]; e.IsFile() && e.Mode != modeLink {
			return e.Mode
		}
		return ""
	})
}

// WithFiles creates a tree that equals base with these plain files added or replaced.
func (r *Repo) WithFiles(ctx context.Context, base string, files map[string][]byte) (string, error) {
	return r.withFiles(ctx, base, files, func(string) string { return "100644" })
}

// withFiles creates a tree that equals base with those of the files for which modeOf returns a mode.
func (r *Repo) withFiles(ctx context.Context, base string, files map[string][]byte, modeOf func(path string) string) (string, error) {
	var changes []Change
	for path, data := range files {
		mode := modeOf(path)
		if mode == "" {
			continue
		}
		id, err := r.run(ctx, call{args: []string{"hash-object", "-w", "--stdin", "--path=" + path}, stdin: data})
		if err != nil {
			return "", fmt.Errorf("store %s: %w", path, err)
		}
		changes = append(changes, Change{Path: path, Status: 'M', To: Entry{mode, strings.TrimSpace(string(id))}})
	}
	return r.withChanges(ctx, base, changes)
}

// setEntries changes an index from the From to the To side of changes.
func (r *Repo) setEntries(ctx context.Context, index string, changes []Change) error {
	_, err := r.run(ctx, call{args: []string{"update-index", "-z", "--replace", "--index-info"}, index: index, stdin: entryLines(changes)})
	return err
}

// entryLines returns the To side of changes as input of update-index. Deletions come first, because
// a folder may replace a file.
func entryLines(changes []Change) []byte {
	var in bytes.Buffer
	for _, c := range changes {
		if c.Status == 'D' {
			fmt.Fprintf(&in, "0 %s\t%s\x00", strings.Repeat("0", len(c.From.ID)), c.Path)
		}
	}
	for _, c := range changes {
		if c.Status != 'D' {
			fmt.Fprintf(&in, "%s %s\t%s\x00", c.To.Mode, c.To.ID, c.Path)
		}
	}
	return in.Bytes()
}

func (r *Repo) writeTree(ctx context.Context, index string) (string, error) {
	// --missing-ok: in a partial clone, the check would fetch every blob.
	out, err := r.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, index: index})
	return strings.TrimSpace(string(out)), err
}
