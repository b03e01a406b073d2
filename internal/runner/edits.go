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

// The user edits, deletes and renames tracked files while a loop works in the same tree. Such a
// change is theirs where no editing tool wrote the file and its times lie outside of every span in
// which something of the agent's, a gate or a hook was at work. What the agent changed is its from
// then on, which is journalled: a stash of the user's gives it other times.

// sortEdits tells the tracked files that only the user changed since the base from the agent's.
func (r *Runner) sortEdits(ctx context.Context, m memory.ActionContext, changed changedFiles) (memory.ActionContext, error) {
	was, err := r.editsSince(ctx, m)
	if err != nil {
		return m, err
	}
	left := r.notEdits()
	files := slices.DeleteFunc(slices.Clone(changed.paths), func(file string) bool { return r.ownEdits[file] || left[file] })
	now := memory.Edits{Since: m.Base.Commit}
	if was.Since != now.Since {
		now.ByAgent = slices.Sorted(maps.Keys(r.ownEdits))
	}
	var doubtful []string
	if len(files) > 0 {
		past, err := r.recall(m)
		if err != nil {
			return m, err
		}
		times, err := r.spans(m)
		if err != nil {
			return m, err
		}
		for _, file := range files {
			theirs, gone := r.editedByUser(file, was, past, times)
			switch {
			case !theirs:
				if r.isSinceCut(file) && !past.Wrote(filepath.Join(r.Repo.Root(), filepath.FromSlash(file))) {
					doubtful = append(doubtful, file)
				}
				r.ownEdits[file] = true
				now.ByAgent = append(now.ByAgent, file)
				continue
			case gone:
				now.Deleted = append(now.Deleted, file)
			}
			now.ByUser = append(now.ByUser, file)
		}
	}
	if len(doubtful) > 0 {
		r.tellDoubtful(ctx, "changed", doubtful)
	}
	if changed.some {
		now = addStaged(now, was, changed.paths)
	}
	r.tellEdits(ctx, was, now)
	now.ByAgent = atMost(now.ByAgent, ownMost)
	known := memory.NewFiles{Edits: &now}
	r.sortedNew = r.sortedNew.Merge(known)
	m.NewFiles = m.Merge(known)
	return m, nil
}

// afterRest looks for what the user did in the tree while the loop waited, or was paused, before the agent works
// there: a folder has other times then.
func (r *Runner) afterRest(do asked) asked {
	return func(ctx context.Context, a loop.Action, m memory.ActionContext) (loop.Event, error) {
		if r.rested.Swap(false) {
			sorted, err := r.sortNewFiles(ctx, m, "")
			if err != nil {
				return loop.Event{}, err
			}
			m = sorted
		}
		return do(ctx, a, m)
	}
}

// addStaged keeps edits of the user's that are in their index as well.
func addStaged(now, was memory.Edits, changed []string) memory.Edits {
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

// notEdits are tracked files of which it is known otherwise whose they are.
func (r *Runner) notEdits() map[string]bool {
	known := slices.Concat(r.Spec.Untracked, r.Spec.HiddenFiles, r.Marks())
	if r.Spec.UnfinishedWork != nil {
		known = append(known, r.Spec.UnfinishedWork.Paths...)
	}
	files := map[string]bool{}
	for _, file := range known {
		files[file] = true
	}
	return files
}

// editsSince is what is known of the changes since the base. Where the base is another one than it was,
// a change that the new one has is none any more; all others have the author that they had.
func (r *Runner) editsSince(ctx context.Context, m memory.ActionContext) (memory.Edits, error) {
	was := memory.Edits{Since: m.Base.Commit}
	if m.Edits != nil {
		was = *m.Edits
	}
	if r.ownEdits != nil && r.editsBase == m.Base.Commit && was.Since == m.Base.Commit {
		return was, nil
	}
	own := maps.Clone(r.ownEdits)
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
	r.editsBase, r.ownEdits = m.Base.Commit, own
	if r.userEdits == nil {
		r.userEdits = map[string][]time.Time{}
	}
	return was, nil
}

// editedByUser reports whether only the user changed a tracked file, and whether it is gone. A deletion that
// is known to be theirs stays so: other changes in the folder give it other times.
func (r *Runner) editedByUser(file string, was memory.Edits, past *authorship.Calls, times authorship.Timeline) (theirs, gone bool) {
	full := filepath.Join(r.Repo.Root(), filepath.FromSlash(file))
	at, gone := r.editTimes(file)
	deleted := slices.Contains(was.Deleted, file)
	if gone {
		return deleted || times.EditAuthor(at, false) == authorship.User && !past.Named(full), true
	}
	known := slices.Contains(was.ByUser, file) && !deleted
	untouched := known && len(at) > 0 && slices.EqualFunc(at, r.userEdits[file], time.Time.Equal) // however soon after it a turn began
	theirs = (untouched || times.EditAuthor(at, known) == authorship.User) && !past.Wrote(full)
	if theirs {
		r.userEdits[file] = at
	}
	return theirs, false
}

// isSinceCut reports whether a file changed between the start of a call in which the owner before this one was
// killed and the start of this one: whether its agent still did that, or the user did, nobody knows.
func (r *Runner) isSinceCut(file string) bool {
	at, _ := r.editTimes(file)
	return !r.cut.IsZero() && slices.ContainsFunc(at, func(t time.Time) bool { return t.After(r.cut.From) && t.Before(r.cut.Until) })
}

// tellDoubtful names such files, which count as the agent's.
func (r *Runner) tellDoubtful(ctx context.Context, how string, files []string) {
	few := plan.Few(files, newMost)
	n := memory.Note{Level: loop.Warning, PossibleUserChange: few + ", " + how + " since a turn that was cut off began"}
	n.Text = how + " since the turn that was cut off began, treated as the agent's work, perhaps yours: " + few
	r.inRun(ctx, func(context.Context) error { r.tell(n); return nil })
}

// editTimes returns the times of a tracked file. Of one that is gone they are those of the nearest folder that
// is there; none if they cannot be read.
func (r *Runner) editTimes(file string) (times []time.Time, gone bool) {
	for name := file; ; name = path.Dir(name) {
		times, err := atomicfile.Times(filepath.Join(r.Repo.Root(), filepath.FromSlash(name)))
		if err == nil || name == "." || !errors.Is(err, fs.ErrNotExist) {
			return times, name != file
		}
	}
}

// tellEdits journals whose the changes of tracked files are, where that is news, and names those of the
// user's that have come.
func (r *Runner) tellEdits(ctx context.Context, was, now memory.Edits) {
	if was.Since == now.Since && slices.Equal(now.ByUser, was.ByUser) && slices.Equal(now.Deleted, was.Deleted) && len(now.ByAgent) == 0 {
		return
	}
	fresh := slices.DeleteFunc(slices.Clone(now.ByUser), func(file string) bool { return slices.Contains(was.ByUser, file) })
	r.inRun(ctx, func(context.Context) error {
		kept, known := now, 0
		if e := r.mem.Edits; e != nil && e.Since == now.Since {
			known = len(e.ByAgent)
		}
		kept.ByAgent = atMost(now.ByAgent, max(0, ownMost-known))
		n := memory.NewFiles{Edits: &kept}
		r.mem.NewFiles = r.mem.Merge(n)
		if len(fresh) > 0 {
			r.tell(memory.Note{Level: loop.Info, Text: "left alone: your edit of " + plan.Few(fresh, newMost) + ": not committed", NewFiles: n})
			return nil
		}
		return r.append(memory.TypeNewFiles, n)
	})
}
