package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
)

// tree is what is known of the work tree, and of whose each new file is; as turns, it is
// the action's that is under way.
type tree struct {
	last      atomic.Pointer[snapshot] // what an action saw, for the next
	before    *snapshot                // what the action before this one saw
	ownNew    map[string]bool          // new files that are the agent's, as far as they were sorted
	spanned   atomic.Bool              // a span was written down since new files were sorted at a look
	noneNew   string                   // the base and the state of the index at which all new files were sorted
	ownEdits  map[string]bool          // tracked files that the agent changed since the base, as far as they were sorted
	editsBase string                   // that base
	userEdits map[string][]time.Time   // tracked files that the user changed since the base, with their times when they were last sorted
	rested    atomic.Bool              // the loop waited, or was paused: the user may have worked in the tree
	sortedNew memory.NewFiles          // new files that are not, as far as they were sorted
	read      memory.Attribution       // by the look under way, see calls.go
	looked    int64                    // bytes of record.RanFile that a look of this drive has been at
	skipped   string                   // by the last checkpoint
	lacked    string                   // by gates, of the variables that the user has
	cut       authorship.Span          // from the start of the call in which the owner before this one was killed to the start of this one
}

// The user makes files in the folder while a run is at work there. A new file is
// theirs where no tool call names it and its times lie outside of every span in which
// something of the agent's was at work: then nothing of the agent's can have made it.
// In doubt it is the agent's, so that no work is lost.

// newDoubt is how near to a span a time counts as within it: some file systems keep
// whole seconds.
const newDoubt = time.Second

const (
	newMost = 5    // new files that a note names
	ownMost = 1000 // new files of the agent's that the journal keeps
)

// sortNewFiles tells the user's new files from the agent's, journals those found to be
// the user's, and tells of both. It returns the memory with them. The tree is that of
// the work tree now, "" where no snapshot was taken.
func (r *Runner) sortNewFiles(ctx context.Context, m memory.ActionContext, tree string) (memory.ActionContext, error) {
	if r.Spec.NoCommit {
		return m, nil
	}
	m.NewFiles = m.Merge(r.sortedNew) // an action may look more than once, with the memory of its beginning
	found, changed, err := r.sinceBase(ctx, m, tree)
	if err == nil {
		m, err = r.sortEdits(ctx, m, changed)
	}
	if err != nil || len(found) == 0 {
		return m, err
	}
	past, err := r.recall(m)
	if err != nil {
		return m, err
	}
	times, err := r.workTimes(ctx, m, found)
	if err != nil {
		return m, err
	}
	var left memory.NewFiles
	var unnamed, own []string
	for _, file := range found {
		author, named := authorship.NewFileAuthor(filepath.Join(r.Repo.Root(), filepath.FromSlash(file)), times.of(file), past, times.Timeline)
		switch {
		case author == authorship.Gates:
			left.ByGates = append(left.ByGates, file)
			continue
		case author == authorship.User:
			left.ByUser = append(left.ByUser, file)
			continue
		case !named:
			unnamed = append(unnamed, file)
		}
		if r.ownNew == nil {
			r.ownNew = map[string]bool{}
		}
		r.ownNew[file] = true
		own = append(own, file)
	}
	r.sortedNew = r.sortedNew.Merge(left)
	m.NewFiles = m.Merge(left)
	r.nameLeftAlone(ctx, left)
	r.keepOwn(ctx, own)
	r.nameNew(ctx, unnamed)
	return m, nil
}

// keepOwn journals new files of the agent's: where the user moves them, as a stash
// does, their times tell no more whose they are.
func (r *Runner) keepOwn(ctx context.Context, files []string) {
	r.inRun(ctx, func(context.Context) error {
		n := memory.NewFiles{ByAgent: atMost(files, max(0, ownMost-len(r.mem.ByAgent)))}
		if len(n.ByAgent) == 0 {
			return nil
		}
		r.mem.NewFiles = r.mem.Merge(n)
		return r.append(memory.TypeNewFiles, n)
	})
}

// nameLeftAlone journals new files that are in no commit, and tells of them.
func (r *Runner) nameLeftAlone(ctx context.Context, left memory.NewFiles) {
	name := func(files []string, why string, n memory.NewFiles) {
		if len(files) == 0 {
			return
		}
		note := memory.Note{Level: loop.Info, Text: "left alone: " + plan.Few(files, newMost) + ", " + why + ": not committed", NewFiles: n}
		r.inRun(ctx, func(context.Context) error { r.tell(note); return nil })
	}
	name(left.ByUser, "which no tool call made", memory.NewFiles{ByUser: left.ByUser})
	name(left.ByGates, "new while the gates ran", memory.NewFiles{ByGates: left.ByGates})
}

// nameNew tells, before they are committed, of new files that no call names.
func (r *Runner) nameNew(ctx context.Context, unnamed []string) {
	var doubtful []string
	unnamed = slices.DeleteFunc(unnamed, func(file string) bool {
		since := r.isSinceCut(file)
		if since {
			doubtful = append(doubtful, file)
		}
		return since
	})
	if len(doubtful) > 0 {
		r.tellDoubtful(ctx, "new", doubtful)
	}
	if len(unnamed) == 0 {
		return
	}
	text := "new during the turn, treated as the agent's work: " + plan.Few(unnamed, newMost)
	if _, blind := r.Agent.(agent.Blind); blind {
		text = "new during the turn, treated as the agent's work: " + plan.Few(unnamed, newMost) + " (Pawl cannot see this agent's tool calls)"
	}
	r.noteLater(ctx, loop.Info, text)
}

