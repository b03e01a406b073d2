package attribution

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// The user may edit, delete and rename tracked files while a loop works in the same tree. A file
// that the agent changed stays attributed to it as long as it differs from the base.

// attributeEdits adds the authors of edited files.
func (t *Tracker) attributeEdits(changed changedFiles, was memory.Edits, e evidence, f *Found) {
	now := memory.Edits{Since: t.editsBase}
	if was.Since != now.Since {
		now.ByAgent = slices.Sorted(maps.Keys(t.agentEdits))
	}
	for _, file := range changed.edited {
		times, deleted := t.editTimes(file)
		wasDeleted := slices.Contains(was.Deleted, file)
		author := authorship.EditAuthor(authorship.Edit{
			File: t.abs(file), Times: times, Deleted: deleted,
			UserEdited: slices.Contains(was.ByUser, file) && !wasDeleted || t.notByGates[file], UserTimes: t.userEdits[file],
			UserDeleted: wasDeleted || t.notByGates[file],
		}, e.calls, e.timeline)
		switch {
		case author == authorship.Agent:
			if t.changedSinceCutOff(file) && !e.calls.Wrote(t.abs(file)) {
				f.DoubtfulEdits = append(f.DoubtfulEdits, file)
			}
			t.agentEdits[file] = true
			now.ByAgent = append(now.ByAgent, file)
			continue
		case deleted:
			now.Deleted = append(now.Deleted, file)
		default:
			t.userEdits[file] = times
		}
		now.ByUser = append(now.ByUser, file)
	}
	clear(t.notByGates)
	if changed.onlyUnstaged {
		now = keepStagedEdits(now, was, changed.paths)
	}
	if was.Since == now.Since && slices.Equal(now.ByUser, was.ByUser) && slices.Equal(now.Deleted, was.Deleted) && len(now.ByAgent) == 0 {
		return
	}
	now.ByAgent = now.ByAgent[:min(len(now.ByAgent), MaxAgentFiles)]
	f.Others.Edits = &now
	f.UserEdits = slices.DeleteFunc(slices.Clone(now.ByUser), func(file string) bool { return slices.Contains(was.ByUser, file) })
}

// changedAgain reports whether a file with changes of the agent has another content than at the
// last inspection.
func (t *Tracker) changedAgain(file string, changed changedFiles) bool {
	return t.agentEdits[file] && changed.blobs[file] != "" && changed.blobs[file] != t.agentBlobs[file]
}

// sharedEdits returns the agent's files that changed again while neither it nor Pawl ran: by the
// user, or by a program like an editor's formatter. Nothing tells these changes from the agent's.
func (t *Tracker) sharedEdits(changed changedFiles, e evidence, known map[string]bool) (shared []string) {
	for _, file := range changed.paths {
		if known[file] || !t.changedAgain(file, changed) {
			continue
		}
		t.agentBlobs[file] = changed.blobs[file]
		times := timesOf(t.abs(file))
		times = times[:min(len(times), 2)] // without its creation
		if e.timeline.ChangedWhileIdle(times, e.calls.Wrote(t.abs(file))) {
			shared = append(shared, file)
		}
	}
	return shared
}

// NotByGates says that tracked files which changed while gates ran in the work tree were not
// changed by a gate: the next attribution counts them as the user's. It returns false if they may be
// the agent's, as a process of its own still runs.
func (t *Tracker) NotByGates(files []string) bool {
	t.mu.Lock()
	running := !t.activity.OpenSpan(time.Now()).IsZero()
	t.mu.Unlock()
	if running {
		return false
	}
	for _, file := range files {
		t.notByGates[file] = true
	}
	return len(files) > 0
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

// editsSince returns the known edits since the base. If the base has changed, edits that the
// new base contains are dropped. All others keep their author.
func (t *Tracker) editsSince(ctx context.Context, m memory.ActionContext) (memory.Edits, error) {
	was := memory.Edits{Since: m.Base.Commit}
	if m.Edits != nil {
		was = *m.Edits
	}
	if t.editsBase == m.Base.Commit && was.Since == m.Base.Commit {
		return was, nil
	}
	own := maps.Clone(t.agentEdits)
	for _, file := range was.ByAgent {
		own[file] = true
	}
	if was.Since != m.Base.Commit {
		diff, err := t.Repo.Diff(ctx, was.Since, m.Base.Commit)
		if err != nil {
			return was, fmt.Errorf("compare the commits that the work started from: %w", err)
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
	t.editsBase, t.agentEdits = m.Base.Commit, own
	return was, nil
}

// IsAgentEdit reports whether a change of a tracked file is attributed to the agent.
func (t *Tracker) IsAgentEdit(file string) bool { return t.agentEdits[file] }

// changedSinceCutOff reports whether a file changed between the start of a call in which the last
// owner was killed and the start of this owner. Then its author is unknown.
func (t *Tracker) changedSinceCutOff(file string) bool {
	if t.cutOff.IsZero() {
		return false
	}
	times, _ := t.editTimes(file)
	return slices.ContainsFunc(times, func(at time.Time) bool { return at.After(t.cutOff.From) && at.Before(t.cutOff.Until) })
}
