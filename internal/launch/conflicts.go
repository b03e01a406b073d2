package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
	"github.com/pawl-dev/pawl/internal/work"
)

// Conflicts are the other loops in the work tree, and what they left there. Loops with
// their own worktree do not count.
type Conflicts struct {
	Orphaned         string   // loop that has not ended and has no process; "": none
	Running          string   // loop that a process drives now; "": none
	InSession        string   // loop in a user's session that has not ended; "": none
	Session          string   // the client's id of that session; "": not known yet
	Closed           bool     // that session is closed
	Damaged          []string // loops without a driver whose journals are damaged: their state is unknown
	Loop             string   // the last loop that ended after at least one turn; "": none
	Unfinished       bool     // it left tasks undone
	LastTask         LastTask // the task that it was working on
	Paths            []string // files that differ between its last checkpoint and its last commit: its work, not the user's
	UnchangedTracked []string // those of them that git tracks and that are unchanged since
	ChangedLater     []string // files that git tracks and that the user changed since it ended: it is not resumed over them
	Resume           string   // the command that resumes it
}

// findConflicts looks for other loops of the work tree, newest first.
func findConflicts(ctx context.Context, p *Prepared) (Conflicts, error) {
	listed, err := record.List(store.Open(p.Home))
	if err != nil {
		return Conflicts{}, fmt.Errorf("read earlier loops: %w", err)
	}
	listed = slices.DeleteFunc(listed, func(l record.Entry) bool {
		return l.Summary.Root != p.root || l.Loop.ID == p.loop
	})
	var b Conflicts
	for _, l := range listed {
		ended := l.Summary.Outcome != ""
		if ended && (b.Loop != "" || l.Summary.Turns == 0) {
			continue
		}
		spec, err := record.ReadSpec(l.Loop)
		if err != nil || spec.UsesWorktree {
			continue // a damaged loop says nothing
		}
		if !ended {
			b.addActive(l)
			continue
		}
		b.Loop, b.Unfinished = l.Loop.ID, l.Summary.Tasks.Open+l.Summary.Tasks.Skipped > 0
		if !b.Unfinished || p.Repo == nil {
			continue // all of its work is committed, or none is
		}
		// If this fails (a commit was pruned since), all changes count as the user's.
		if err := b.readLeftFiles(ctx, p, l.Loop, spec); err != nil && ctx.Err() != nil {
			return Conflicts{}, fmt.Errorf("read files left by loop %s: %w", l.Loop.ID, err)
		}
	}
	return b, nil
}

// addActive adds a loop that has not ended.
func (b *Conflicts) addActive(l record.Entry) {
	_, alive, err := l.Loop.Holder()
	l.Summary.MarkClosedIfGone(proc.Alive)
	switch {
	case !alive && l.Err != nil && err == nil:
		b.Damaged = append(b.Damaged, l.Loop.ID)
	case l.Summary.InSession && l.Summary.StartedAt.IsZero(): // it has no lock of the work tree yet
	case l.Summary.InSession:
		b.InSession, b.Session, b.Closed = l.Loop.ID, l.Summary.Session, l.Summary.Closed
	case err != nil:
	case alive:
		b.Running = l.Loop.ID
	case b.Orphaned == "":
		b.Orphaned = l.Loop.ID
	}
}

