// Package git drives the user's git: snapshots of the whole work tree, restores,
// commits, branches and worktrees, always by the git command itself.
//
// Everything is made of trees. A snapshot is a tree object of what lies in the
// work tree (tracked and untracked, not ignored), made with a private index, so
// that the user's index, HEAD, stash and hooks are never touched. A checkpoint
// is a commit of a snapshot under refs/pawl/<loop>/<n>. A restore takes a new
// snapshot, compares it with the wanted tree, and writes and deletes exactly
// what differs: there is no reset --hard, clean or stash, so files that were not
// captured (ignored, oversized, repositories of their own) stay as they are, and
// running a restore again finishes one that was cut short.
//
// Paths are bytes, relative to the root, with forward slashes; they may hold
// newlines and need not be UTF-8.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Repo is one work tree of a repository: the main one or a linked worktree. Its
// methods may be called from several goroutines.
type Repo struct {
	root      string
	gitDir    string
	commonDir string
	lockWait  time.Duration
	hooksBy   []string // before the argv of hooks

	callTime, pipesAfter time.Duration // of each call; 0 is the usual
	inert                []string      // settings that keep programs of the repository from running, see Inert

	of        *Repo   // of a worktree: the one whose servers it uses
	reader    server  // of objects
	writer    server  // of trees
	committer server  // of commits
	answers   answers // that it has given
	all       Selection
	names     sync.Map // refs whose names git allows
	watching  watching

	mu        sync.Mutex
	vouched   string // name and sum of the private index that we kept, see index.go; "" = none yet
	aligned   aligned
	config    configuration // as last read
	unignored notIgnored
	voucher   string                  // file that tells it to the next process, "" = none
	last      map[string][]Checkpoint // newest one of each loop, by ref prefix; saves listing them
}

// Root returns the absolute path of the work tree.
func (r *Repo) Root() string { return r.root }

// GitDir returns the absolute path of the work tree's git directory, which identifies it:
// each linked worktree has its own.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns the git directory that all worktrees of the repository share.
func (r *Repo) CommonDir() string { return r.commonDir }

// IndexDir returns the folder of the private indexes.
func (r *Repo) IndexDir() string { return filepath.Join(r.gitDir, stateDir) }

// RunHooksBy sets arguments that start the user's hooks, since an agent may write to
// hooks in the work tree. Call it before anything else.
func (r *Repo) RunHooksBy(prefix []string) { r.hooksBy = prefix }

// Open finds the work tree that dir lies in. Repositories in which no loop can
// run are refused by name with a hint: none at all, bare, without a commit,
// owned by somebody else, or in the middle of a merge, rebase, cherry-pick,
// revert, bisect or am.
func Open(ctx context.Context, dir string) (*Repo, error) {
	r, err := Reopen(ctx, dir)
	if err != nil {
		return nil, err
	}
	if op := r.Operation(); op != "" {
		leave := op + " --abort"
		if op == "bisect" {
			leave = "bisect reset"
		}
		return nil, failure.New(failure.Usage, "finish it, or leave it with: git "+leave, "%s is in the middle of a git %s", r.root, op)
	}
	has, err := r.HasCommit(ctx)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	if !has {
		return nil, failure.New(failure.Usage,
			`make a first commit: git add . && git commit -m "start", or git commit --allow-empty -m "start"`, "%w", &NoCommitError{r.root})
	}
	return r, nil
}

// HasCommit reports whether HEAD stands for a commit. It does not where the branch
// that it is on has none yet; a HEAD that cannot be read is an error.
func (r *Repo) HasCommit(ctx context.Context) (bool, error) {
	_, head := r.Head(ctx)
	if !errors.Is(head, ErrNoRevision) {
		return head == nil, head
	}
	branch, err := r.Branch(ctx)
	if err != nil || branch == "" {
		return false, cmp.Or(err, head)
	}
	tip, err := r.branchTip(ctx, headsRef+branch)
	if tip != "" {
		err = head
	}
	return false, err
}

// NoRepoError means that a folder is in no git repository.
type NoRepoError struct{ Dir string } // absolute

func (e *NoRepoError) Error() string { return e.Dir + " is in no git repository" }

// NoCommitError means that a repository has no commit.
type NoCommitError struct{ Root string } // of its work tree, absolute

func (e *NoCommitError) Error() string { return "the repository " + e.Root + " has no commit yet" }

