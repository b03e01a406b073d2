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

// treeState is what is known of the work tree and of the authors of its files. Like turnState it
// belongs to the running action.
type treeState struct {
	lastSnapshot       atomic.Pointer[snapshot] // snapshot of the last action, for the next one
	previousSnapshot   *snapshot                // snapshot of the action before this one
	agentNewFiles      map[string]bool          // new files that are attributed to the agent
	hasNewSpans        atomic.Bool              // a span was recorded since the last inspection
	attributedIndex    string                   // base and index state at which all new files were attributed
	agentEdits         map[string]bool          // tracked files whose changes since the base are attributed to the agent
	editsBase          string                   // that base
	userEdits          map[string][]time.Time   // tracked files with changes of the user since the base, with their times when they were last attributed
	wasIdle            atomic.Bool              // the loop has waited or was paused: the user may have worked in the tree
	attributedFiles    memory.NewFiles          // files that are attributed to others, in this action
	attribution        memory.Attribution       // of the running inspection, see calls.go
	inspectedCallBytes int64                    // bytes of record.RunnerCallsFile that this owner has inspected
	lastSkipped        string                   // files that the last checkpoint skipped
	lastVariableHint   string                   // the last hint about missing environment variables
	cutOffSpan         authorship.Span          // from the start of the call in which the owner before this one was killed to the start of this one
}

// The user may create files in the work tree while a loop runs. A new file is attributed to
// the user if no tool call names it and its times lie outside of all spans in which the
// agent ran. In doubt it is the agent's, so that no work is lost.

// fileTimeTolerance is how close to a span a time counts as within it: some file systems
// store whole seconds.
const fileTimeTolerance = time.Second

const (
	maxListedFiles = 5    // new files that a note names
	maxAgentFiles  = 1000 // new files of the agent's that the journal keeps
)

// attributeNewFiles attributes new files, journals the authors and notes them. It returns
// the context with the result. tree is the current tree; "": no snapshot was taken.
func (r *Runner) attributeNewFiles(ctx context.Context, m memory.ActionContext, tree string) (memory.ActionContext, error) {
	if r.Spec.NoCommit {
		return m, nil
	}
	m.NewFiles = m.Merge(r.attributedFiles) // an action may call this several times with the context of its start
	found, changed, err := r.filesSinceBase(ctx, m, tree)
	if err == nil {
		m, err = r.attributeEdits(ctx, m, changed)
	}
	if err != nil || len(found) == 0 {
		return m, err
	}
	calls, err := r.taskCalls(m)
	if err != nil {
		return m, err
	}
	timeline, err := r.fileTimeline(ctx, m, found)
	if err != nil {
		return m, err
	}
	var others memory.NewFiles
	var unnamed, own []string
	for _, file := range found {
		author, named := authorship.NewFileAuthor(filepath.Join(r.Repo.Root(), filepath.FromSlash(file)), timeline.timesOf(file), calls, timeline.Timeline)
		switch {
		case author == authorship.Gates:
			others.ByGates = append(others.ByGates, file)
			continue
		case author == authorship.User:
			others.ByUser = append(others.ByUser, file)
			continue
		case !named:
			unnamed = append(unnamed, file)
		}
		if r.agentNewFiles == nil {
			r.agentNewFiles = map[string]bool{}
		}
		r.agentNewFiles[file] = true
		own = append(own, file)
	}
	r.attributedFiles = r.attributedFiles.Merge(others)
	m.NewFiles = m.Merge(others)
	r.noteUserFiles(ctx, others)
	r.recordAgentFiles(ctx, own)
	r.noteUnnamedFiles(ctx, unnamed)
	return m, nil
}

// recordAgentFiles journals new files of the agent: after a stash, for example, their times
// no longer show the author.
func (r *Runner) recordAgentFiles(ctx context.Context, files []string) {
	r.enqueue(ctx, func(context.Context) error {
		n := memory.NewFiles{ByAgent: firstN(files, max(0, maxAgentFiles-len(r.mem.ByAgent)))}
		if len(n.ByAgent) == 0 {
			return nil
		}
		r.mem.NewFiles = r.mem.Merge(n)
		return r.appendRecord(memory.TypeNewFiles, n)
	})
}

// noteUserFiles journals and notes new files of the user and of gates, which are not committed.
func (r *Runner) noteUserFiles(ctx context.Context, left memory.NewFiles) {
	name := func(files []string, why string, n memory.NewFiles) {
		if len(files) == 0 {
			return
		}
		note := memory.Note{Level: loop.Info, Text: "left alone: " + plan.Few(files, maxListedFiles) + ", " + why + ": not committed", NewFiles: n}
		r.enqueue(ctx, func(context.Context) error { r.recordNote(note); return nil })
	}
	name(left.ByUser, "which no tool call made", memory.NewFiles{ByUser: left.ByUser})
	name(left.ByGates, "new while the gates ran", memory.NewFiles{ByGates: left.ByGates})
}