// readLeftFiles sets the paths in which a loop's last checkpoint differs from its last
// commit, except those that were there before or are the user's, and the task it was
// working on.
func (b *Conflicts) readLeftFiles(ctx context.Context, p *Prepared, l *store.Loop, spec record.Spec) error {
	points, err := p.Repo.Checkpoints(ctx, l.ID)
	if err != nil || len(points) == 0 {
		return err
	}
	m, _, err := record.Load(l)
	if err != nil {
		return err
	}
	tree := points[len(points)-1].Tree
	changes, err := p.Repo.Diff(ctx, cmp.Or(m.Base.Commit, spec.StartCommit), tree)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if !slices.Contains(spec.Untracked, c.Path) && !slices.Contains(m.ExcludedFiles(), c.Path) {
			b.Paths = append(b.Paths, c.Path)
		}
	}
	b.LastTask, b.Resume = lastTask(spec.Request, m), m.State.ResumeCommand(l.ID)
	if b.ChangedLater, _, err = changedSinceEnd(ctx, p.Repo, l, spec); err != nil {
		return err
	}
	dirty := slices.DeleteFunc(slices.Clone(p.Status.Dirty), func(path string) bool {
		return planfile.IsPlanFile(spec.Plan, path) || !slices.Contains(b.Paths, path)
	})
	b.UnchangedTracked, err = p.Repo.Unchanged(ctx, tree, dirty)
	return err
}

// untracked returns the files that the loop must not commit: the user's untracked files,
// and notes that the spec lists already. A worktree of the loop's begins with none but
// the plan.
func (p *Prepared) untracked() []string {
	notes := p.Spec.Untracked
	var work []string
	switch {
	case p.Spec.UnfinishedWork != nil:
		work = p.Spec.UnfinishedWork.Paths
	case p.Spec.NoCommit:
		work = p.leftovers()
	}
	return append(slices.Clip(notes), slices.DeleteFunc(slices.Clone(p.Status.Untracked), func(path string) bool {
		return slices.Contains(notes, path) || p.Spec.UsesWorktree && !planfile.IsPlanFile(p.Spec.Plan, path) || slices.Contains(work, path)
	})...)
}

// UntrackedWork returns the user's untracked files that look like work: programs, scripts
// and tests. The agent may change them, and no commit of the loop holds them.
func (p *Prepared) UntrackedWork() []string {
	if p.Spec.NoCommit || p.Spec.UsesWorktree {
		return nil
	}
	agent, _ := relativeTo(p.root, p.Spec.Agent.Command)
	left := p.IgnoredLeftovers() // warned of separately
	var files []string
	for _, file := range p.Spec.Untracked {
		isWork := work.IsSource(file) || work.IsScript(file) || verify.IsTest(p.Spec.Tests, file)
		if isWork && file != agent && !planfile.IsPlanFile(p.Spec.Plan, file) && !slices.Contains(left, file) {
			files = append(files, file)
		}
	}
	return files
}

// planNotes returns the untracked files in which another tool keeps notes about the plan.
func (p *Prepared) planNotes(ctx context.Context) ([]string, error) {
	if p.Spec.CompatFormat != statefile.PlanLoopName || p.Status.Head == "" {
		return nil, nil
	}
	files := statefile.PlanLoopFiles(p.Spec.Plan)
	tracked, err := p.Repo.Entries(ctx, p.Status.Head, files...)
	if err != nil {
		return nil, fmt.Errorf("find notes about the plan: %w", err)
	}
	return slices.DeleteFunc(files, func(file string) bool { _, ok := tracked[file]; return ok }), nil
}

// refuseActive refuses to begin if a loop that has not ended uses the work tree.
func (p *Prepared) refuseActive() error {
	if p.Spec.UsesWorktree {
		return nil
	}
	if id := p.Conflicts.InSession; id != "" {
		return failure.New(failure.Usage, p.Conflicts.sessionHint()+"; or --worktree to run beside it",
			"loop %s %s", id, p.Conflicts.sessionText())
	}
	if id := p.Conflicts.Orphaned; id != "" {
		return failure.New(failure.Usage, fmt.Sprintf("pawl resume %s continues it; pawl stop %[1]s ends it; or --worktree to run beside it", id),
			"loop %s was cut off here", id)
	}
	return nil
}

