package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

const headsRef = "refs/heads/"

// maxBranchName limits the name of a branch, in bytes: git names a file and a lock file after its
// last part.
const maxBranchName = 200

// branchRef returns the full name of a branch. If git does not allow the name, it returns an error
// for the user.
func (r *Repo) branchRef(ctx context.Context, name string) (string, error) {
	bad := failure.New(failure.Usage, "letters, digits, - and / are fine, at most 200 characters",
		"%q cannot be the name of a branch", name[:min(len(name), maxBranchName)])
	if name == "" || name == "HEAD" || strings.HasPrefix(name, "-") || strings.Contains(name, "\x00") || len(name) > maxBranchName {
		return "", bad
	}
	if _, known := r.names.Load(name); known {
		return headsRef + name, nil
	}
	_, err := r.git(ctx, "check-ref-format", headsRef+name)
	if isExitOne(err) {
		return "", bad
	}
	if err == nil {
		r.names.Store(name, true)
	}
	return headsRef + name, err
}

// headBranch returns the full name of the branch in the HEAD file, or "" if the file names none.
func (r *Repo) headBranch() string {
	b, err := atomicfile.Read(filepath.Join(r.gitDir, "HEAD"), maxConfigBytes)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: ")
	if err != nil || !ok || !strings.HasPrefix(ref, headsRef) || strings.HasPrefix(ref, headsRef+".") { // refs may be stored elsewhere
		return ""
	}
	return ref
}

// Branch returns the short name of the current branch, or "" if HEAD is detached.
func (r *Repo) Branch(ctx context.Context) (string, error) {
	if ref := r.headBranch(); ref != "" {
		return strings.TrimPrefix(ref, headsRef), nil
	}
	ref, err := r.git(ctx, "symbolic-ref", "--quiet", "HEAD")
	if isExitOne(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	return strings.TrimPrefix(ref, headsRef), nil
}

// branchTip returns the commit of a branch, by its full name, or "" if there is no such branch. It
// returns an error if git cannot read the ref.
func (r *Repo) branchTip(ctx context.Context, ref string) (string, error) {
	commit, _, err := r.tipAndHead(ctx, ref)
	return commit, err
}

// tipAndHead returns the commit of a branch, and true if HEAD is certainly on the branch.
func (r *Repo) tipAndHead(ctx context.Context, ref string) (commit string, on bool, err error) {
	if r.headBranch() == ref {
		if found, err := r.objects(ctx, "HEAD^{commit}"); err == nil && found[0].id != "" {
			return found[0].id, true, nil
		}
	}
	const format = "--format=%(refname) %(objectname) %(HEAD)"
	out, err := r.run(ctx, call{args: []string{"for-each-ref", format, ref}, strict: true})
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", ref, err)
	}
	for line := range strings.Lines(string(out)) { // also lists refs below ref/
		if f := strings.Fields(line); len(f) > 1 && f[0] == ref {
			return f[1], len(f) > 2, nil
		}
	}
	return "", false, nil
}

// HasBranch reports whether a branch exists.
func (r *Repo) HasBranch(ctx context.Context, name string) (bool, error) {
	ref, err := r.branchRef(ctx, name)
	if err != nil {
		return false, err
	}
	tip, err := r.branchTip(ctx, ref)
	return tip != "", err
}

// DefaultBranch returns the branch that work is merged into: origin's HEAD, else an
// existing init.defaultBranch, main or master, else "".
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) {
	const origin = "refs/remotes/origin/"
	ref, err := r.git(ctx, "symbolic-ref", "--quiet", origin+"HEAD")
	if err == nil {
		return strings.TrimPrefix(ref, origin), nil
	}
	if !isExitOne(err) {
		return "", fmt.Errorf("find the default branch: %w", err)
	}
	configured, err := r.git(ctx, "config", "init.defaultBranch")
	if err != nil && !isExitOne(err) {
		return "", fmt.Errorf("find the default branch: %w", err)
	}
	for _, name := range []string{configured, "main", "master"} {
		if name == "" {
			continue
		}
		tip, err := r.branchTip(ctx, headsRef+name)
		if err != nil {
			return "", fmt.Errorf("find the default branch: %w", err)
		}
		if tip != "" {
			return name, nil
		}
	}
	return "", nil
}