// noteUnnamedFiles notes new files that no tool call names before they are committed.
func (r *Runner) noteUnnamedFiles(ctx context.Context, unnamed []string) {
	var doubtful []string
	unnamed = slices.DeleteFunc(unnamed, func(file string) bool {
		since := r.changedSinceCutOff(file)
		if since {
			doubtful = append(doubtful, file)
		}
		return since
	})
	if len(doubtful) > 0 {
		r.noteDoubtful(ctx, "new", doubtful)
	}
	if len(unnamed) == 0 {
		return
	}
	text := "new during the turn, treated as the agent's work: " + plan.Few(unnamed, maxListedFiles)
	if _, blind := r.Agent.(agent.Blind); blind {
		text = "new during the turn, treated as the agent's work: " + plan.Few(unnamed, maxListedFiles) + " (Pawl cannot see this agent's tool calls)"
	}
	r.enqueueNote(ctx, loop.Info, text)
}

// changedFiles are tracked files that differ from the loop's base.
type changedFiles struct {
	paths        []string
	onlyUnstaged bool // only files that differ from the index; others may differ from the base too
}

// filesSinceBase returns the files that the loop's base lacks and that are not attributed yet, and
// the changed files of the base. Without a tree it takes a snapshot only if there may be new
// files, since a snapshot is slow.
func (r *Runner) filesSinceBase(ctx context.Context, m memory.ActionContext, tree string) (fresh []string, changed changedFiles, err error) {
	attributed := r.attributedNewFiles(m)
	var tracked string
	if tree == "" {
		untracked, modified, index, err := r.Repo.Unstaged(ctx)
		if err != nil {
			return nil, changed, fmt.Errorf("look for new files: %w", err)
		}
		tracked = m.Base.Commit + " " + index
		isNew := func(file string) bool { return !attributed[file] && !strings.HasSuffix(file, "/") } // a nested repository
		if tracked == r.attributedIndex && !slices.ContainsFunc(untracked, isNew) {
			changed, err = r.changedInBase(ctx, m, modified)
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
		r.attributedIndex = tracked
	}
	return fresh, changed, nil
}

// changedInBase returns those of the modified files that the loop's base has.
func (r *Runner) changedInBase(ctx context.Context, m memory.ActionContext, modified []string) (changedFiles, error) {
	changed := changedFiles{onlyUnstaged: true}
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

// attributedNewFiles returns the new files whose author is known.
func (r *Runner) attributedNewFiles(m memory.ActionContext) map[string]bool {
	files := maps.Clone(r.agentNewFiles)
	if files == nil {
		files = map[string]bool{}
	}
	known := slices.Concat(r.Spec.Untracked, m.ExcludedFiles(), m.ByAgent, r.OwnFiles())
	if r.Spec.UnfinishedWork != nil {
		known = append(known, r.Spec.UnfinishedWork.Paths...)
	}
	for _, file := range known {
		files[file] = true
	}
	return files
}

// fileTimeline is a timeline with the folders that are needed to attribute new files.
type fileTimeline struct {
	authorship.Timeline
	root     string
	baseDirs map[string]bool // folders that exist in the loop's base
}

func (r *Runner) fileTimeline(ctx context.Context, m memory.ActionContext, files []string) (fileTimeline, error) {
	w := fileTimeline{root: r.Repo.Root()}
	var err error
	if w.Timeline, err = r.timeline(m); err != nil {
		return w, err
	}
	var dirs []string
	seen := map[string]bool{".": true}
	for _, file := range files {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir], dirs = true, append(dirs, dir)
		}
	}
	if w.baseDirs, err = r.Repo.Folders(ctx, m.Base.Commit, dirs); err != nil {
		return w, fmt.Errorf("list what is tracked: %w", err)
	}
	return w, nil
}

// timeline returns when agent, gates and hooks ran. It is empty if file times are unusable.
func (r *Runner) timeline(m memory.ActionContext) (authorship.Timeline, error) {
	calls, err := record.RecordedCalls(r.Loop)
	if err != nil || r.hasForeignClock() {
		return authorship.Timeline{}, err
	}
	calls.OpenSpan = r.tools.updateActivity((*authorship.Activity).OpenSpan)
	return calls.Timeline(m.StartedAt, time.Now(), cmp.Or(r.FileTimeTolerance, fileTimeTolerance)), nil
}

// timesOf returns the times of a file and of each new folder that it lies in.
func (w fileTimeline) timesOf(file string) (all [][]time.Time) {
	for name := file; name == file || name != "." && !w.baseDirs[name]; name = path.Dir(name) {
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

// hasForeignClock reports whether the file system uses another clock, as some network file
// systems do.
func (r *Runner) hasForeignClock() bool {
	f, err := os.CreateTemp(r.Repo.GitDir(), "pawl-clock-")
	if err != nil {
		return true
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := f.Close(); err != nil {
		return true
	}
	info, err := os.Stat(f.Name())
	return err != nil || time.Since(info.ModTime()).Abs() > fileTimeTolerance
}
