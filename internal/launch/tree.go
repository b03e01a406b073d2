package launch

import (
	"context"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// Repo opens the repository that a loop works in: the user's, a worktree of the
// loop's, or Pawl's own where there is no git.
func Repo(ctx context.Context, l *store.Loop) (*git.Repo, error) {
	kept, err := l.Spec()
	if err != nil {
		return nil, err
	}
	spec, err := record.DecodeSpec(kept)
	if err != nil {
		return nil, err
	}
	switch {
	case spec.Shadow:
		return git.Shadow(ctx, kept.Root, filepath.Join(l.Dir, "shadow.git"))
	case spec.Policy.Attended:
		return git.Reopen(ctx, kept.Root)
	}
	return git.Open(ctx, spec.WorkTree(l, kept.Root))
}

// folder is a work tree without a git directory of its own, for locking.
type folder string

func (f folder) Root() string   { return string(f) }
func (f folder) GitDir() string { return string(f) }

// workTree is what a loop acts on, by which others are kept away; repo is nil
// where there is no git. A repository of Pawl's own is the loop's: it is the
// folder that two of them would meet in.
func workTree(root string, repo *git.Repo) store.WorkTree {
	if repo == nil {
		return folder(root)
	}
	return repo
}
