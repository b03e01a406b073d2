package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// The user may edit, delete and rename tracked files while a loop works in the same tree. A
// change is attributed to the user if no editing tool wrote the file and its times lie outside
// of all spans in which the agent, a gate or a hook ran. A file that the agent changed stays
// attributed to it. That is journalled, since a stash of the user changes the times.

// attributeEdits attributes the tracked files that changed since the base to the user or the agent.
func (r *Runner) attributeEdits(ctx context.Context, m memory.ActionContext, changed changedFiles) (memory.ActionContext, error) {
	was, err := r.editsSince(ctx, m)
	if err != nil {
		return m, err
	}
	left := r.knownFiles()
	files := slices.DeleteFunc(slices.Clone(changed.paths), func(file string) bool { return r.agentEdits[file] || left[file] })
	now := memory.Edits{Since: m.Base.Commit}
	if was.Since != now.Since {
		now.ByAgent = slices.Sorted(maps.Keys(r.agentEdits))
	}
	var doubtful []string
	if len(files) > 0 {
		calls, err := r.taskCalls(m)
		if err != nil {
			return m, err
		}
		timeline, err := r.timeline(m)
		if err != nil {
			return m, err
		}
		for _, file := range files {
			byUser, gone := r.editedByUser(file, was, calls, timeline)
			switch {
			case !byUser:
				if r.changedSinceCutOff(file) && !calls.Wrote(filepath.Join(r.Repo.Root(), filepath.FromSlash(file))) {
					doubtful = append(doubtful, file)
				}
				r.agentEdits[file] = true
				now.ByAgent = append(now.ByAgent, file)
				continue
			case gone:
				now.Deleted = append(now.Deleted, file)
			}
			now.ByUser = append(now.ByUser, file)
		}
	}
	if len(doubtful) > 0 {
		r.noteDoubtful(ctx, "changed", doubtful)
	}
	if changed.onlyUnstaged {
		now = keepStagedEdits(now, was, changed.paths)
	}
	r.recordEdits(ctx, was, now)
	now.ByAgent = firstN(now.ByAgent, maxAgentFiles)
	known := memory.NewFiles{Edits: &now}
	r.attributedFiles = r.attributedFiles.Merge(known)
	m.NewFiles = m.Merge(known)
	return m, nil
}

// attributeAfterIdle attributes the changes that were made while the loop waited or was paused
// before it performs the action: later changes by the agent alter the times of folders.
func (r *Runner) attributeAfterIdle(do performer) performer {
	return func(ctx context.Context, m memory.ActionContext) (loop.EventPayload, error) {
		if r.wasIdle.Swap(false) {
			sorted, err := r.attributeNewFiles(ctx, m, "")
			if err != nil {
				return nil, err
			}
			m = sorted
		}
		return do(ctx, m)
	}
}

// keepStagedEdits adds the earlier edits of the user that are in git's index.
func keepStagedEdits(now, was memory.Edits, changed []string) memory.Edits {
	for _, file := range was.ByUser {
		if slices.Contains(changed, file) {
			continue
		}
		now.ByUser = append(now.ByUser, file)
		if slices.Contains(was.Deleted, file) {
			now.Deleted = append(now.Deleted, file)
		}
	}
	slices.Sort(now.ByUser)
	return now
}

// knownFiles returns tracked files that are not attributed by their times.
func (r *Runner) knownFiles() map[string]bool {
	known := slices.Concat(r.Spec.Untracked, r.Spec.HiddenFiles, r.OwnFiles())
	if r.Spec.UnfinishedWork != nil {
		known = append(known, r.Spec.UnfinishedWork.Paths...)
	}
	files := map[string]bool{}
	for _, file := range known {
		files[file] = true
	}
	return files
}

// editsSince returns the known edits since the base. If the base has changed, edits that the
// new base contains are dropped. All others keep their author.
func (r *Runner) editsSince(ctx context.Context, m memory.ActionContext) (memory.Edits, error) {
	was := memory.Edits{Since: m.Base.Commit}
	if m.Edits != nil {
		was = *m.Edits
	}
	if r.agentEdits != nil && r.editsBase == m.Base.Commit && was.Since == m.Base.Commit {
		return was, nil
	}
	own := maps.Clone(r.agentEdits)
	if own == nil {
		own = map[string]bool{}
	}
	for _, file := range was.ByAgent {
		own[file] = true
	}
	if was.Since != m.Base.Commit {
		diff, err := r.Repo.Diff(ctx, was.Since, m.Base.Commit)
		if err != nil {
			return was, fmt.Errorf("compare the commits that the work began from: %w", err)
		}
		in := map[string]bool{}
		for _, c := range diff {
			in[c.Path] = true
			delete(own, c.Path)
		}
		committed := func(file string) bool { return in[file] }
		was.ByUser = slices.DeleteFunc(slices.Clone(was.ByUser), committed)
		was.Deleted = slices.DeleteFunc(slices.Clone(was.Deleted), committed)
		was.ByAgent = slices.DeleteFunc(slices.Clone(was.ByAgent), committed)
	}
	r.editsBase, r.agentEdits = m.Base.Commit, own
	if r.userEdits == nil {
		r.userEdits = map[string][]time.Time{}
	}
	return was, nil
}

