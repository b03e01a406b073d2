package attribution

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// MaxAgentFiles bounds how many files of the agent's the journal keeps.
const MaxAgentFiles = 1000

// Found says whose changes are that were not attributed before, or to another author.
type Found struct {
	Others    memory.NewFiles // new files of the user's and the gates'; Edits: nil if they are as before
	UserEdits []string        // tracked files that the user edited since the last time
	Shared    []string        // tracked files of the agent's that changed since then while it did not run
	ByAgent   []string        // new files of the agent's
	Unnamed   []string        // those that no tool call names
	// Files of the agent's that changed since a turn that was cut off began, and may be the user's.
	DoubtfulNew, DoubtfulEdits []string
}

// Attribute attributes the changes since the loop's base. It returns the context with the result.
// tree is the current tree; "": no snapshot was taken.
func (t *Tracker) Attribute(ctx context.Context, m memory.ActionContext, tree string) (memory.ActionContext, Found, error) {
	var f Found
	m.NewFiles = m.Merge(t.others) // an action may call this several times with the context of its start
	known := map[string]bool{}
	for _, file := range slices.Concat(t.KnownFiles(), m.Restored.Paths(), m.Start.UnfinishedPaths) {
		known[file] = true
	}
	fresh, changed, err := t.filesSinceBase(ctx, m, tree, known)
	if err != nil {
		return m, f, err
	}
	was, err := t.editsSince(ctx, m)
	if err != nil {
		return m, f, err
	}
	changed.edited = slices.DeleteFunc(slices.Clone(changed.paths), func(file string) bool { return t.agentEdits[file] || known[file] })
	var e evidence
	if len(changed.edited)+len(fresh) > 0 || slices.ContainsFunc(changed.paths, func(file string) bool { return t.changedAgain(file, changed) }) {
		if e, err = t.evidence(ctx, m, fresh); err != nil {
			return m, f, err
		}
	}
	t.attributeEdits(changed, was, e, &f)
	f.Shared = t.sharedEdits(changed, e, known)
	t.attributeNewFiles(fresh, e, &f)
	t.others = t.others.Merge(f.Others)
	m.NewFiles = m.Merge(f.Others)
	return m, f, nil
}

// evidence is what tells the author of a change.
type evidence struct {
	calls    *authorship.Calls // since the task started
	timeline authorship.Timeline
	baseDirs map[string]bool // folders of new files that exist in the loop's base
}

func (t *Tracker) evidence(ctx context.Context, m memory.ActionContext, fresh []string) (e evidence, err error) {
	if e.calls, err = TaskCalls(t.Loop, m); err != nil {
		return e, err
	}
	if e.timeline, err = t.timeline(m); err != nil {
		return e, err
	}
	var dirs []string
	seen := map[string]bool{".": true}
	for _, file := range fresh {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir], dirs = true, append(dirs, dir)
		}
	}
	if e.baseDirs, err = t.Repo.Folders(ctx, m.Base.Commit, dirs); err != nil {
		return e, fmt.Errorf("list what is tracked: %w", err)
	}
	return e, nil
}

// attributeNewFiles adds the authors of new files.
func (t *Tracker) attributeNewFiles(fresh []string, e evidence, f *Found) {
	for _, file := range fresh {
		var times [][]time.Time // of the file, and of each new folder that it lies in
		for name := file; name == file || name != "." && !e.baseDirs[name]; name = path.Dir(name) {
			times = append(times, timesOf(t.abs(name)))
		}
		author, named := authorship.NewFileAuthor(t.abs(file), times, e.calls, e.timeline)
		switch {
		case author == authorship.Gates:
			f.Others.ByGates = append(f.Others.ByGates, file)
			continue
		case author == authorship.User:
			f.Others.ByUser = append(f.Others.ByUser, file)
			continue
		case !named && t.changedSinceCutOff(file):
			f.DoubtfulNew = append(f.DoubtfulNew, file)
		case !named:
			f.Unnamed = append(f.Unnamed, file)
		}
		t.agentNewFiles[file] = true
		f.ByAgent = append(f.ByAgent, file)
	}
}

