package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// Before is what loops before this one left in the work tree, or do there. Loops
// with a worktree of their own are elsewhere.
type Before struct {
	CutOff     string   // loop that has not ended and that nobody drives, "" for none
	Driven     string   // loop that a process drives now, "" for none
	Attended   string   // loop that lives in a user's session and has not ended, "" for none
	Session    string   // the client's id of that session, "" if not known yet
	Closed     bool     // that session is closed
	Loop       string   // the last one that ended after it had worked, "" for none
	Unfinished bool     // it ended with something left to do
	Begun      Begun    // the task that it was at
	Paths      []string // what its last checkpoint holds and its last commit does not: its work, not the user's
	Tracked    []string // those of them that git tracks and that are as it left them
}

// before looks for other loops of the work tree, the newest first.
func before(ctx context.Context, st *store.Store, p *Prepared) (Before, error) {
	listed, err := store.List(st, record.ReadSummary)
	if err != nil {
		return Before{}, fmt.Errorf("look at earlier loops: %w", err)
	}
	listed = slices.DeleteFunc(listed, func(l store.ListEntry[record.Summary]) bool {
		return l.Summary.Root != p.root || l.Loop.ID == p.loop
	})
	slices.SortFunc(listed, func(x, y store.ListEntry[record.Summary]) int {
		return y.Summary.CreatedAt.Compare(x.Summary.CreatedAt)
	})
	var b Before
	for _, l := range listed {
		ended := l.Summary.Outcome != ""
		if ended && (b.Loop != "" || l.Summary.Turns == 0) {
			continue
		}
		spec, err := record.ReadSpec(l.Loop)
		if err != nil || spec.OwnWorktree {
			continue // a damaged one can vouch for nothing
		}
		if !ended {
			b.atWork(l)
			continue
		}
		b.Loop, b.Unfinished = l.Loop.ID, l.Summary.Tasks.Open+l.Summary.Tasks.Skipped > 0
		if !b.Unfinished || p.Repo == nil {
			continue // all of its work is committed, or none is
		}
		// Where that cannot be told (a commit was pruned since) all is the user's,
		// as it would be without that loop.
		if err := b.left(ctx, p, l.Loop, spec); err != nil && ctx.Err() != nil {
			return Before{}, fmt.Errorf("look at what loop %s left: %w", l.Loop.ID, err)
		}
	}
	return b, nil
}

// atWork notes a loop that has not ended.
func (b *Before) atWork(l store.ListEntry[record.Summary]) {
	_, alive, err := l.Loop.Holder()
	switch {
	case l.Summary.Attended && l.Summary.StartedAt.IsZero(): // it has not got the work tree
	case l.Summary.Attended:
		b.Attended, b.Session, b.Closed = l.Loop.ID, l.Summary.Session, l.Summary.Closed
	case err != nil:
	case alive:
		b.Driven = l.Loop.ID
	case b.CutOff == "":
		b.CutOff = l.Loop.ID
	}
}

// left finds the paths in which a loop's last checkpoint differs from its last commit,
// but for those that were there before the loop or are the user's, and the task that it
// was at.
func (b *Before) left(ctx context.Context, p *Prepared, l *store.Loop, spec record.Spec) error {
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
		if !slices.Contains(spec.Untracked, c.Path) && !slices.Contains(m.Untouched(), c.Path) {
			b.Paths = append(b.Paths, c.Path)
		}
	}
	b.Begun = begun(spec, m)
	dirty := slices.DeleteFunc(slices.Clone(p.Status.Dirty), func(path string) bool {
		return path == spec.Plan || !slices.Contains(b.Paths, path)
	})
	b.Tracked, err = p.Repo.Unchanged(ctx, tree, dirty)
	return err
}

