// Package checkout makes the places in which gates run on another tree than the work tree's.
//
// A checkout contains what git has of a tree, the files that .worktreeinclude names, and the
// dependency folders from before the first turn (dependencies.go) or what the project's setup
// installs. A gate there has a home of its own (home.go): toolchains, caches and settings as they
// were, and nothing that an agent put there since. With mount namespaces (namespace.go) it sees the
// checkout at the work tree's path; without them, at another path.
//
// The package knows nothing of results. internal/verify decides what to run where.
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
	Root string    // the folder that gates run in: the work tree or one in it, absolute
	Repo *git.Repo // repository of Root; nil without git: then nothing can be checked out
	Dir  string    // a folder outside the work tree, for checkouts and records
	// Known is another Checkout's Dir, whose record of the home counts; "" = none.
	Known    string
	Env      []string // the gates' environment, see environment.ForGates
	Set      []string // the part of it that the user set
	Setup    []string // shell commands that prepare a fresh checkout ([worktree] setup)
	Prefix   []string // argv before a command that confines it; nil = unconfined
	Marker   string   // the gates' value of PAWL_LOOP, "" = none
	ByFolder bool     // without mount namespaces
}

// Checkout is where gates run on another tree than the work tree's. Use it from one goroutine at a
// time.
type Checkout struct {
	Options

	current          *worktree          // nil = none
	installed        installed          // dependencies that a checkout gets
	then             *homeState         // the record of the home; nil = not read yet
	opened           *openedFiles       // the record of opened files; nil = not read yet
	home             *unchangedHome     // unchanged parts of the home; nil = not compared yet
	locked           *git.Selection     // manifests and lock files
	namespace        *confine.Namespace // nil = not looked for yet
	reportedSettings []string           // changed settings, already reported
}

// New creates a Checkout. Remove removes its files.
func New(o Options) *Checkout {
	return &Checkout{Options: o, locked: git.NewSelection(func(file string, _ git.Entry) bool { return isManifest(file) || isLock(file) })}
}

// Top returns the top folder of the current checkout.
func (k *Checkout) Top() string { return k.current.tree.Root() }

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
	k.then, k.opened = nil, nil
	var err error
	for _, file := range []string{k.dependencyFile(), k.byFolderFile(), k.dependencyDir(), k.ownHome()} {
		err = errors.Join(err, proc.RemoveAll(file))
	}
	return err
}

// worktree is the worktree in which gates run on other trees. It is reused for one tree after
// another, so that what the setup installed stays.
type worktree struct {
	tree *git.Worktree
	held string // commit or tree that it contains
	deps string // fingerprint of the lock files of the last setup
	// setUp is the setup's isolation. Each gate's home contains what the setup left there.
	setUp *Isolation

	missing string // what the tree needs and nothing provides, or ""

	timedOut bool // a gate timed out and ran again with more time

	stale    bool // the next tree needs a fresh checkout, at another path
	pristine bool // it contains no ignored files
}

// NoteTimeout notes that a gate timed out in this checkout, and reports whether none did before.
func (k *Checkout) NoteTimeout() bool {
	if k.current == nil || k.current.timedOut {
		return false
	}
	k.current.timedOut = true
	return true
}

// setupTimeout bounds each setup command.
const setupTimeout = 15 * time.Minute

// maxSetupOutput bounds the bytes of its output that are searched for the last line.
const maxSetupOutput = 8 << 10

// Folder is the folder of the checkouts below one of Pawl's own.
func Folder(dir string) string { return filepath.Join(dir, "worktrees") }

// errNoGit means that there is no repository to check out from.
var errNoGit = errors.New("without git there is no other tree to compare with")

// CheckOut prepares the checkout of a tree and returns the folder of it that stands for Root.
func (k *Checkout) CheckOut(ctx context.Context, tree string) (string, error) {
	if k.Repo == nil {
		return "", errNoGit
	}
	below, err := filepath.Rel(resolved(k.Repo.Root()), resolved(k.Root))
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s is not in the repository %s", k.Root, k.Repo.Root())
	}
	if err := k.ensureDependencies(ctx); err != nil {
		return "", err
	}
	if err := k.resetCheckout(ctx, tree); err != nil {
		return "", err
	}
	if err := k.prepare(ctx, tree); err != nil {
		return "", err
	}
	return filepath.Join(k.current.tree.Root(), below), nil
}