// editedByUser reports whether only the user changed a tracked file, and whether the file is
// gone. A deletion that was attributed to the user stays so, since other changes in the folder
// alter its times.
func (r *Runner) editedByUser(file string, was memory.Edits, calls *authorship.Calls, timeline authorship.Timeline) (byUser, gone bool) {
	full := filepath.Join(r.Repo.Root(), filepath.FromSlash(file))
	times, gone := r.editTimes(file)
	deleted := slices.Contains(was.Deleted, file)
	if gone {
		return deleted || timeline.EditAuthor(times, false) == authorship.User && !calls.Named(full), true
	}
	known := slices.Contains(was.ByUser, file) && !deleted
	unchanged := known && len(times) > 0 && slices.EqualFunc(times, r.userEdits[file], time.Time.Equal) // since it was last attributed, even if a turn began soon after
	byUser = (unchanged || timeline.EditAuthor(times, known) == authorship.User) && !calls.Wrote(full)
	if byUser {
		r.userEdits[file] = times
	}
	return byUser, false
}

// changedSinceCutOff reports whether a file changed between the start of a call in which the last
// owner was killed and the start of this owner. Then its author is unknown.
func (r *Runner) changedSinceCutOff(file string) bool {
	at, _ := r.editTimes(file)
	return !r.cutOffSpan.IsZero() && slices.ContainsFunc(at, func(t time.Time) bool { return t.After(r.cutOffSpan.From) && t.Before(r.cutOffSpan.Until) })
}

// noteDoubtful notes these files of unknown author, which are attributed to the agent.
func (r *Runner) noteDoubtful(ctx context.Context, how string, files []string) {
	few := plan.Few(files, maxListedFiles)
	n := memory.Note{Level: loop.Warning, PossibleUserChange: few + ", " + how + " since a turn that was cut off began"}
	n.Text = how + " since the turn that was cut off began, treated as the agent's work, perhaps yours: " + few
	r.enqueue(ctx, func(context.Context) error { r.recordNote(n); return nil })
}

// editTimes returns the times of a tracked file. For a deleted file it returns those of the
// nearest existing folder, or none if they cannot be read.
func (r *Runner) editTimes(file string) (times []time.Time, gone bool) {
	for name := file; ; name = path.Dir(name) {
		times, err := atomicfile.Times(filepath.Join(r.Repo.Root(), filepath.FromSlash(name)))
		if err == nil || name == "." || !errors.Is(err, fs.ErrNotExist) {
			return times, name != file
		}
	}
}

// recordEdits journals the authors of changed files if they differ from was, and notes new edits
// of the user.
func (r *Runner) recordEdits(ctx context.Context, was, now memory.Edits) {
	if was.Since == now.Since && slices.Equal(now.ByUser, was.ByUser) && slices.Equal(now.Deleted, was.Deleted) && len(now.ByAgent) == 0 {
		return
	}
	fresh := slices.DeleteFunc(slices.Clone(now.ByUser), func(file string) bool { return slices.Contains(was.ByUser, file) })
	r.enqueue(ctx, func(context.Context) error {
		kept, known := now, 0
		if e := r.mem.Edits; e != nil && e.Since == now.Since {
			known = len(e.ByAgent)
		}
		kept.ByAgent = firstN(now.ByAgent, max(0, maxAgentFiles-known))
		n := memory.NewFiles{Edits: &kept}
		r.mem.NewFiles = r.mem.Merge(n)
		if len(fresh) > 0 {
			r.recordNote(memory.Note{Level: loop.Info, Text: "left alone: your edit of " + plan.Few(fresh, maxListedFiles) + ": not committed", NewFiles: n})
			return nil
		}
		return r.appendRecord(memory.TypeNewFiles, n)
	})
}