// Reopen is Open where no loop begins: one lives in a user's session, or something
// is only asked. What they are in the middle of (a merge, a rebase) is theirs, and no
// reason not to look; nor is it that there is no commit.
func Reopen(ctx context.Context, dir string) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	if info, err := os.Stat(abs); err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("open repository: %s is not a directory", abs)
	}
	around := findGitDirs(RealPath(abs))
	out, err := runOnce(ctx, abs, call{places: around, args: []string{
		"rev-parse", "--is-bare-repository", "--is-inside-git-dir",
		"--absolute-git-dir", "--git-common-dir",
	}})
	if err != nil {
		return nil, openError(err, abs)
	}
	parts := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(parts) != 4 {
		return nil, failure.New(failure.Usage, "rename the folder", "the path of the repository holds a line break: %q", abs)
	}
	if parts[0] == "true" {
		return nil, failure.New(failure.Usage, "run in a clone or a worktree of it: git worktree add ../work", "%s is a bare repository", abs)
	}
	if parts[1] == "true" {
		return nil, failure.New(failure.Usage, "run in the work tree instead", "%s lies inside a git directory", abs)
	}
	top, err := runOnce(ctx, abs, call{places: around, args: []string{"rev-parse", "--show-toplevel"}})
	if err != nil {
		return nil, openError(err, abs)
	}
	common := filepath.FromSlash(parts[3])
	if !filepath.IsAbs(common) {
		common = filepath.Join(abs, common)
	}
	return &Repo{
		root:      filepath.FromSlash(strings.TrimSuffix(string(top), "\n")),
		gitDir:    filepath.FromSlash(parts[2]),
		commonDir: RealPath(common),
		lockWait:  lockWait,
	}, nil
}

// RealPath resolves symbolic links as git does, so that paths can be compared. A path that
// leads nowhere stays as it is.
func RealPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// RootAbove returns the root of the work tree that contains a folder, or the folder if there is none.
// Unlike Open it takes repositories in any state: a loop can be shown in all of them.
func RootAbove(dir string) string {
	dir = RealPath(dir)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// openError explains why git refused a folder.
func openError(err error, dir string) error {
	switch {
	case stderrContains(err, "dubious ownership", "unsafe repository"):
		return failure.New(failure.Usage,
			fmt.Sprintf("if you trust it: git config --global --add safe.directory %s", dir),
			"the repository of %s belongs to another user: %w", dir, err)
	case stderrContains(err, "not a git repository"):
		return failure.New(failure.Usage,
			`make one: git init && git add . && git commit --allow-empty -m "start"`, "%w", &NoRepoError{dir})
	}
	return fmt.Errorf("open repository: %w", err)
}

// Operation returns the unfinished operation of the repository as the git subcommand that
// ends it (merge, rebase, am, cherry-pick, revert, bisect), or "".
func (r *Repo) Operation() string {
	for _, m := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{filepath.Join("rebase-apply", "applying"), "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(r.gitDir, m.file)); err == nil {
			return m.name
		}
	}
	return ""
}

// QuitOperation forgets a merge, rebase, am, cherry-pick or revert that the
// agent left open. The work tree stays as it is, with its conflict marks; the
// index and HEAD are put right by SwitchBack and Commit. It returns the name of
// what was open, or "". A bisect is ended by pointing HEAD back (SwitchBack)
// and forgetting its log.
func (r *Repo) QuitOperation(ctx context.Context) (string, error) {
	op := r.Operation()
	switch op {
	case "":
		return "", nil
	case "bisect":
		err := r.write(ctx, "bisect", "reset", "HEAD")
		return op, err
	}
	err := r.write(ctx, op, "--quit")
	return op, err
}

// ErrNoRevision means that a name stands for no commit, tree or blob.
var ErrNoRevision = errors.New("no such revision")

// Resolve returns the full id of a revision.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.Contains(rev, "\n") {
		return "", fmt.Errorf("resolve %q: %w", rev, ErrNoRevision)
	}
	if found, err := r.objects(ctx, rev); err == nil && found[0].id != "" {
		return found[0].id, nil
	}
	id, err := r.git(ctx, "rev-parse", "--verify", "--quiet", rev) // it says what is wrong
	if saidNo(err) {
		return "", fmt.Errorf("resolve %q: %w", rev, ErrNoRevision)
	}
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", rev, err)
	}
	return id, nil
}

// Head returns the commit of HEAD.
func (r *Repo) Head(ctx context.Context) (string, error) { return r.Resolve(ctx, "HEAD^{commit}") }

// TreeOf returns the tree of a commit, checkpoint or tree.
func (r *Repo) TreeOf(ctx context.Context, rev string) (string, error) {
	return r.Resolve(ctx, rev+"^{tree}")
}

// Tracks reports whether git tracks a file of a folder; path is relative to it with
// slashes. Without a repository it returns false.
func Tracks(ctx context.Context, dir, path string) (bool, error) {
	r, err := Reopen(ctx, dir)
	if _, none := errors.AsType[*NoRepoError](err); none {
		return false, nil
	}
	if err == nil {
		_, err = runOnce(ctx, dir, call{
			places: r.gitDirs(),
			args:   []string{"--literal-pathspecs", "ls-files", "--error-unmatch", "--", path},
			env:    []string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.root},
		})
	}
	if saidNo(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check if git tracks %s: %w", path, err)
	}
	return true, nil
}
