package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/view"
)

type restoreCmd struct {
	loopWord
	Checkpoint int      `arg:"" optional:"" name:"n" help:"number of the checkpoint"`
	Task       string   `placeholder:"ID" help:"restore only the undone work of this task"`
	File       []string `sep:"none" placeholder:"PATH" help:"restore only this file or folder; repeatable"`
	Yes        bool     `short:"y" help:"do not ask for confirmation"`
}

// Run restores a checkpoint, or the work of a task.
func (c *restoreCmd) Run(ctx context.Context, a *app) error {
	numbered, ofTask := c.Checkpoint != 0, c.Task != ""
	if numbered && ofTask || !numbered && !ofTask && len(c.File) == 0 {
		hint := "pawl checkpoints " + c.Loop + " lists the checkpoints"
		if _, err := strconv.Atoi(c.Loop); err == nil {
			hint = "the loop comes first; . is the newest here: pawl restore . " + c.Loop
		}
		return failure.New(failure.Usage, hint, "say the number of a checkpoint, --task ID, or --file PATH")
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	return a.restore(ctx, s, c.Yes, func(ctx context.Context, repo *git.Repo, s *view.Loop) (target goal, err error) {
		paths, err := a.pathsOf(s, c.File)
		if err != nil {
			return goal{}, err
		}
		switch {
		case ofTask:
			target, err = taskWork(ctx, repo, s, c.Task)
		case numbered:
			target, err = checkpoint(ctx, repo, s, c.Checkpoint)
		default:
			target, err = otherVersion(ctx, repo, s, paths)
		}
		target.paths = paths
		return target, err
	})
}

type undoCmd struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; default: the newest here with a restore"`
	Yes  bool   `short:"y" help:"do not ask for confirmation"`
}

// Run goes back to where the work tree was before the last restore.
func (c *undoCmd) Run(ctx context.Context, a *app) error {
	restored := func(s *view.Loop) bool {
		repo, err := s.Origin(ctx)
		if err == nil {
			_, err = lastRestore(ctx, repo, s)
		}
		return err == nil
	}
	s, err := a.findNewest(cmp.Or(c.Loop, "."), restored)
	if err != nil {
		return err
	}
	return a.restore(ctx, s, c.Yes, lastRestore)
}

// goal is what a restore is to bring the work tree to.
type goal struct {
	git.Checkpoint
	base  string   // a tree: only what changed from it to the checkpoint is brought back; "" for all of it
	task  string   // whose work that is
	paths []string // files and folders to restore, from the root; none = all
}

// String names it in messages.
func (g goal) String() string {
	if g.task != "" {
		return g.files() + fmt.Sprintf("the work of task %s (checkpoint %d)", g.task, g.N)
	}
	return g.files() + fmt.Sprintf("checkpoint %d (%s)", g.N, plan.OneLine(g.Subject, 80))
}

// files names the paths in front of the rest, where not all is to be restored.
func (g goal) files() string {
	if len(g.paths) == 0 {
		return ""
	}
	return plan.OneLine(strings.Join(g.paths, ", "), 80) + " of "
}

// finder finds what is meant.
type finder func(ctx context.Context, repo *git.Repo, s *view.Loop) (goal, error)

// onItsBranch refuses to write the loop's files over another branch of the user's. A
// loop that committed nothing has no branch any more.
func onItsBranch(s *view.Loop, ctx context.Context, repo *git.Repo) error {
	if s.Spec.UsesWorktree || s.Spec.NoCommit || s.Spec.Shadow {
		return nil
	}
	there, err := repo.HasBranch(ctx, s.Spec.Branch)
	if err != nil || !there {
		return err
	}
	on, err := repo.Branch(ctx)
	if err != nil {
		return fmt.Errorf("read the current branch: %w", err)
	}
	if on != s.Spec.Branch {
		return failure.New(failure.Usage, "git switch "+s.Spec.Branch+", then restore again",
			"the work tree is on %s, not on the branch of loop %s, %s", cmp.Or(on, "no branch"), s.ID, s.Spec.Branch)
	}
	return nil
}