// refuseDirty refuses to begin if the user's own changes would be mixed with the loop's.
func (p *Prepared) refuseDirty() error {
	dirty := p.dirty()
	if p.Spec.UsesWorktree || p.Settings.AllowDirty || len(dirty) == 0 {
		return nil
	}
	hint := "commit or stash them"
	if p.Conflicts.Unfinished && slices.ContainsFunc(dirty, func(path string) bool { return slices.Contains(p.Conflicts.Paths, path) }) {
		hint = p.Conflicts.resumeHint(hint)
	}
	hint += "; or --worktree to run without them; or --allow-dirty to start from them (committed first, under your name)"
	return failure.New(failure.Usage, hint, "the work tree has changes that are not committed (%s)", plan.Few(dirty, 5))
}

// resumeHint says how to continue with what the last loop left, and what else to do.
func (b Conflicts) resumeHint(otherwise string) string {
	resume := cmp.Or(b.Resume, "pawl resume "+b.Loop) + " continues with the rest"
	if len(b.ChangedLater) == 0 {
		return resume + "; or " + otherwise
	}
	return fmt.Sprintf("commit or stash %s, changed since loop %s ended; then %s", plan.Few(b.ChangedLater, 5), b.Loop, resume)
}

// dirty returns the user's uncommitted changes that keep a loop from beginning: not what
// an earlier loop left of a task that this loop continues, nor an edit of the plan alone.
func (p *Prepared) dirty() []string {
	if p.onlyPlanEdited() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Status.Dirty), func(path string) bool {
		return p.Spec.UnfinishedWork != nil && slices.Contains(p.Spec.UnfinishedWork.Paths, path)
	})
}

// onlyPlanEdited reports whether the user changed the plan and nothing else. An earlier
// loop that is unfinished may have changed it as well.
func (p *Prepared) onlyPlanEdited() bool {
	return onlyPlan(p.Spec.Plan, p.Status.Dirty) && !slices.ContainsFunc(p.Status.Dirty, func(path string) bool {
		return p.Conflicts.Unfinished && slices.Contains(p.Conflicts.Paths, path)
	})
}

// onlyPlan reports whether there are changed files, all of them the plan's.
func onlyPlan(plan string, dirty []string) bool {
	return len(dirty) > 0 && !slices.ContainsFunc(dirty, func(path string) bool { return !planfile.IsPlanFile(plan, path) })
}

// CommittedFirst returns the user's changed files that are committed as theirs before the
// loop begins.
func (p *Prepared) CommittedFirst() []string {
	if p.Spec.UsesWorktree || p.Spec.NoCommit || !p.Settings.AllowDirty && !p.onlyPlanEdited() {
		return nil
	}
	return p.Status.Dirty
}

// sessionText says where the loop in a session is.
func (b Conflicts) sessionText() string {
	if b.Closed {
		return "waits here: its session is closed"
	}
	return "runs here, " + sessionLabel(b.Session)
}

// sessionHint says how to continue or end the loop in a session.
func (b Conflicts) sessionHint() string {
	if b.Closed {
		return fmt.Sprintf("claude --resume %s continues it; pawl stop %s ends it", b.Session, b.InSession)
	}
	return fmt.Sprintf("pawl stop %s ends it", b.InSession)
}

// sessionLabel names a session in a message.
func sessionLabel(id string) string {
	if id == "" {
		return "in a session"
	}
	return "in session " + id[:min(8, len(id))]
}

// checkWorktreeLock returns a *store.HeldError if another loop uses the work tree, before
// anything is created.
func (p *Prepared) checkWorktreeLock(ctx context.Context, st *store.Store) error {
	if p.Spec.UsesWorktree {
		return nil
	}
	unlock, err := st.LockWorktree(ctx, lockTarget(p.root, p.Repo), "about to begin")
	if held, ok := errors.AsType[*store.HeldError](err); ok && held.Loop != "" {
		return failure.New(failure.Usage, fmt.Sprintf("pawl status %s shows it; pawl stop %[1]s ends it; --worktree runs this loop beside it", held.Loop), "%w", held)
	}
	if err != nil {
		return err
	}
	return errors.Join(unlock())
}
