package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/term"
)

// Target is the tree, or the part of it, to restore.
type Target struct {
	git.Checkpoint
	base  string   // a tree: only what changed from it to the checkpoint is brought back; "" for all of it
	task  string   // whose work that is
	paths []string // files and folders to restore, from the root; none = all
}

// Base returns the tree from which to bring back changes, "" to restore the whole tree.
func (t Target) Base() string { return t.base }

// String returns the target as messages name it.
func (t Target) String() string {
	if t.task != "" {
		return t.files() + fmt.Sprintf("the work of task %s (checkpoint %d)", t.task, t.N)
	}
	return t.files() + fmt.Sprintf("checkpoint %d (%s)", t.N, plan.OneLine(t.Subject, 80))
}

// files names the paths in front of the rest, where not all is to be restored.
func (t Target) files() string {
	if len(t.paths) == 0 {
		return ""
	}
	return plan.OneLine(strings.Join(t.paths, ", "), 80) + " of "
}

// isWhole reports whether the target is a whole checkpoint.
func (t Target) isWhole() bool { return t.task == "" && len(t.paths) == 0 }

// subject returns the subject of the checkpoint that is made before the restore.
func (t Target) subject() string {
	if t.task != "" {
		return t.files() + fmt.Sprintf("the work of task %s, by a user", t.task)
	}
	return t.files() + fmt.Sprintf("checkpoint %d, by a user", t.N)
}

// Finder finds the target of a restore among a loop's checkpoints.
type Finder func(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) (Target, error)

// Only limits the target to these paths; none = all.
func (f Finder) Only(paths []string) Finder {
	return func(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) (Target, error) {
		t, err := f(ctx, repo, s)
		t.paths = paths
		return t, err
	}
}

// beforeRestore begins the subject of the checkpoint that each restore makes
// first, the runner's as well as a user's.
const beforeRestore = "before a restore"

// ByNumber finds the checkpoint with a number.
func ByNumber(n int) Finder {
	return func(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) (Target, error) {
		return findNewest(ctx, repo, search{
			loop: s.ID, fits: func(cp git.Checkpoint) (bool, error) { return cp.N == n, nil },
			none: failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists them", "loop %s has no checkpoint %d", s.ID, n),
		})
	}
}

// BeforeLastRestore finds the checkpoint from before the last restore.
func BeforeLastRestore(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) (Target, error) {
	return findNewest(ctx, repo, search{
		loop: s.ID, fits: func(cp git.Checkpoint) (bool, error) { return strings.HasPrefix(cp.Subject, beforeRestore), nil },
		none: failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists what can be restored; pawl restore "+s.ID+" --task ID brings back the undone work of a task", "nothing was restored in loop %s", s.ID),
	})
}

// DifferentVersion finds the newest checkpoint in which one of the paths differs from the work
// tree, which may have lost it.
func DifferentVersion(paths []string) Finder {
	return func(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) (Target, error) {
		now, _, err := repo.Snapshot(ctx)
		if err != nil {
			return Target{}, err
		}
		return findNewest(ctx, repo, search{
			loop: s.ID,
			fits: func(cp git.Checkpoint) (bool, error) {
				changes, err := repo.Diff(ctx, now, cp.Tree)
				return slices.ContainsFunc(changes, func(c git.Change) bool { return c.Status != 'D' && covers(paths, c.Path) }), err
			},
			none: failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists what is kept",
				"no checkpoint of loop %s has another version of %s", s.ID, strings.Join(paths, ", ")),
		})
	}
}

// search describes a search for the newest matching checkpoint; none is the error if nothing
// matches.
type search struct {
	loop string
	fits func(git.Checkpoint) (bool, error)
	none error
}

func findNewest(ctx context.Context, repo *git.Repo, s search) (Target, error) {
	all, err := repo.Checkpoints(ctx, s.loop)
	if err != nil {
		return Target{}, err
	}
	for _, cp := range slices.Backward(all) {
		if fits, err := s.fits(cp); fits || err != nil {
			return Target{Checkpoint: cp}, err
		}
	}
	return Target{}, s.none
}

// workOf returns the task whose undone work the checkpoint with these trailers holds, "" for none.
func (t Target) workOf(trailers []git.Trailer) string {
	if t.task != "" || !strings.HasPrefix(t.Subject, beforeRestore) {
		return t.task
	}
	for _, trailer := range trailers {
		if trailer.Key == runner.TrailerTask {
			return trailer.Value
		}
	}
	return ""
}

// undoneWork returns what a task had changed, from where it began to the checkpoint that was made
// before its work was undone, of the paths that are restored.
func undoneWork(ctx context.Context, repo *git.Repo, id string, t Target, task string) ([]git.Change, error) {
	began, err := findNewest(ctx, repo, search{loop: id, fits: func(cp git.Checkpoint) (bool, error) {
		return cp.N < t.N && cp.Subject == "before task "+task, nil
	}})
	if err != nil || began.N == 0 {
		return nil, err
	}
	work, err := repo.Diff(ctx, began.Tree, t.Tree)
	return slices.DeleteFunc(work, func(c git.Change) bool { return len(t.paths) > 0 && !covers(t.paths, c.Path) }), err
}

// covers reports whether a file is one of the paths, or below one.
func covers(paths []string, file string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return file == p || strings.HasPrefix(file, p+"/") })
}

// TaskWork finds the last half-done work of a task, from where the task started to the
// checkpoint that was made before the work was undone.
func TaskWork(task string) Finder {
	return func(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) (Target, error) {
		all, err := repo.Checkpoints(ctx, s.ID)
		if err != nil {
			return Target{}, err
		}
		label := git.Trailer{Key: runner.TrailerTask, Value: plan.OneLine(task, 100)}
		var undone []git.Checkpoint // with what the task had come to, the newest first
		for _, cp := range slices.Backward(all) {
			trailers, err := repo.Trailers(ctx, cp.Commit)
			if err != nil {
				return Target{}, err
			}
			if !slices.Contains(trailers, label) {
				continue
			}
			if !strings.HasPrefix(cp.Subject, "before task ") {
				undone = append(undone, cp)
				continue
			}
			if i := slices.IndexFunc(undone, func(u git.Checkpoint) bool { return u.Tree != cp.Tree }); i >= 0 {
				return Target{Checkpoint: undone[i], base: cp.Tree, task: task}, nil
			}
			undone = nil
		}
		return Target{}, noUndoneWorkError(s, task)
	}
}

// noUndoneWorkError explains why there is no undone work of a task.
func noUndoneWorkError(s *loopinfo.Loop, task string) error {
	t, known := s.Memory.State.Task(task)
	switch {
	case !known:
		return failure.New(failure.Usage, "pawl status "+s.ID+" lists its tasks", "loop %s has no task %s", s.ID, term.Clean(task))
	case t.Commit != "":
		return failure.New(failure.Usage, "git show "+t.Commit[:min(12, len(t.Commit))]+" shows it", "task %s is done; its work is in a commit", term.Clean(task))
	}
	return failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists what is kept", "nothing of task %s was undone", term.Clean(task))
}