// restore brings the loop's work tree to the wanted goal, after a checkpoint of what
// it is now. While it works it owns the loop and the work tree, so that nobody else
// acts on them.
func (a *app) restore(ctx context.Context, s *view.Loop, yes bool, wanted finder) (err error) {
	repo, undo, err := s.Worktree(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil { // nothing was restored there
			err = errors.Join(err, undo(context.WithoutCancel(ctx)))
		}
	}()
	if err := onItsBranch(s, ctx, repo); err != nil {
		return err
	}
	target, err := wanted(ctx, repo, s)
	if err != nil {
		return err
	}
	owner, release, err := a.own(ctx, s, repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	m, err := launch.LoadResumable(s.Loop) // another may have driven it until now
	if err != nil {
		return err
	}
	back, err := wentBack(ctx, repo, target, m.State.Tasks)
	if err != nil {
		return err
	}
	before := m.State.Tasks
	m.Apply(back)
	tree, n, err := a.proposed(ctx, repo, s, target)
	if err != nil {
		return err
	}
	a.tellReopened(s, before, m.State)
	if err := a.agrees(yes || n == 0, s); err != nil {
		return err
	}
	was, err := repo.Checkpoint(ctx, s.ID, beforeRestore+" of "+target.subject(), runner.DoneTrailers(s.ID, before)...)
	if err != nil {
		return fmt.Errorf("keep the work tree as it is: %w", err)
	}
	// From here a Ctrl-C waits: half a restore helps nobody. A second one ends it.
	done, err := repo.Restore(context.WithoutCancel(ctx), tree, nil)
	if err != nil {
		return failure.New(failure.Error, "run it again to finish, or pawl undo "+s.ID, "restore checkpoint %d: %w", target.N, err)
	}
	back.At = time.Now()
	if _, err := owner.Append(journal.Entry{Type: memory.TypeEvent, Data: back}); err != nil {
		return fmt.Errorf("journal the restore: %w", err)
	}
	a.tellRestored(s, target, was, done)
	return nil
}

// subject names the goal in the checkpoint that is made before.
func (g goal) subject() string {
	if g.task != "" {
		return g.files() + fmt.Sprintf("the work of task %s, by a user", g.task)
	}
	return g.files() + fmt.Sprintf("checkpoint %d, by a user", g.N)
}

// proposed is the tree that the work tree is to become; it lists the n files that
// would change.
func (a *app) proposed(ctx context.Context, repo *git.Repo, s *view.Loop, target goal) (tree string, n int, err error) {
	now, _, err := repo.Snapshot(ctx)
	if err != nil {
		return "", 0, fmt.Errorf("look at the work tree: %w", err)
	}
	tree, clashes := target.Tree, []string(nil)
	if target.base != "" {
		if tree, clashes, err = repo.Transfer(ctx, now, target.base, target.Tree); err != nil {
			return "", 0, err
		}
	}
	if len(target.paths) > 0 {
		if tree, err = repo.Overlay(ctx, now, tree, target.paths); err != nil {
			return "", 0, err
		}
		clashes = slices.DeleteFunc(clashes, func(path string) bool { return !covers(target.paths, path) })
	}
	changes, err := repo.Diff(ctx, now, tree)
	if err != nil {
		return "", 0, err
	}
	if len(target.paths) > 0 && len(changes) == 0 && len(clashes) == 0 {
		return "", 0, failure.New(failure.Usage, fmt.Sprintf("pawl checkpoints diff %s %d shows what differs from it", s.ID, target.N),
			"nothing to restore: %s is what the work tree has", target)
	}
	a.printf("%s: %s\n", target, figure.Count(len(changes), "file")+" would change")
	const most = 30
	for _, c := range changes[:min(len(changes), most)] {
		verb := map[byte]string{'A': "add", 'D': "delete"}[c.Status]
		a.printf("  %-6s  %s\n", cmp.Or(verb, "change"), plan.OneLine(c.Path, 0))
	}
	if more := len(changes) - most; more > 0 {
		a.printf("  and %d more: git diff --stat %.9s %.9s\n", more, now, tree)
	}
	for _, path := range clashes {
		a.printf("  stays   %s: changed since in the same place; git show %.9s:%s shows the task's\n", plan.OneLine(path, 0), target.Commit, path)
	}
	return tree, len(changes), nil
}

// agrees asks the user for the restore that was just listed.
func (a *app) agrees(yes bool, s *view.Loop) error {
	if yes {
		return nil
	}
	agreed, err := a.confirm(confirmation{
		text: "restore " + s.ID + " so?", instead: "look at the list, then run it again with --yes",
		nobody: "nobody is at the terminal to say whether that may be done; nothing was changed",
	})
	if err == nil && !agreed {
		a.printf("nothing was changed\n")
		err = exitCode(failure.Error)
	}
	return err
}

// wentBack is what the restore of a checkpoint means for the loop's tasks.
func wentBack(ctx context.Context, repo *git.Repo, target goal, tasks []loop.Task) (loop.Event, error) {
	e := loop.CheckpointRestored{Summary: "you restored " + target.String()}
	if target.task != "" || len(target.paths) > 0 { // no task is done or undone by it
		e.DoneTasks, _ = runner.DoneTasks(runner.DoneTrailers("", tasks), tasks)
		return loop.Event{Payload: e}, nil
	}
	trailers, err := repo.Trailers(ctx, target.Commit)
	if err != nil {
		return loop.Event{}, err
	}
	ids, ok := runner.DoneTasks(trailers, tasks)
	if !ok { // it was made before checkpoints said it: the tasks stay as they are
		ids, _ = runner.DoneTasks(runner.DoneTrailers("", tasks), tasks)
	}
	e.DoneTasks = ids
	return loop.Event{Payload: e}, nil
}

// tellReopened names the tasks whose work the restore took away, or gave back.
func (a *app) tellReopened(s *view.Loop, before []loop.Task, now loop.State) {
	for _, was := range before {
		t, there := now.Task(was.ID)
		switch {
		case !there || t.Status == was.Status:
		case t.Status == loop.Done:
			a.printf("  task %s would be done again\n", called(t))
		default:
			a.printf("  task %s would be open again: pawl resume %s does it anew\n", called(t), s.ID)
		}
	}
}

// called names a task for people: its id, and its title where that says more.
func called(t loop.Task) string {
	if t.Title == "" || t.Title == t.ID {
		return t.ID
	}
	return fmt.Sprintf("%s (%s)", t.ID, plan.OneLine(t.Title, 60))
}

func (a *app) tellRestored(s *view.Loop, target goal, was git.Checkpoint, done git.Restored) {
	changed := "no file had to change"
	if n := len(done.Changed); n > 0 {
		changed = figure.Count(n, "file") + " changed"
	}
	a.printf("restored %s: %s\n", target, changed)
	for _, left := range done.Left {
		a.printf("  left as it is: %s (%s)\n", plan.OneLine(left.Path, 0), left.Reason)
	}
	a.printf("the tree as it was is checkpoint %d; pawl undo %s goes back to it\n", was.N, s.ID)
}

// own takes the loop and its work tree, or says who has them.
func (a *app) own(ctx context.Context, s *view.Loop, repo *git.Repo) (*store.Owner, func() error, error) {
	unlock, err := a.store.LockWorktree(ctx, repo, s.ID)
	if err != nil {
		return nil, nil, busy(err)
	}
	owner, err := ownLoop(ctx, s)
	if err != nil {
		return nil, nil, errors.Join(busy(err), unlock())
	}
	return owner, func() error { return errors.Join(owner.Close(), unlock()) }, nil
}

// ownLoop makes us the loop's owner. A session's hooks stay that of theirs: a restore
// between two of them is as good as one of them.
func ownLoop(ctx context.Context, s *view.Loop) (*store.Owner, error) {
	if s.InSession() {
		return s.Rejoin(ctx, s.Driver.Epoch)
	}
	return s.Own(ctx)
}

// busy says of a work tree that is held what to do about it.
func busy(err error) error {
	held, ok := errors.AsType[*store.HeldError](err)
	if !ok {
		return err
	}
	hint := "wait for it"
	if held.Loop != "" {
		hint = strings.ReplaceAll("pawl stop LOOP first; its work is kept", "LOOP", held.Loop)
	}
	return failure.New(failure.Usage, hint, "%w", held)
}
