package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
)

// LostRepository returns why a loop can never continue, or "": its folder was removed, has no
// repository, or has one without the commit that the loop began at.
func LostRepository(ctx context.Context, spec record.Spec) string {
	if _, err := os.Stat(spec.Root); errors.Is(err, fs.ErrNotExist) {
		return "the folder " + spec.Root + " is gone"
	}
	repo, err := git.Reopen(ctx, spec.Root)
	if _, none := errors.AsType[*git.NoRepoError](err); none {
		return spec.Root + " is in no git repository any more"
	}
	if err != nil || spec.StartCommit == "" {
		return ""
	}
	if _, err := repo.Resolve(ctx, spec.StartCommit+"^{commit}"); errors.Is(err, git.ErrNoRevision) {
		return "the repository in " + spec.Root + " is another one: it has no commit " + spec.StartCommit[:min(len(spec.StartCommit), 7)]
	}
	return ""
}

// openOwn opens the repository of a loop to resume, unless it is lost.
func openOwn(ctx context.Context, spec record.Spec, ended bool) (*git.Repo, error) {
	lost := LostRepository(ctx, spec)
	if lost == "" {
		return git.Open(ctx, spec.Root)
	}
	hint := "bring the repository back; or  pawl stop " + spec.ID + "  ends the loop"
	if ended {
		hint = "bring the repository back; or  pawl run  starts a new loop"
	}
	return nil, failure.New(failure.Usage, hint, "%s", lost)
}

// EndLost ends a loop with a lost repository, which nobody drives. It changes only the loop's journal.
func EndLost(ctx context.Context, l *store.Loop, env environment.Environment, why string) (loop.State, error) {
	return withoutTree(ctx, l, env, func(r *runner.Runner) (loop.State, error) { return r.EndWithoutTree(why) })
}
