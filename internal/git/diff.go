package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Change is one path that differs between two trees. Renames are not guessed:
// they are a deletion and an addition.
type Change struct {
	Path   string
	Status byte  // A added, D deleted, M content or mode changed, T type changed (file, symlink, submodule)
	From   Entry // as it was; zero for A
	To     Entry // as it is; zero for D
}

// Entry is one path of a tree.
type Entry struct {
	Mode string // 100644, 100755, 120000 symlink, 160000 submodule
	ID   string // of the blob, or the submodule's commit
}

const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// IsFile reports whether the entry has a blob: a file or a symbolic link.
func (e Entry) IsFile() bool { return e.ID != "" && e.Mode != modeSubmodule }

// IsExecutable reports whether a file may be run.
func (e Entry) IsExecutable() bool { return e.Mode == "100755" }

// Diff lists what changed from one tree (or commit) to another, sorted by path.
func (r *Repo) Diff(ctx context.Context, from, to string) ([]Change, error) {
	if from == to {
		return nil, nil
	}
	args, err := r.resolvePair(ctx, from, to)
	if err != nil {
		return nil, err
	}
	out, err := r.ask(ctx, append([]string{"diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	return parseRaw(out)
}

// objectID matches the id of an object, as git prints it: SHA-1 or SHA-256.
const objectID = `[0-9a-f]{40}|[0-9a-f]{64}`

var fullID = regexp.MustCompile(`^(?:` + objectID + `)$`)

// resolvePair resolves two revisions to ids, which cannot be taken for options.
func (r *Repo) resolvePair(ctx context.Context, from, to string) ([]string, error) {
	sides := []string{from, to}
	for i, rev := range sides {
		if fullID.MatchString(rev) {
			continue // saves a process
		}
		tree, err := r.TreeOf(ctx, rev)
		if err != nil {
			return nil, err
		}
		sides[i] = tree
	}
	return sides, nil
}

// parseRaw reads diff-tree --raw -z: ":mode mode id id S", path, and so on.
func parseRaw(out []byte) ([]Change, error) {
	records := fields(out)
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

// DiffText is the unified diff between two trees, of these paths (files or
// folders; none = all), cut at maxBytes (0 = whole).
func (r *Repo) DiffText(ctx context.Context, from, to string, o DiffOptions) (string, error) {
	args, err := r.resolvePair(ctx, from, to)
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

// DiffOptions narrow a DiffText.
type DiffOptions struct {
	Paths    []string // files or folders, none = all
	MaxBytes int      // where to cut, 0 = nowhere
}

// Stat is the size of a change. Binary files count as files only.
type Stat struct{ Files, Insertions, Deletions int }

// Stat counts what changed from one tree to another.
func (r *Repo) Stat(ctx context.Context, from, to string) (Stat, error) {
	args, err := r.resolvePair(ctx, from, to)
	if err != nil {
		return Stat{}, err
	}
	out, err := r.run(ctx, call{args: append([]string{"diff-tree", "-r", "-z", "--numstat", "--no-renames"}, args...)})
	if err != nil {
		return Stat{}, fmt.Errorf("count changes: %w", err)
	}
	return parseNumstat(out)
}

func parseNumstat(out []byte) (Stat, error) {
	var s Stat
	for _, rec := range fields(out) {
		parts := strings.SplitN(rec, "\t", 3)
		if len(parts) != 3 {
			return Stat{}, fmt.Errorf("count changes: unexpected record %q", rec)
		}
		s.Files++
		if parts[0] == "-" {
			continue // binary
		}
		ins, err1 := strconv.Atoi(parts[0])
		del, err2 := strconv.Atoi(parts[1])
		if err := errors.Join(err1, err2); err != nil {
			return Stat{}, fmt.Errorf("count changes: %w", err)
		}
		s.Insertions += ins
		s.Deletions += del
	}
	return s, nil
}

// Entries lists a tree: these paths (files or folders), or everything. A path
// that the tree lacks is not in the map.
func (r *Repo) Entries(ctx context.Context, tree string, paths ...string) (map[string]Entry, error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	out, err := r.ask(ctx, "ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil {
		return nil, fmt.Errorf("list tree %s: %w", id, err)
	}
	all, err := parseTree(out)
	if err != nil || len(paths) == 0 {
		return all, err
	}
	wanted := newPathSet(paths)
	for path := range all {
		if !wanted.covers(path) {
			delete(all, path)
		}
	}
	return all, nil
}

// parseTree reads ls-tree -z: "mode type id", a tab, the path.
func parseTree(out []byte) (map[string]Entry, error) {
	entries := map[string]Entry{}
	for _, rec := range fields(out) {
		meta, path, ok := strings.Cut(rec, "\t")
		parts := strings.Split(meta, " ")
		if !ok || len(parts) != 3 || path == "" {
			return nil, fmt.Errorf("list tree: unexpected record %q", rec)
		}
		entries[path] = Entry{Mode: parts[0], ID: parts[2]}
	}
	return entries, nil
}

// Show returns the content of a file in a tree, or the target of a symbolic link. For any
// other path the error wraps fs.ErrNotExist.
func (r *Repo) Show(ctx context.Context, tree, path string) ([]byte, error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	out, err := r.ask(ctx, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", id, "--", path)
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", path, err)
	}
	entries, err := parseTree(out)
	if err != nil {
		return nil, err
	}
	e, ok := entries[path]
	if !ok || e.Mode == modeSubmodule || strings.HasPrefix(e.Mode, "04") {
		return nil, fmt.Errorf("show %s in %s: %w", path, id, fs.ErrNotExist)
	}
	blob, err := r.ask(ctx, "cat-file", "blob", e.ID)
	if err != nil {
		return nil, missingObjectError(err, path)
	}
	return blob, nil
}

// Overlay makes a tree that is base, but with these paths (files or folders) as
// they are in from; what from lacks is absent. Nothing in the work tree is
// touched. The tree to commit, a snapshot without the files that are not the
// loop's, is Overlay(snapshot, base, those files).
func (r *Repo) Overlay(ctx context.Context, base, from string, paths []string) (string, error) {
	baseTree, err := r.TreeOf(ctx, base)
	if err != nil {
		return "", err
	}
	changes, err := r.Diff(ctx, baseTree, from)
	if err != nil {
		return "", err
	}
	wanted := newPathSet(paths)
	changes = slices.DeleteFunc(changes, func(c Change) bool { return !wanted.covers(c.Path) })
	if len(changes) == 0 {
		return baseTree, nil
	}
	return r.withEntries(ctx, baseTree, entryLines(changes))
}

// WithContent makes a tree that is base, but with this content of its files. A
// path that is no file in base stays as it is. The content is converted as git
// converts that of the work tree (line ends, filters).
func (r *Repo) WithContent(ctx context.Context, base string, files map[string][]byte) (string, error) {
	if len(files) == 0 {
		return r.TreeOf(ctx, base)
	}
	entries, err := r.Entries(ctx, base, slices.Collect(maps.Keys(files))...)
	if err != nil {
		return "", err
	}
	modes := map[string]string{}
	for path, e := range entries {
		if e.IsFile() && e.Mode != modeLink {
			modes[path] = e.Mode
		}
	}
	return r.withFiles(ctx, base, modes, files)
}

// WithFiles makes a tree that is base with these plain files, whether it has them or not.
func (r *Repo) WithFiles(ctx context.Context, base string, files map[string][]byte) (string, error) {
	modes := map[string]string{}
	for path := range files {
		modes[path] = "100644"
	}
	return r.withFiles(ctx, base, modes, files)
}

// withFiles makes a tree that is base with the files that have a mode.
func (r *Repo) withFiles(ctx context.Context, base string, modes map[string]string, files map[string][]byte) (string, error) {
	var in bytes.Buffer
	for path, mode := range modes {
		data, ok := files[path]
		if !ok {
			continue
		}
		id, err := r.run(ctx, call{args: []string{"hash-object", "-w", "--stdin", "--path=" + path}, stdin: data})
		if err != nil {
			return "", fmt.Errorf("store %s: %w", path, err)
		}
		fmt.Fprintf(&in, "%s %s\t%s\x00", mode, strings.TrimSpace(string(id)), path)
	}
	return r.withEntries(ctx, base, in.Bytes())
}

// withEntries makes a tree that is base with entries as update-index reads them: once, as
// long as the tree is there. Nothing refers to it, so a git gc may take it away.
func (r *Repo) withEntries(ctx context.Context, base string, entries []byte) (string, error) {
	question := "tree\x00" + base + "\x00" + string(entries)
	if tree, ok := r.answers.get(question); ok && r.isLoose(string(tree)) {
		return string(tree), nil
	}
	tree, err := r.buildTree(ctx, base, entries)
	if err == nil {
		r.answers.keep(question, []byte(tree))
	}
	return tree, err
}

// isLoose reports whether an object has a file of its own, as new ones have.
func (r *Repo) isLoose(id string) bool {
	_, err := os.Stat(filepath.Join(r.commonDir, "objects", id[:2], id[2:]))
	return err == nil
}

func (r *Repo) buildTree(ctx context.Context, base string, entries []byte) (string, error) {
	s, err := r.newScratchDir()
	if err != nil {
		return "", err
	}
	defer s.close()
	if _, err = r.run(ctx, call{args: []string{"read-tree", base}, index: s.index}); err == nil {
		_, err = r.run(ctx, call{args: []string{"update-index", "-z", "--replace", "--index-info"}, index: s.index, stdin: entries})
	}
	if err != nil {
		return "", fmt.Errorf("overlay trees: %w", err)
	}
	tree, err := r.writeTree(ctx, s.index)
	if err != nil {
		return "", fmt.Errorf("overlay trees: %w", err)
	}
	return tree, nil
}

// setEntries brings an index from the From to the To side of the changes.
func (r *Repo) setEntries(ctx context.Context, index string, changes []Change) error {
	_, err := r.run(ctx, call{args: []string{"update-index", "-z", "--replace", "--index-info"}, index: index, stdin: entryLines(changes)})
	return err
}

// entryLines are the To side of the changes, as update-index reads them. Deletions
// come first: a folder may take the place of a file.
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

// pathSet is a set of files and folders.
type pathSet map[string]bool

func newPathSet(paths []string) pathSet {
	set := pathSet{}
	for _, p := range paths {
		set[strings.TrimSuffix(p, "/")] = true
	}
	return set
}

// covers reports whether path is in the set or below a folder that is.
func (s pathSet) covers(path string) bool {
	if len(s) == 0 {
		return false
	}
	if s[path] {
		return true
	}
	for i := range len(path) {
		if path[i] == '/' && s[path[:i]] {
			return true
		}
	}
	return false
}