// Undo removes a created branch or worktree. It does nothing if somebody has worked there since: a
// branch that has moved stays.
type Undo func(ctx context.Context) error

// noUndo is the Undo of a call that changed nothing.
func noUndo(context.Context) error { return nil }

// CheckBranch returns the error with which EnsureBranch would reject a branch, or nil.
func (r *Repo) CheckBranch(ctx context.Context, name string) error {
	_, err := r.inspectBranch(ctx, name)
	return err
}

// CheckWorktreeBranch returns the error with which LoopWorktree would reject a branch, or nil.
func (r *Repo) CheckWorktreeBranch(ctx context.Context, name string) error {
	if _, err := r.branchRef(ctx, name); err != nil {
		return err
	}
	return r.checkNotCheckedOut(ctx, name, "")
}

// branchTarget describes a branch to switch HEAD to.
type branchTarget struct {
	ref  string // full name
	from string // branch of HEAD, "" if detached
	head string // current commit
	is   bool   // HEAD is on it
	tip  string // its commit, "" if there is no such branch
}

// inspectBranch inspects a branch to switch HEAD to. It returns an error if the branch is at
// another commit, or is checked out in another worktree.
func (r *Repo) inspectBranch(ctx context.Context, name string) (branchTarget, error) {
	ref, err := r.branchRef(ctx, name)
	if err != nil {
		return branchTarget{}, err
	}
	current, err := r.Branch(ctx)
	if err != nil || current == name {
		return branchTarget{ref: ref, is: true}, err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return branchTarget{}, err
	}
	if err := r.checkNotCheckedOut(ctx, name, r.root); err != nil {
		return branchTarget{}, err
	}
	tip, err := r.branchTip(ctx, ref)
	if err == nil && tip != "" && tip != head {
		err = failure.New(failure.Usage, "name another one with --branch, or switch to it first: git switch "+name,
			"the branch %s exists and stands at another commit", name)
	}
	return branchTarget{ref: ref, from: current, head: head, tip: tip}, err
}

// EnsureBranch switches HEAD to a branch, which it creates at the current commit if needed. No file
// and no index entry changes. It returns an error if the branch is at another commit, or is checked
// out in another worktree. After an error nothing has changed.
func (r *Repo) EnsureBranch(ctx context.Context, name string) (Undo, error) {
	to, err := r.inspectBranch(ctx, name)
	if err != nil || to.is {
		return noUndo, err
	}
	made := to.tip == ""
	if made {
		err = r.createRef(ctx, to.ref, to.head)
		made = !errors.Is(err, errRefExists) // a git that died may have created it
	}
	if err == nil {
		err = r.write(ctx, "symbolic-ref", "-m", "pawl: switch to "+name, "HEAD", to.ref)
	}
	undo := func(ctx context.Context) error {
		if err := r.leaveBranch(ctx, name, to.from, to.head); err != nil || !made {
			return err
		}
		_, err := r.deleteBranch(ctx, name, to.head)
		return err
	}
	if err != nil {
		return noUndo, errors.Join(err, undo(context.WithoutCancel(ctx)))
	}
	return undo, nil
}

// leaveBranch switches HEAD back to where it was before EnsureBranch: a branch or, if that is "",
// the commit. It does nothing if HEAD is elsewhere by now, or if either branch has moved, because
// their files may differ then.
func (r *Repo) leaveBranch(ctx context.Context, name, back, commit string) error {
	current, err := r.Branch(ctx)
	if err != nil || current != name {
		return err
	}
	for _, branch := range []string{name, back} {
		if branch == "" {
			continue
		}
		if tip, err := r.branchTip(ctx, headsRef+branch); err != nil || tip != commit {
			return err
		}
	}
	if back == "" {
		err = r.write(ctx, "update-ref", "--no-deref", "-m", "pawl: leave "+name, "HEAD", commit)
	} else {
		err = r.write(ctx, "symbolic-ref", "-m", "pawl: leave "+name, "HEAD", headsRef+back)
	}
	if err != nil {
		return fmt.Errorf("leave branch %s: %w", name, err)
	}
	return nil
}

