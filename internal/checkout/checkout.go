// Package checkout prepares the folders in which gates run on a tree other than the work tree's.
//
// A checkout contains git's files of a tree and the files that .worktreeinclude names. It also
// contains the dependency folders from before the first turn (dependencies.go), or what the
// project's setup installs. Gates there have a separate home (home.go). It has toolchains, caches
// and settings as they were, without what an agent added since. With mount namespaces
// (namespace.go), the checkout appears at the work tree's path; without them, it is at another
// path.
//
// The package does not handle results. internal/verify decides what to run where.
package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// Options of a Checkout.
type Options struct {
	Root string    // absolute path of the folder that gates run in: the work tree or a folder in it
	Repo *git.Repo // repository of Root; nil without git: nothing can be checked out
	Dir  string    // a folder outside the work tree, for checkouts and records
	// Known is the Dir of another Checkout, whose record of the home is used; "" = none.
	Known       string
	Env         []string // the gates' environment, see environment.ForGates
	UserEnv     []string // the variables of Env that the user set
	Setup       []string // shell commands that prepare a fresh checkout ([worktree] setup)
	Prefix      []string // argv before a command, which confines it; nil = unconfined
	Marker      string   // the gates' value of PAWL_LOOP, "" = none
	NoNamespace bool     // run gates without mount namespaces
}

// Checkout prepares folders in which gates run on a tree other than the work tree's. Use it from
// one goroutine at a time.
type Checkout struct {
	Options

	current          *worktree          // nil = none
	installed        installed          // dependencies that a checkout gets
	homeRecord       *homeState         // the record of the home; nil = not read yet
	openedRecord     *openedFiles       // the record of opened files; nil = not read yet
	home             *unchangedHome     // unchanged parts of the home; nil = not compared yet
	lockSelection    *git.Selection     // manifests and lock files
	namespace        *confine.Namespace // nil = not searched yet
	reportedSettings []string           // changed settings, already reported
}

// New creates a Checkout. Remove removes its files.
func New(o Options) *Checkout {
	return &Checkout{Options: o, lockSelection: git.NewSelection(func(file string, _ git.Entry) bool { return isManifest(file) || isLock(file) })}
}

// Top returns the top folder of the current checkout.
func (k *Checkout) Top() string { return k.current.tree.Root() }

// Lacks reports whether a path of the repository is not in the current checkout.
func (k *Checkout) Lacks(path string) bool {
	return k.current != nil && !exists(filepath.Join(k.Top(), filepath.FromSlash(path)))
}

// Path returns the gates' PATH.
func (k *Checkout) Path() string { return environment.Variable(k.Env, "PATH") }

// Record records dependency folders and the home before the first turn. It keeps an earlier record.
func (k *Checkout) Record(ctx context.Context) error {
	if err := k.copyDependencies(ctx); err != nil {
		return err
	}
	return k.recordHome(ctx)
}

// Forget removes the records.
func (k *Checkout) Forget() error {
	k.homeRecord, k.openedRecord = nil, nil
	var err error
	for _, file := range []string{k.dependencyFile(), k.noNamespaceFile(), k.dependencyDir(), k.ownHomeRecordDir()} {
		err = errors.Join(err, proc.RemoveAll(file))
	}
	return err
}

// worktree is the worktree in which gates run on other trees. It is reused for one tree after
// another, so that what the setup installed stays.
type worktree struct {
	tree       *git.Worktree
	checkedOut string // commit or tree that it contains
	deps       string // fingerprint of the lock files of the last setup
	// setUp is the setup's isolation. Each gate's home contains what the setup left there.
	setUp *Isolation

	missing string // what the tree needs and nothing provides, or ""

	timedOut bool // a gate timed out and ran again with more time

	stale    bool // the next tree needs a fresh checkout, at another path
	pristine bool // it contains no ignored files
}

// NoteTimeout records that a gate timed out in this checkout. It reports whether this was the first
// timeout.
func (k *Checkout) NoteTimeout() bool {
	if k.current == nil || k.current.timedOut {
		return false
	}
	k.current.timedOut = true
	return true
}

// setupTimeout limits each setup command.
const setupTimeout = 15 * time.Minute