// foreign are the files that the loop must not commit: the user's own that git
// does not track, beside the notes that there already are in the order. A worktree
// of the loop's own begins without any but the plan.
func (p *Prepared) foreign() []string {
	notes := p.Spec.Untracked
	var work []string
	switch {
	case p.Spec.LeftWork != nil:
		work = p.Spec.LeftWork.Paths
	case p.Spec.NoCommit:
		work = p.leftPaths()
	}
	return append(slices.Clip(notes), slices.DeleteFunc(slices.Clone(p.Status.Untracked), func(path string) bool {
		return slices.Contains(notes, path) || p.Spec.OwnWorktree && path != p.Spec.Plan || slices.Contains(work, path)
	})...)
}

// notes are the files that another tool keeps about the plan, where git does not
// track them: so far, or ever.
func (p *Prepared) notes(ctx context.Context) ([]string, error) {
	if p.Spec.Format != statefile.PlanLoopName || p.Status.Head == "" {
		return nil, nil
	}
	files := statefile.PlanLoopFiles(p.Spec.Plan)
	tracked, err := p.Repo.Entries(ctx, p.Status.Head, files...)
	if err != nil {
		return nil, fmt.Errorf("look for the notes about the plan: %w", err)
	}
	return slices.DeleteFunc(files, func(file string) bool { _, ok := tracked[file]; return ok }), nil
}

// refuseOver says which loop has the work tree, and has not ended.
func (p *Prepared) refuseOver() error {
	if p.Spec.OwnWorktree {
		return nil
	}
	if id := p.Before.Attended; id != "" {
		return failure.New(failure.Usage, p.Before.sessionHint()+"; or --worktree to leave it alone",
			"loop %s %s", id, p.Before.sessionWords())
	}
	if id := p.Before.CutOff; id != "" {
		return failure.New(failure.Usage, fmt.Sprintf("pawl resume %s goes on with it; pawl stop %[1]s ends it; or --worktree to leave it alone", id),
			"loop %s was cut off here", id)
	}
	return nil
}

// refuseDirty says that the user's own changes would be mixed with the loop's.
func (p *Prepared) refuseDirty() error {
	dirty := p.dirty()
	if p.Spec.OwnWorktree || p.Settings.AllowDirty || len(dirty) == 0 {
		return nil
	}
	hint := "commit or stash them; or --worktree to leave them alone; or --allow-dirty to begin from them (kept, undoable)"
	if p.Before.Unfinished && slices.ContainsFunc(dirty, func(path string) bool { return slices.Contains(p.Before.Paths, path) }) {
		hint = fmt.Sprintf("pawl resume %s goes on with what it left; or %s", p.Before.Loop, hint)
	}
	return failure.New(failure.Usage, hint, "the work tree has changes that are not committed (%s)", some(dirty))
}

// dirty are the user's own changes: what an earlier loop left of a task that this one
// goes on with is none.
func (p *Prepared) dirty() []string {
	return slices.DeleteFunc(slices.Clone(p.Status.Dirty), func(path string) bool {
		return p.Spec.LeftWork != nil && slices.Contains(p.Spec.LeftWork.Paths, path)
	})
}

// sessionWords says where the loop of a session stands.
func (b Before) sessionWords() string {
	if b.Closed {
		return "rests here: its session is closed"
	}
	return "is at work here, " + inSession(b.Session)
}

func (b Before) sessionHint() string {
	if b.Closed {
		return fmt.Sprintf("claude --resume %s goes on with it; pawl stop %s ends it", b.Session, b.Attended)
	}
	return fmt.Sprintf("pawl stop %s ends it", b.Attended)
}

// inSession names a session for people.
func inSession(id string) string {
	if id == "" {
		return "in a session"
	}
	return "in session " + id[:min(8, len(id))]
}

// held tells who acts on the work tree, before anything is made. A worktree of
// the loop's own is nobody's yet.
func (p *Prepared) held(ctx context.Context, st *store.Store) error {
	if p.Spec.OwnWorktree {
		return nil
	}
	unlock, err := st.LockWorktree(ctx, workTree(p.root, p.Repo), "about to begin")
	if err != nil {
		return err
	}
	return errors.Join(unlock())
}