// CheckOutWork checks out a tree, or the work tree's if "".
func (k *Checkout) CheckOutWork(ctx context.Context, tree string) (string, error) {
	if tree == "" && k.Repo != nil {
		var err error
		if tree, _, err = k.Repo.Snapshot(ctx); err != nil {
			return "", err
		}
	}
	return k.CheckOut(ctx, tree)
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func (k *Checkout) resetCheckout(ctx context.Context, tree string) error {
	if k.current != nil && !k.current.stale {
		if err := k.current.tree.Reset(ctx, tree); err == nil {
			if err := k.dropCompiled(ctx, tree); err != nil {
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
			k.current = &worktree{tree: k.current.tree, held: tree, pristine: true}
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
	if k.InNamespace(ctx) { // there no other name of its files is in reach
		w.Watch(ctx)
	}
	k.current = &worktree{tree: w, held: tree, pristine: true}
	return k.copyIncluded(ctx)
}

// Renew makes the next tree get a fresh checkout, at another path. One that needs a setup stays.
func (k *Checkout) Renew() {
	if k.current != nil && len(k.Setup) == 0 {
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

// RemoveLeftCheckouts removes checkouts that a killed owner of the same Dir left. None of its
// processes may be alive.
func (k *Checkout) RemoveLeftCheckouts(ctx context.Context) error {
	left, err := os.ReadDir(Folder(k.Dir))
	if len(left) == 0 || k.current != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return k.Repo.RemoveWorktrees(ctx, Folder(k.Dir))
}

// prepare runs the setup, or copies dependencies, in a fresh checkout and when the dependencies
// changed.
func (k *Checkout) prepare(ctx context.Context, tree string) error {
	if len(k.Setup) == 0 && len(k.installed.recorded.Folders) == 0 {
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
		k.current.deps = done
		return nil
	}
	k.current.setUp.Remove()
	if k.current.setUp, err = k.Isolate(ctx, nil); err != nil {
		return err
	}
	if err := k.runSetUp(ctx, k.current.tree.Root(), k.current.setUp); err != nil {
		return err
	}
	k.current.deps = done
	return nil
}

// SetUp runs the project's setup in a fresh worktree, each command with its own time limit.
func (k *Checkout) SetUp(ctx context.Context, dir string) error {
	return k.runSetUp(ctx, dir, nil)
}

func (k *Checkout) runSetUp(ctx context.Context, dir string, in *Isolation) error {
	for _, text := range k.Setup {
		out := &proc.Tail{Most: maxSetupOutput}
		limited, cancel := context.WithTimeout(ctx, setupTimeout)
		var c Command
		c.Argv, c.Env = proc.Shell(text)
		spec := k.Spec(in, dir, c)
		spec.Stdout, spec.Stderr = out, out
		exit := proc.Run(limited, spec)
		cancel()
		if !exit.OK() {
			said := testreport.LastLine(testreport.Plain(out.String()))
			if said == "" {
				said = "it printed nothing"
			}
			return fmt.Errorf("the worktree's set-up failed: %s: exit %d: %s", text, exit.Code, said)
		}
	}
	return nil
}

// Fingerprint returns what results in a checkout depend on, beside its tree.
func (k *Checkout) Fingerprint(ctx context.Context) []any {
	parts := []any{k.Setup, k.installed.folders, k.InNamespace(ctx)}
	if k.compareHome(ctx) == nil { // else the run says why
		parts = append(parts, k.home.changed)
	}
	return parts
}

// lockFiles fingerprints a tree's dependencies: lock files, and the manifests' relevant parts.
func (k *Checkout) lockFiles(ctx context.Context, tree string) (string, error) {
	entries, err := k.Repo.Select(ctx, tree, k.locked)
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