// maxSetupOutput limits the output in which the last line is searched, in bytes.
const maxSetupOutput = 8 << 10

// Folder returns the folder of the checkouts below one of Pawl's folders.
func Folder(dir string) string { return filepath.Join(dir, "worktrees") }

// errNoGit means that there is no repository to check out from.
var errNoGit = errors.New("without git there is no earlier tree to compare with")

// CheckOut prepares the checkout of a tree. It returns the folder in it that corresponds to Root.
func (k *Checkout) CheckOut(ctx context.Context, tree string) (string, error) {
	if k.Repo == nil {
		return "", errNoGit
	}
	below, err := filepath.Rel(git.RealPath(k.Repo.Root()), git.RealPath(k.Root))
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s is not in the repository %s", k.Root, k.Repo.Root())
	}
	if err := k.ensureDependencies(ctx); err != nil {
		return "", err
	}
	if err := k.resetCheckout(ctx, tree); err != nil {
		return "", err
	}
	if err := k.installOrSetUp(ctx, tree); err != nil {
		return "", err
	}
	return filepath.Join(k.current.tree.Root(), below), nil
}

// CheckOutWork checks out a tree, or the work tree's current tree if tree is "".
func (k *Checkout) CheckOutWork(ctx context.Context, tree string) (string, error) {
	if tree == "" && k.Repo != nil {
		var err error
		if tree, _, err = k.Repo.Snapshot(ctx); err != nil {
			return "", err
		}
	}
	return k.CheckOut(ctx, tree)
}