// UserCommits returns those of the commits that were made while the agent did not run.
func (t *Tracker) UserCommits(ctx context.Context, m memory.ActionContext, commits []string) (users []string, err error) {
	if len(commits) == 0 {
		return nil, nil
	}
	timeline, err := t.timeline(m)
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		if timeline.FileAuthor(t.commitTimes(ctx, c)) != authorship.Agent {
			users = append(users, c)
		}
	}
	return users, nil
}

// MadeByUser reports whether a file outside of the work tree was made while the agent did not run.
func (t *Tracker) MadeByUser(m memory.ActionContext, file string) (bool, error) {
	timeline, err := t.timeline(m)
	return err == nil && timeline.FileAuthor(timesOf(file)) == authorship.User, err
}

// commitTimes returns the times of a commit's object. Git may have packed it since (git gc): then they
// are the commit's own time, which an agent could make up, and those of all packs made after it. It
// returns nil if git cannot say: in doubt the commit is the agent's.
func (t *Tracker) commitTimes(ctx context.Context, commit string) []time.Time {
	if times := timesOf(t.Repo.LooseObjectPath(commit)); len(times) > 0 {
		return times
	}
	made, packs, err := t.Repo.PackedCommit(ctx, commit)
	if err != nil {
		return nil
	}
	var times []time.Time
	for _, pack := range packs {
		if of := timesOf(pack); len(of) > 0 && !slices.MaxFunc(of, time.Time.Compare).Before(made) {
			times = append(times, of...)
		}
	}
	if len(times) == 0 {
		return nil
	}
	return append(times, made, made.Add(time.Second-1))
}

// changedFiles are tracked files that differ from the loop's base.
type changedFiles struct {
	paths        []string
	blobs        map[string]string // their contents, if a snapshot was taken; "": deleted
	edited       []string          // those that are not attributed to the agent yet
	onlyUnstaged bool              // only files that differ from the index; others may differ from the base too
}

// filesSinceBase returns the files that the loop's base lacks and that are not attributed yet, and
// the changed files of the base. Without a tree it takes a snapshot only if there may be new
// files, since a snapshot is slow.
func (t *Tracker) filesSinceBase(ctx context.Context, m memory.ActionContext, tree string, known map[string]bool) (fresh []string, changed changedFiles, err error) {
	attributed := maps.Clone(known)
	maps.Copy(attributed, t.agentNewFiles)
	for _, file := range slices.Concat(m.ExcludedFiles(), m.ByAgent) {
		attributed[file] = true
	}
	var state string
	if tree == "" {
		untracked, modified, index, err := t.Repo.Unstaged(ctx)
		if err != nil {
			return nil, changed, fmt.Errorf("look for new files: %w", err)
		}
		state = m.Base.Commit + " " + index
		isNew := func(file string) bool { return !attributed[file] && !strings.HasSuffix(file, "/") } // a nested repository
		if state == t.complete && !slices.ContainsFunc(untracked, isNew) {
			changed, err = t.changedInBase(ctx, m, modified)
			return nil, changed, err
		}
		if tree, _, err = t.Repo.Snapshot(ctx); err != nil {
			return nil, changed, fmt.Errorf("take a snapshot of the work tree: %w", err)
		}
	}
	diff, err := t.Repo.Diff(ctx, m.Base.Commit, tree)
	if err != nil {
		return nil, changed, fmt.Errorf("look for new files: %w", err)
	}
	changed.blobs = map[string]string{}
	for _, c := range diff {
		switch {
		case c.Status != 'A':
			changed.paths = append(changed.paths, c.Path)
			changed.blobs[c.Path] = c.To.ID
		case !attributed[c.Path]:
			fresh = append(fresh, c.Path)
		}
	}
	if len(fresh) == 0 && state != "" {
		t.complete = state
	}
	return fresh, changed, nil
}

// changedInBase returns those of the modified files that the loop's base has.
func (t *Tracker) changedInBase(ctx context.Context, m memory.ActionContext, modified []string) (changedFiles, error) {
	changed := changedFiles{onlyUnstaged: true}
	files, err := t.Repo.EntriesAt(ctx, m.Base.Commit, modified)
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