// deleteBranch deletes a branch if it is still at a commit and no worktree has checked it out. It
// reports whether the branch is gone.
func (r *Repo) deleteBranch(ctx context.Context, name, commit string) (gone bool, err error) {
	tip, err := r.branchTip(ctx, headsRef+name)
	if err != nil || tip != commit {
		return err == nil && tip == "", err
	}
	trees, err := r.worktrees(ctx)
	if err != nil || slices.ContainsFunc(trees, func(t linkedWorktree) bool { return t.branch == headsRef+name }) {
		return false, err
	}
	if err := r.write(ctx, "update-ref", "-d", headsRef+name, commit); err != nil {
		return false, fmt.Errorf("delete branch %s: %w", name, err)
	}
	return true, nil
}

// HeadPosition is a position of HEAD: on a branch, or detached at a commit.
type HeadPosition struct {
	Branch string // "" if detached
	Commit string
}

// LeaveBranch switches HEAD back to home if branch is at the same commit, so that no file and no
// index entry changes. It reports whether HEAD is off the branch.
func (r *Repo) LeaveBranch(ctx context.Context, branch string, home HeadPosition) (bool, error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil || branch == home.Branch {
		return false, err
	}
	tip, err := r.branchTip(ctx, ref)
	if err != nil || tip == "" {
		return false, err
	}
	at := home.Commit
	if home.Branch != "" {
		at, err = r.branchTip(ctx, headsRef+home.Branch)
	}
	if err != nil || at != tip || home.Branch != "" && r.checkNotCheckedOut(ctx, home.Branch, r.root) != nil {
		return false, err // checked out elsewhere by now, or unknown: the branch stays
	}
	if err := r.leaveBranch(ctx, branch, home.Branch, tip); err != nil {
		return false, err
	}
	current, err := r.Branch(ctx)
	return err == nil && current != branch, err
}

// DeleteEmptyBranch deletes a branch if it is at a commit and no worktree has checked it out. It
// reports whether the branch is gone.
func (r *Repo) DeleteEmptyBranch(ctx context.Context, branch, commit string) (bool, error) {
	if _, err := r.branchRef(ctx, branch); err != nil {
		return false, err
	}
	return r.deleteBranch(ctx, branch, commit)
}

// checkNotCheckedOut returns an error if a worktree other than but has checked out the branch: two
// worktrees would overwrite each other's commits.
func (r *Repo) checkNotCheckedOut(ctx context.Context, branch, but string) error {
	trees, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, t := range trees {
		if t.branch == headsRef+branch && (but == "" || RealPath(t.dir) != RealPath(filepath.Clean(but))) {
			return failure.New(failure.Usage, "name another one with --branch",
				"the branch %s is checked out in %s", branch, t.dir)
		}
	}
	return nil
}

// NewBranchObstacles returns what prevents git from creating a branch and switching HEAD to it. One
// reason is a branch whose name is a parent folder of this name, or the reverse. For name "" it
// returns nothing.
func (r *Repo) NewBranchObstacles(ctx context.Context, name string) []error {
	if name == "" {
		return nil
	}
	var all []error
	first, _, _ := strings.Cut(name, "/")
	refs, err := r.git(ctx, "for-each-ref", "--format=%(refname)", headsRef+first)
	if err != nil {
		return append(all, fmt.Errorf("look for branches like %s: %w", name, err))
	}
	for ref := range strings.Lines(refs) {
		other := strings.TrimPrefix(strings.TrimSpace(ref), headsRef)
		if strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/") {
			return append(all, failure.New(failure.Usage, "rename that one:  git branch -m "+other+" NAME;  or name another with --branch",
				"there is a branch %s, so none can be named %s", other, name))
		}
	}
	return all
}
