package git

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/dirwatch"
	"github.com/pawl-dev/pawl/internal/git/indexfile"
)

// In a large repository a snapshot takes long because git checks each file. If the system reports
// which files change, only these are checked, in an index that contains nothing else: see
// Resnapshot.

const (
	watchedFrom = 2000 // number of files in an index from which on watching pays
	maxWatched  = 200  // maximum of paths that git checks one by one
)

// watching is the state of a watch of the work tree since a snapshot.
type watching struct {
	mu    sync.Mutex
	from  int // minimum number of files for watching; 0 = never
	files *dirwatch.Tree
	round int    // of the watch, changes with each start
	plain string // state of the user's index in which all entries were plain files
	base  *watchedSnapshot
}

// watchedSnapshot is the snapshot before which a watch started.
type watchedSnapshot struct {
	round     int
	tree      string
	stamp     string   // of the user's index
	tracked   []Change // changes of the user's index since, by AlignIndex
	untracked int64
	rules     map[string]string // ignore rules outside the work tree
}

// WatchFiles makes each snapshot of a large work tree start a watch for Resnapshot. The caller must
// call end.
func (r *Repo) WatchFiles() (end func()) { return r.watchFiles(watchedFrom) }

func (r *Repo) watchFiles(from int) (end func()) {
	w := &r.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from = from
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.files.Close()
		w.from, w.files, w.base = 0, nil, nil
	}
}

// Resnapshot is Snapshot for callers that took one since the agent's last turn. It relies on the
// changes that the system reports since. Gates and hooks may run in between. If they write through
// another name of a file (a hard link), only the next Snapshot sees it.
func (r *Repo) Resnapshot(ctx context.Context) (tree string, skipped []Skipped, err error) {
	if base, paths, ok := r.watchedChanges(ctx); ok && r.CheckTree(ctx, base.tree) == nil {
		if tree, err = r.treeSince(ctx, base, paths); err == nil && tree != "" {
			return tree, nil, nil
		}
	}
	return r.Snapshot(ctx)
}

// beginWatch starts watching the work tree, before a snapshot of it.
func (r *Repo) beginWatch(ctx context.Context) *watchedSnapshot {
	w := &r.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base = nil
	users := filepath.Join(r.gitDir, "index")
	if w.from == 0 || indexfile.Length(users) < w.from {
		return nil
	}
	rules, err := r.ignoreRules(ctx, nil)
	if err != nil {
		return nil
	}
	if w.files == nil {
		if w.files = dirwatch.NewTree(r.root); w.files == nil {
			w.from = 0 // finding this out each time would take as long
			return nil
		}
	} else if !w.files.Restart() {
		return nil
	}
	w.round++
	return &watchedSnapshot{round: w.round, rules: rules}
}

// watchSince makes a snapshot the base of Resnapshot.
func (r *Repo) watchSince(base *watchedSnapshot, s *snapshot) {
	w := &r.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	if base == nil || base.round != w.round || len(s.skipped) > 0 {
		return
	}
	base.tree, base.stamp, base.untracked = s.tree, s.stamp, s.untracked
	w.base = base
}

// alignWatch keeps a watch valid after Pawl changed the user's index.
func (r *Repo) alignWatch(from, to string, changes []Change) {
	w := &r.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.base == nil || w.base.stamp != from {
		return
	}
	w.base.stamp = to
	w.base.tracked = append(w.base.tracked, changes...)
	if w.plain == from && !slices.ContainsFunc(changes, func(c Change) bool { return c.To.Mode == modeSubmodule }) {
		w.plain = to
	}
}

