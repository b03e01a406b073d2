package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

const headsRef = "refs/heads/"

// branchRef is the full name of a branch; names that git does not allow are
// errors a person can act on.
func (r *Repo) branchRef(ctx context.Context, name string) (string, error) {
	bad := failure.New(failure.Usage, "letters, digits, - and / are fine", "%q cannot be the name of a branch", name)
	if name == "" || name == "HEAD" || strings.HasPrefix(name, "-") || strings.Contains(name, "\x00") {
		return "", bad
	}
	_, err := r.git(ctx, "check-ref-format", headsRef+name)
	if exited(err, 1) {
		return "", bad
	}
	return headsRef + name, err
}

// Branch is the short name of the branch that HEAD is on, "" when detached.
func (r *Repo) Branch(ctx context.Context) (string, error) {
	ref, err := r.git(ctx, "symbolic-ref", "--quiet", "HEAD")
	if exited(err, 1) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	return strings.TrimPrefix(ref, headsRef), nil
}

// DefaultBranch is the branch that the project's work is merged into: what
// origin's HEAD says, else init.defaultBranch, main or master where there is
// such a branch, else "".
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) {
	const origin = "refs/remotes/origin/"
	ref, err := r.git(ctx, "symbolic-ref", "--quiet", origin+"HEAD")
	if err == nil {
		return strings.TrimPrefix(ref, origin), nil
	}
	if !exited(err, 1) {
		return "", fmt.Errorf("find the default branch: %w", err)
	}
	configured, err := r.git(ctx, "config", "init.defaultBranch")
	if err != nil && !exited(err, 1) {
		return "", fmt.Errorf("find the default branch: %w", err)
	}
	for _, name := range []string{configured, "main", "master"} {
		if name == "" {
			continue
		}
		if _, err := r.Resolve(ctx, headsRef+name); err == nil {
			return name, nil
		}
	}
	return "", nil
}

// EnsureBranch puts HEAD on a branch, made at the current commit if there is
// none of that name. No file and no index entry changes. A branch that stands at
// another commit, or is checked out in another worktree, is refused.
func (r *Repo) EnsureBranch(ctx context.Context, name string) error {
	ref, err := r.branchRef(ctx, name)
	if err != nil {
		return err
	}
	current, err := r.Branch(ctx)
	if err != nil || current == name {
		return err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if err := r.free(ctx, name); err != nil {
		return err
	}
	tip, err := r.Resolve(ctx, ref+"^{commit}")
	switch {
	case err != nil:
		err = r.createRef(ctx, ref, head)
	case tip != head:
		return failure.New(failure.Usage, "name another one with --branch, or switch to it first: git switch "+name,
			"the branch %s exists and stands at another commit", name)
	}
	if err == nil {
		err = r.write(ctx, "symbolic-ref", "-m", "pawl: switch to "+name, "HEAD", ref)
	}
	if err != nil {
		return fmt.Errorf("switch to branch %s: %w", name, err)
	}
	return nil
}

// SwitchBack puts HEAD on a branch again after the agent switched away, or
// detached it. The work tree stays as it is, so what the agent did elsewhere
// shows as changes; its commits stay on its own branch. A branch that it deleted
// is made again at base. It returns where HEAD was: a branch, a commit, or "" if
// nothing had to be done.
func (r *Repo) SwitchBack(ctx context.Context, branch, base string) (was string, err error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return "", err
	}
	current, err := r.Branch(ctx)
	if err != nil {
		return "", err
	}
	tip, err := r.Resolve(ctx, ref+"^{commit}")
	if err != nil {
		if tip, err = r.Resolve(ctx, base+"^{commit}"); err != nil {
			return "", err
		}
		if err := r.createRef(ctx, ref, tip); err != nil {
			return "", fmt.Errorf("make branch %s again: %w", branch, err)
		}
	} else if current == branch {
		return "", nil
	}
	if was = current; was == "" {
		if was, err = r.Head(ctx); err != nil {
			return "", err
		}
	}
	if err := r.write(ctx, "symbolic-ref", "-m", "pawl: back to "+branch, "HEAD", ref); err != nil {
		return was, fmt.Errorf("switch back to branch %s: %w", branch, err)
	}
	return was, r.AlignIndex(ctx, tip)
}

// free reports an error when another worktree has the branch checked out: two
// of them would commit over each other.
func (r *Repo) free(ctx context.Context, branch string) error {
	trees, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, t := range trees {
		if t.branch == headsRef+branch && realPath(t.dir) != realPath(filepath.Clean(r.root)) {
			return failure.New(failure.Usage, "name another one with --branch",
				"the branch %s is checked out in %s", branch, t.dir)
		}
	}
	return nil
}
