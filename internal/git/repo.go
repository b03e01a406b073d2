// Package git runs the user's git for snapshots of the whole work tree, restores, commits, branches
// and worktrees.
//
// Everything is based on trees. A snapshot is a tree object of the work tree (tracked and
// untracked, not ignored). It is created with a private index, so that the user's index, HEAD,
// stash and hooks are never touched. A checkpoint is a commit of a snapshot under
// refs/pawl/<loop>/<n>. A restore takes a new snapshot, compares it with the wanted tree, and
// writes and deletes exactly what differs. It uses no reset --hard, clean or stash. So files that
// were not captured (ignored, oversized, nested repositories) stay as they are, and a restore that
// was interrupted can be run again.
//
// Paths are bytes, relative to the root, with forward slashes. They may contain newlines and need
// not be UTF-8.
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
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Repo is one work tree of a repository: the main one or a linked worktree. Its methods may be
// called from several goroutines.
type Repo struct {
	root      string
	gitDir    string
	commonDir string
	lockWait  time.Duration
	hooksBy   []string // argv before hooks

	callTime, pipesAfter time.Duration // of each call; 0 = default
	inert                []string      // settings that prevent git from running programs of the repository, see Inert

	of        *Repo   // for a worktree: the repository whose servers it uses
	reader    server  // reads objects
	writer    server  // writes trees
	committer server  // writes commits
	answers   answers // cached objects
	all       Selection
	names     sync.Map // refs whose names git allows
	watching  watching

	mu           sync.Mutex
	trustedIndex string // name and checksum of the private index that this process kept, see index.go; "" = none yet
	aligned      aligned
	config       configuration // as last read
	unignored    notIgnored
	trustFile    string                  // file that records it for the next process, "" = none
	last         map[string][]Checkpoint // newest checkpoint of each loop, by ref prefix; saves listing them
}

// Root returns the absolute path of the work tree.
func (r *Repo) Root() string { return r.root }

// GitDir returns the absolute path of the work tree's git directory. It is unique: each linked
// worktree has one.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns the git directory that all worktrees of the repository share.
func (r *Repo) CommonDir() string { return r.commonDir }

// RunHooksBy sets arguments that start the user's hooks, because an agent may write to hooks in the
// work tree. Call it first.
func (r *Repo) RunHooksBy(prefix []string) { r.hooksBy = prefix }

// Open opens the work tree that contains dir. If no loop can run there, it returns an error with a
// hint. That is the case without a repository or commit, in a bare repository or one of another
// user, and in the middle of a merge, rebase, cherry-pick, revert, bisect or am.
func Open(ctx context.Context, dir string) (*Repo, error) {
	r, err := Reopen(ctx, dir)
	if err != nil {
		return nil, err
	}
	if op, _ := r.Operation(); op != "" {
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

// HasCommit reports whether HEAD has a commit, which a new branch does not. If HEAD cannot be read
// it returns an error.
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

// NoRepoError means that a folder is not in a git repository.
type NoRepoError struct{ Dir string } // absolute

func (e *NoRepoError) Error() string { return e.Dir + " is in no git repository" }

// NoCommitError means that a repository has no commit.
type NoCommitError struct{ Root string } // of its work tree, absolute

func (e *NoCommitError) Error() string { return "the repository " + e.Root + " has no commit yet" }

// Reopen is Open for callers that start no loop. It also opens repositories without a commit, or in
// the middle of a merge or rebase.
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
	if !utf8.ValidString(RealPath(abs)) { // the files of a loop are JSON, which would name another path
		return nil, failure.New(failure.Usage, "rename the folder", "the path of the repository is not UTF-8: %q", abs)
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

// RealPath resolves symbolic links as git does, so that paths can be compared. It returns a path
// that does not exist unchanged.
func RealPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// RootAbove returns the root of the work tree that contains a folder, or the folder if there is
// none. Unlike Open it accepts repositories in any state, because a loop can be shown in all of
// them.
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

// openError explains why git rejected a folder.
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
// ends it (merge, rebase, am, cherry-pick, revert, bisect), or "", and the file that git made when
// it began.
func (r *Repo) Operation() (name, file string) {
	for _, m := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{filepath.Join("rebase-apply", "applying"), "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
	} {
		file := filepath.Join(r.gitDir, m.file)
		if _, err := os.Lstat(file); err == nil {
			return m.name, file
		}
	}
	return "", ""
}

// QuitOperation quits a merge, rebase, am, cherry-pick or revert that the agent left open. The work
// tree stays as it is, with its conflict markers; SwitchBack and Commit correct the index and HEAD.
// It returns the name of the operation, or "". A bisect is ended by switching HEAD back
// (SwitchBack) and deleting its log.
func (r *Repo) QuitOperation(ctx context.Context) (string, error) {
	op, _ := r.Operation()
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

// ErrNoRevision means that a name is no commit, tree or blob.
var ErrNoRevision = errors.New("no such revision")

// Resolve returns the full id of a revision.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.Contains(rev, "\n") {
		return "", fmt.Errorf("resolve %q: %w", rev, ErrNoRevision)
	}
	if found, err := r.objects(ctx, rev); err == nil && found[0].id != "" {
		return found[0].id, nil
	}
	id, err := r.git(ctx, "rev-parse", "--verify", "--quiet", rev) // its error message is better
	if isExitOne(err) {
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

// Tracks reports whether git tracks a file of a folder. path is relative to the folder, with
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
	if isExitOne(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check if git tracks %s: %w", path, err)
	}
	return true, nil
}