// changedFiles are tracked files that differ from the loop's base.
type changedFiles struct {
	paths []string
	some  bool // there may be others: what differs from the index alone was looked for
}

// sinceBase are the files that the loop's base lacks and that have not been sorted yet, and those of the
// base that were changed. Without a tree a snapshot is taken only where there may be new ones: else it
// costs one git.
func (r *Runner) sinceBase(ctx context.Context, m memory.ActionContext, tree string) (fresh []string, changed changedFiles, err error) {
	attributed := r.attributed(m)
	var tracked string
	if tree == "" {
		untracked, modified, index, err := r.Repo.Unstaged(ctx)
		if err != nil {
			return nil, changed, fmt.Errorf("look for new files: %w", err)
		}
		tracked = m.Base.Commit + " " + index
		isNew := func(file string) bool { return !attributed[file] && !strings.HasSuffix(file, "/") } // that is a repository
		if tracked == r.noneNew && !slices.ContainsFunc(untracked, isNew) {
			changed, err = r.ofBase(ctx, m, modified)
			return nil, changed, err
		}
		if tree, _, err = r.Repo.Snapshot(ctx); err != nil {
			return nil, changed, fmt.Errorf("take a snapshot of the work tree: %w", err)
		}
	}
	diff, err := r.Repo.Diff(ctx, m.Base.Commit, tree)
	if err != nil {
		return nil, changed, fmt.Errorf("look for new files: %w", err)
	}
	for _, c := range diff {
		switch {
		case c.Status != 'A':
			changed.paths = append(changed.paths, c.Path)
		case !attributed[c.Path]:
			fresh = append(fresh, c.Path)
		}
	}
	if len(fresh) == 0 && tracked != "" {
		r.noneNew = tracked
	}
	return fresh, changed, nil
}

// ofBase are those of the files that differ from the index that the loop's base has.
func (r *Runner) ofBase(ctx context.Context, m memory.ActionContext, modified []string) (changedFiles, error) {
	changed := changedFiles{some: true}
	files, err := r.Repo.EntriesAt(ctx, m.Base.Commit, modified)
	if err != nil {
		return changed, fmt.Errorf("look for changed files: %w", err)
	}
	for _, file := range modified {
		if _, ok := files[file]; ok {
			changed.paths = append(changed.paths, file)
		}
	}
	return changed, nil
}

// attributed are the new files of which it is known whose they are.
func (r *Runner) attributed(m memory.ActionContext) map[string]bool {
	files := maps.Clone(r.ownNew)
	if files == nil {
		files = map[string]bool{}
	}
	known := slices.Concat(r.Spec.Untracked, m.ExcludedFiles(), m.ByAgent, r.Marks())
	if r.Spec.UnfinishedWork != nil {
		known = append(known, r.Spec.UnfinishedWork.Paths...)
	}
	for _, file := range known {
		files[file] = true
	}
	return files
}

// workTimes tells by the times of files who can have made them.
type workTimes struct {
	authorship.Timeline
	root string
	old  map[string]bool // the folders of the loop's base that they lie in
}

func (r *Runner) workTimes(ctx context.Context, m memory.ActionContext, files []string) (workTimes, error) {
	w := workTimes{root: r.Repo.Root()}
	var err error
	if w.Timeline, err = r.spans(m); err != nil {
		return w, err
	}
	var dirs []string
	seen := map[string]bool{".": true}
	for _, file := range files {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir], dirs = true, append(dirs, dir)
		}
	}
	if w.old, err = r.Repo.Folders(ctx, m.Base.Commit, dirs); err != nil {
		return w, fmt.Errorf("list what is tracked: %w", err)
	}
	return w, nil
}

// spans are the times at which something of the agent's was at work.
func (r *Runner) spans(m memory.ActionContext) (authorship.Timeline, error) {
	calls, err := record.RecordedCalls(r.Loop)
	if err != nil || r.strangeClock() {
		return authorship.Timeline{}, err
	}
	calls.OpenSpan = r.tools.time((*authorship.Activity).OpenSpan)
	return calls.Timeline(m.StartedAt, time.Now(), cmp.Or(r.FileDoubt, newDoubt)), nil
}

// of returns the times of a file and of each new folder that it lies in.
func (w workTimes) of(file string) (all [][]time.Time) {
	for name := file; name == file || name != "." && !w.old[name]; name = path.Dir(name) {
		all = append(all, fileTimes(filepath.Join(w.root, filepath.FromSlash(name))))
	}
	return all
}

// fileTimes returns the times of a file, none if they cannot be read.
func fileTimes(path string) []time.Time {
	times, err := atomicfile.Times(path)
	if err != nil {
		return nil
	}
	return times
}

// strangeClock reports whether the file system's clock is not ours, as on some network
// file systems.
func (r *Runner) strangeClock() bool {
	f, err := os.CreateTemp(r.Repo.GitDir(), "pawl-clock-")
	if err != nil {
		return true
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := f.Close(); err != nil {
		return true
	}
	info, err := os.Stat(f.Name())
	return err != nil || time.Since(info.ModTime()).Abs() > newDoubt
}
