package runner

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/attribution"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
)

const maxListedFiles = 5 // files that a note names

// attributeChanges attributes the changes since the loop's base, journals the authors and notes
// them. It returns the context with the result. tree is the current tree; "": no snapshot was taken.
func (r *Runner) attributeChanges(ctx context.Context, m memory.ActionContext, tree string) (memory.ActionContext, error) {
	if r.Spec.NoCommit {
		return m, nil
	}
	m, found, err := r.authors.Attribute(ctx, m, tree)
	if err != nil {
		return m, err
	}
	r.noteDoubtful(ctx, "changed", found.DoubtfulEdits)
	r.noteShared(ctx, found.Shared)
	if found.Others.Edits != nil {
		r.recordEdits(ctx, *found.Others.Edits, found.UserEdits)
	}
	r.noteLeftAlone(ctx, found.Others.ByUser, "not made by a tool call", memory.NewFiles{ByUser: found.Others.ByUser})
	r.noteLeftAlone(ctx, found.Others.ByGates, "new while the gates ran", memory.NewFiles{ByGates: found.Others.ByGates})
	r.recordAgentFiles(ctx, found.ByAgent)
	r.noteDoubtful(ctx, "new", found.DoubtfulNew)
	r.noteUnnamedFiles(ctx, found.Unnamed)
	return m, nil
}

// attributeAfterIdle attributes the changes that were made while the loop waited or was paused
// before it performs the action: later changes by the agent alter the times of folders.
func (r *Runner) attributeAfterIdle(do performer) performer {
	return func(ctx context.Context, m memory.ActionContext) (loop.EventPayload, error) {
		if r.wasIdle.Swap(false) {
			var err error
			if m, err = r.attributeChanges(ctx, m, ""); err != nil {
				return nil, err
			}
		}
		return do(ctx, m)
	}
}

// knownFiles returns files that are not attributed by their times.
func (r *Runner) knownFiles() []string {
	known := slices.Concat(r.Spec.Untracked, r.Spec.HiddenFiles, r.OwnFiles())
	if r.Spec.UnfinishedWork != nil {
		known = append(known, r.Spec.UnfinishedWork.Paths...)
	}
	return known
}

// recordEdits journals the authors of edited files, and notes new edits of the user.
func (r *Runner) recordEdits(ctx context.Context, edits memory.Edits, byUser []string) {
	r.enqueue(ctx, func(context.Context) error {
		known := 0
		if e := r.mem.Edits; e != nil && e.Since == edits.Since {
			known = len(e.ByAgent)
		}
		edits.ByAgent = firstN(edits.ByAgent, max(0, attribution.MaxAgentFiles-known))
		n := memory.NewFiles{Edits: &edits}
		r.mem.NewFiles = r.mem.Merge(n)
		if len(byUser) > 0 {
			r.recordNote(memory.Note{Level: loop.Info, Text: "left alone: your edit of " + plan.Few(byUser, maxListedFiles) + ": not committed", NewFiles: n})
			return nil
		}
		return r.appendRecord(memory.TypeNewFiles, n)
	})
}

// recordAgentFiles journals new files of the agent: after a stash, for example, their times
// no longer show the author.
func (r *Runner) recordAgentFiles(ctx context.Context, files []string) {
	if len(files) == 0 {
		return
	}
	r.enqueue(ctx, func(context.Context) error {
		n := memory.NewFiles{ByAgent: firstN(files, max(0, attribution.MaxAgentFiles-len(r.mem.ByAgent)))}
		if len(n.ByAgent) == 0 {
			return nil
		}
		r.mem.NewFiles = r.mem.Merge(n)
		return r.appendRecord(memory.TypeNewFiles, n)
	})
}

// noteLeftAlone journals and notes new files of others than the agent, which are not committed.
func (r *Runner) noteLeftAlone(ctx context.Context, files []string, why string, n memory.NewFiles) {
	if len(files) == 0 {
		return
	}
	note := memory.Note{Level: loop.Info, Text: "left alone: " + plan.Few(files, maxListedFiles) + ", " + why + ": not committed", NewFiles: n}
	r.enqueue(ctx, func(context.Context) error { r.recordNote(note); return nil })
}

// noteUnnamedFiles notes new files that no tool call names before they are committed.
func (r *Runner) noteUnnamedFiles(ctx context.Context, unnamed []string) {
	if len(unnamed) == 0 {
		return
	}
	text := "new during the turn, treated as the agent's work: " + plan.Few(unnamed, maxListedFiles)
	if _, blind := r.Agent.(agent.Blind); blind {
		text += " (Pawl cannot see this agent's tool calls)"
	}
	r.enqueueNote(ctx, loop.Info, text)
}

// noteDoubtful notes these files of unknown author, which are attributed to the agent.
func (r *Runner) noteDoubtful(ctx context.Context, how string, files []string) {
	if len(files) == 0 {
		return
	}
	few := plan.Few(files, maxListedFiles)
	n := memory.Note{Level: loop.Warning, PossibleUserChange: few + ", " + how + " since a turn that was cut off began"}
	n.Text = how + " since the turn that was cut off began, treated as the agent's work, perhaps yours: " + few
	r.enqueue(ctx, func(context.Context) error { r.recordNote(n); return nil })
}

// noteShared notes files of the agent's that somebody else changed too.
func (r *Runner) noteShared(ctx context.Context, files []string) {
	if len(files) == 0 {
		return
	}
	n := memory.Note{Level: loop.Warning, PossibleUserChange: "edits of " + plan.Few(files, maxListedFiles) + " while the agent made no tool call: committed with its own edits of the same files"}
	n.Text = "perhaps yours: " + n.PossibleUserChange
	r.enqueue(ctx, func(context.Context) error { r.recordNote(n); return nil })
}

// saveAttribution journals how far calls are attributed, for the next inspection.
func (r *Runner) saveAttribution() error {
	now, changed := r.authors.EndInspection(r.mem.Attribution)
	if !changed {
		return nil
	}
	r.mem.Attribution = now
	return r.appendRecord(memory.TypeAttribution, now)
}

// isByAgent reports whether the agent changed a protected file.
func (r *Runner) isByAgent(path string, m memory.ActionContext) bool {
	return r.authors.ChangedProtected(m, path, r.Protected.AbsPath(path))
}

// restoreFiles restores files to a tree and records the span, so that the changes are not
// attributed to the user.
func (r *Runner) restoreFiles(ctx context.Context, tree string, keep []string) (git.Restored, error) {
	began := time.Now()
	done, err := r.Repo.Restore(ctx, tree, keep)
	if failed := r.authors.RecordSpan(began); err == nil {
		err = failed
	}
	return done, err
}