func (k *Checkout) resetCheckout(ctx context.Context, tree string) error {
	if k.current != nil && !k.current.stale {
		if err := k.current.tree.Reset(ctx, tree); err == nil {
			if err := k.removeCompiled(ctx, tree); err != nil {
				return err
			}
			return k.copyIncluded(ctx) // the reset removed what git does not ignore
		}
		// A gate may have left files that block a reset: start with a fresh checkout.
		if err := k.Remove(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(Folder(k.Dir), 0o700); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	dir, err := os.MkdirTemp(Folder(k.Dir), "worktree-")
	if err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	if k.current != nil {
		k.current.setUp.Remove()
		if k.current.tree.Renew(ctx, dir, tree) == nil {
			k.current = &worktree{tree: k.current.tree, checkedOut: tree, pristine: true}
			return k.copyIncluded(ctx)
		}
		if err := k.Remove(ctx); err != nil {
			return err
		}
	}
	w, err := k.Repo.Worktree(ctx, dir, tree)
	if err != nil {
		return err
	}
	if k.InNamespace(ctx) { // outside a namespace, processes can reach its files by other names
		w.Watch(ctx)
	}
	k.current = &worktree{tree: w, checkedOut: tree, pristine: true}
	return k.copyIncluded(ctx)
}

// RequireFreshCheckout makes the next tree get a fresh checkout at another path, unless a setup
// prepared this one.
func (k *Checkout) RequireFreshCheckout() {
	if k.current != nil && len(k.Setup) == 0 && k.current.setUp == nil {
		k.current.stale = true
	}
}

// Remove removes the checkout, if there is one.
func (k *Checkout) Remove(ctx context.Context) error {
	p := k.current
	if p == nil {
		return nil
	}
	k.current = nil
	p.setUp.Remove()
	return p.tree.Remove(ctx)
}

// copyIncluded copies the untracked files that the user wants in checkouts.
func (k *Checkout) copyIncluded(ctx context.Context) error {
	copied, err := k.Repo.CopyIncluded(ctx, k.current.tree.Root())
	if err != nil {
		return errors.Join(err, k.Remove(context.WithoutCancel(ctx)))
	}
	k.current.pristine = k.current.pristine && len(copied) == 0
	return nil
}

// RemoveStaleCheckouts removes checkouts of a killed owner of the same Dir. None of its processes
// may be alive.
func (k *Checkout) RemoveStaleCheckouts(ctx context.Context) error {
	left, err := os.ReadDir(Folder(k.Dir))
	if len(left) == 0 || k.current != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return k.Repo.RemoveWorktrees(ctx, Folder(k.Dir))
}

// installOrSetUp runs the setup, or copies dependencies, in a fresh checkout and whenever the
// dependencies changed.
func (k *Checkout) installOrSetUp(ctx context.Context, tree string) error {
	if len(k.Setup) == 0 && len(k.installed.recorded.Folders) == 0 && (k.installed.recorded.Locks == "" || !deps.HasManifest(k.Repo.Root())) {
		return nil
	}
	locks, err := k.lockFiles(ctx, tree)
	done := locks + " " + strings.Join(k.installed.folders, " ")
	if err != nil || k.current.deps == done {
		return err
	}
	k.current.deps, k.current.missing, k.current.pristine = "", "", false
	if len(k.Setup) == 0 {
		if err := k.installDependencies(ctx, locks); err != nil {
			return err
		}
		if k.installed.failed[locks] == "" { // else the next claim tries again
			k.current.deps = done
		}
		return nil
	}
	k.current.setUp.Remove()
	if k.current.setUp, err = k.Isolate(ctx, nil); err != nil {
		return err
	}
	if err := k.runSetUp(ctx, k.current.tree.Root(), k.current.setUp, setup{commands: k.Setup}); err != nil {
		return err
	}
	k.current.deps = done
	return nil
}

// SetUp runs the project's setup in a fresh worktree, each command with its own time limit.
func (k *Checkout) SetUp(ctx context.Context, dir string) error {
	return k.runSetUp(ctx, dir, nil, setup{commands: k.Setup})
}

// setup is what prepares a checkout.
type setup struct {
	commands []string // for the shell
	env      []string // added to the gates' environment
}

// runSetUp runs the commands of a setup in a folder.
func (k *Checkout) runSetUp(ctx context.Context, dir string, in *Isolation, s setup) error {
	for _, text := range s.commands {
		out := &proc.Tail{MaxBytes: maxSetupOutput}
		limited, cancel := context.WithTimeout(ctx, setupTimeout)
		var c Command
		c.Argv, c.Env = proc.Shell(text)
		c.Env = slices.Concat(s.env, c.Env)
		spec := k.Spec(in, dir, c)
		spec.Stdout, spec.Stderr = out, out
		exit := proc.Run(limited, spec)
		cancel()
		if !exit.OK() {
			said := testreport.FailureLine(testreport.Plain(out.String()))
			if said == "" {
				said = "it printed nothing"
			}
			return fmt.Errorf("%s failed with exit code %d: %s", text, exit.Code, said)
		}
	}
	return nil
}

// Fingerprint returns what results in a checkout depend on, besides its tree.
func (k *Checkout) Fingerprint(ctx context.Context) []any {
	parts := []any{k.Setup, k.installed.folders, k.InNamespace(ctx)}
	if k.compareHome(ctx) == nil { // otherwise the run reports the error
		parts = append(parts, k.home.changed)
	}
	return parts
}

// lockFiles fingerprints a tree's dependencies: lock files, and the manifests' relevant parts.
func (k *Checkout) lockFiles(ctx context.Context, tree string) (string, error) {
	entries, err := k.Repo.Select(ctx, tree, k.lockSelection)
	if err != nil {
		return "", err
	}
	var found, ids []string
	manifests := map[string]string{}
	for file, e := range entries {
		if isManifest(file) {
			manifests[file], ids = e.ID, append(ids, e.ID)
		} else {
			found = append(found, file+" "+e.ID)
		}
	}
	contents, err := k.Repo.Blobs(ctx, ids)
	if err != nil {
		return "", err
	}
	for file, id := range manifests {
		found = append(found, file+" "+string(deps.Declared(file, contents[id])))
	}
	slices.Sort(found)
	sum := sha256.Sum256([]byte(strings.Join(found, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

func isManifest(file string) bool {
	base := path.Base(file)
	return base == "package.json" || base == "pyproject.toml"
}

func isLock(file string) bool {
	base := path.Base(file)
	return base == "go.sum" || strings.HasSuffix(base, ".lock") || strings.Contains(base, "-lock.") || strings.HasPrefix(base, "requirements") ||
		base == "Cargo.toml" || base == "pom.xml"
}
