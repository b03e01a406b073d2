package launch

import (
	"context"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// Repo opens the repository that a loop works in: the user's, a worktree of the loop's,
// or Pawl's own if there is no git.
func Repo(ctx context.Context, l *store.Loop) (*git.Repo, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	switch {
	case spec.Shadow:
		return git.Shadow(ctx, spec.Root, filepath.Join(l.Dir, "shadow.git"))
	case spec.Policy.InSession:
		return git.Reopen(ctx, spec.Root)
	}
	return git.Open(ctx, spec.WorkTree(l))
}

// Spec reads a loop's spec with the goal as the user last wrote it.
func Spec(l *store.Loop) (record.Spec, error) {
	spec, err := record.ReadSpec(l)
	if err == nil {
		spec.Prompt = statefile.CurrentGoal(spec.Root, l.Dir, spec)
	}
	return spec, err
}

// plainFolder is a work tree without a git folder, for locking.
type plainFolder string

func (f plainFolder) Root() string   { return string(f) }
func (f plainFolder) GitDir() string { return string(f) }

// lockTarget returns the work tree to lock. Without git, or with Pawl's own repository,
// that is the folder.
func lockTarget(root string, repo *git.Repo) store.WorkTree {
	if repo == nil {
		return plainFolder(root)
	}
	return repo
}

// relativeTo returns a path relative to a folder, with slashes and symlinks resolved. inside is false
// for a path that is not in the folder.
func relativeTo(folder, path string) (rel string, inside bool) {
	rel, err := filepath.Rel(record.ResolvePath(folder), record.ResolvePath(path))
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}