// watchedChanges returns the paths that may differ from a snapshot. It returns false if they are
// unknown, or if a changed file affects which other files a snapshot contains.
func (r *Repo) watchedChanges(ctx context.Context) (base watchedSnapshot, paths []string, ok bool) {
	w := &r.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.base == nil {
		return base, nil, false
	}
	users := filepath.Join(r.gitDir, "index")
	changed, known := w.files.Changed()
	stamp, err := indexStamp(users)
	if err != nil || !known || stamp != w.base.stamp {
		return base, nil, false
	}
	if w.plain != stamp {
		if !r.isPlain(ctx, users) {
			return base, nil, false
		}
		w.plain = stamp
	}
	rules, err := r.ignoreRules(ctx, nil)
	if err != nil || !maps.Equal(rules, w.base.rules) {
		return base, nil, false
	}
	all := maps.Clone(changed)
	for _, c := range w.base.tracked {
		all[c.Path] = true
	}
	paths = slices.Sorted(maps.Keys(all))
	base = *w.base
	base.tracked = slices.Clone(base.tracked)
	return base, paths, len(paths) <= maxWatched && !slices.ContainsFunc(paths, affectsGit)
}

// affectsGit reports whether git reads a file itself, or a nested repository contains it.
func affectsGit(file string) bool {
	switch path.Base(file) {
	case ".gitignore", ".gitattributes", ".gitmodules":
		return true
	}
	return slices.ContainsFunc(strings.Split(file, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// isPlain reports whether an index only contains files whose names are enough for git to check
// them.
func (r *Repo) isPlain(ctx context.Context, index string) bool {
	entries, err := indexfile.Read(index)
	if err != nil {
		return false
	}
	if slices.ContainsFunc(entries, func(e indexfile.Entry) bool {
		return e.IsSubmodule() || e.IsConflict() || e.IsAssumed() || e.IsSkipped() || e.IsIntended()
	}) {
		return false
	}
	for _, ask := range []func() (bool, error){
		func() (bool, error) { return r.sparse(ctx) },
		func() (bool, error) { return r.boolSetting(ctx, "core.ignorecase") },
	} {
		if is, err := ask(); err != nil || is {
			return false
		}
	}
	return true
}

// treeSince returns the tree of the work tree, of which only these paths may differ from a
// snapshot. It returns "" if all files must be checked.
func (r *Repo) treeSince(ctx context.Context, base watchedSnapshot, paths []string) (string, error) {
	if len(paths) == 0 {
		return base.tree, nil
	}
	was, err := r.entriesOf(ctx, base.tree, paths)
	if err != nil {
		return "", err
	}
	s, err := r.newScratchDir()
	if err != nil {
		return "", err
	}
	defer s.close()
	tracked := maps.Clone(was)
	for _, c := range base.tracked {
		switch _, there := was[c.Path]; {
		case c.Status == 'D':
			delete(tracked, c.Path)
		case !there:
			tracked[c.Path] = c.To
		}
	}
	if err := os.WriteFile(s.index, indexfile.Encode(tracked), 0o600); err != nil {
		return "", err
	}
	report, err := r.status(ctx, call{index: s.index}, paths...)
	if err != nil {
		return "", err
	}
	todo := r.classify(report.files, base.untracked)
	if todo.full || len(todo.skipped) > 0 {
		return "", nil
	}
	if len(todo.extra) > 0 {
		if stale, err := r.ignoresAny(ctx, todo.extra); err != nil || stale {
			return "", err
		}
	}
	if err := r.updateIndex(ctx, s.index, todo.remove, "--force-remove"); err != nil {
		return "", err
	}
	if err := r.updateIndex(ctx, s.index, todo.add, "--add", "--remove", "--replace"); err != nil {
		return "", err
	}
	entries, err := indexfile.Read(s.index)
	if err != nil {
		return "", err
	}
	return r.withChanges(ctx, base.tree, changesTo(was, entries))
}

// changesTo returns the changes from some entries to those of an index.
func changesTo(was map[string]Entry, index []indexfile.Entry) []Change {
	gone := maps.Clone(was)
	var changes []Change
	for _, e := range index {
		delete(gone, e.Path)
		if is := Entry(e.Object()); was[e.Path] != is {
			changes = append(changes, Change{Path: e.Path, Status: 'M', From: was[e.Path], To: is})
		}
	}
	for file, e := range gone {
		changes = append(changes, Change{Path: file, Status: 'D', From: e})
	}
	return changes
}
