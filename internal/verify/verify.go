// Package verify runs gates and collects what core/gate needs to decide about a claim.
//
// A gate runs in the work tree itself, so that it sees what the user's own run would see. Runs on
// another tree (old tests, or new tests on old code) use a checkout, never the user's work tree.
// A checkout may lack files that are not in git. So its results count only after a control run
// there reproduces known results.
//
// Two types do this. Verifier runs gates in the work tree and in a checkout, which internal/checkout
// makes, and caches their results. claim compares the trees of one claim, and runs the probes
// (probes.go) that its verdict needs.
//
// Results are cached by tree and command. Only pass and fail are cached; an unknown result is
// retried a bounded number of times.
package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/work"
)

// Options of a Verifier.
type Options struct {
	Root string    // where gates run: the work tree or a folder in it, absolute
	Repo *git.Repo // repository of Root; nil without git: then only Run works
	Dir  string    // a folder outside the work tree, for cached results and checkouts
	// Known is another Verifier's Dir, whose cached results are used read-only; "" = none.
	Known   string
	Env     []string // Pawl's environment, KEY=value; gates get the part that Environment allows
	UserEnv []string // added to the gates' environment: KEY=value, or KEY of Env
	Setup   []string // shell commands that prepare a fresh checkout ([worktree] setup)
	Tests   []string // globs of test files; nil = DefaultTests
	// Prefix is the argv before a gate's or setup's command that confines it; nil = unconfined.
	// Runs in checkouts stay below checkout.Folder(Dir).
	Prefix  []string
	Release func() error // called by Close; may be nil
	// Marker is the gates' value of PAWL_LOOP, "" = none.
	Marker string
	// Marks returns the paths that Pawl itself writes (plan and progress file), relative to the
	// repository; may be nil. Trees that differ only there share cached results.
	Marks func() []string
	// Loaded reports whether the machine is overloaded; nil = check. A gate that times out then
	// runs again with more time.
	Loaded func() bool
	// NoNamespace disables mount namespaces.
	NoNamespace bool
	// Watch is called when a gate begins (nil Result) and ends; may be nil.
	Watch func(Progress)
}

// Progress is one gate beginning or ending.
type Progress struct {
	Gate   string
	Probe  gate.Probe   // purpose of the run; "" = the current tree, or a baseline
	Result *gate.Result // nil while it runs
	Clean  bool         // it runs in a clean checkout, not in the work tree
}

// Verifier runs gates. Use it from one goroutine at a time: gates share the work tree and the
// machine.
type Verifier struct {
	Options
	*checkout.Checkout

	reachedWorkTree bool // a gate that ran could write to the work tree, see ReachedWorkTree
	redactor        *redact.Redactor
	unmarkedTrees   map[string]string // trees without Pawl's marks
	files           *selections
	subs            map[string]*git.Repo // opened submodules, by path
}

// New creates a Verifier. Close removes its checkout.
func New(o Options) (*Verifier, error) {
	if !filepath.IsAbs(o.Root) || !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("verify: folders must be absolute: %q, %q", o.Root, o.Dir)
	}
	if o.Tests == nil {
		o.Tests = DefaultTests()
	}
	if o.Loaded == nil {
		o.Loaded = loaded
	}
	o.UserEnv = environment.WithValues(o.Env, o.UserEnv)
	places := checkout.New(checkout.Options{
		Root: o.Root, Repo: o.Repo, Dir: o.Dir, Known: o.Known, Env: environment.ForGates(o.Env, o.UserEnv), UserEnv: o.UserEnv,
		Setup: o.Setup, Prefix: o.Prefix, Marker: o.Marker, NoNamespace: o.NoNamespace,
	})
	files := newSelections(work.CompileGlobs(o.Tests).Match)
	return &Verifier{
		Options: o, Checkout: places, redactor: redact.New(slices.Concat(o.Env, o.UserEnv)),
		unmarkedTrees: map[string]string{}, subs: map[string]*git.Repo{}, files: files,
	}, nil
}

// ReachedWorkTree reports whether a gate that ran since the last call could write to the work tree.
func (v *Verifier) ReachedWorkTree() bool {
	reached := v.reachedWorkTree
	v.reachedWorkTree = false
	return reached
}

// Close removes the checkout, and ends what confines the gates.
func (v *Verifier) Close(ctx context.Context) error {
	err := v.Checkout.Remove(ctx)
	if v.Release != nil {
		err = errors.Join(err, v.Release())
	}
	return err
}

// Run runs gates in the work tree as it is, one after another, without the cache. logDir receives
// their output, one file each; "" = nowhere. It fails only if ctx ends.
func (v *Verifier) Run(ctx context.Context, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	return v.runAll(ctx, gates, runTarget{root: v.Root, logDir: logDir})
}

// runTarget is where a gate runs, and on what.
type runTarget struct {
	root      string     // the folder above a gate's Dir
	checkout  string     // "" = the work tree; part of the cache key
	tree      string     // "" = unknown: nothing is cached
	logDir    string     // "" = no log
	probe     gate.Probe // purpose of the run
	mayHang   bool       // see probe
	uncached  bool       // a repeat: a second result, without the runner's cache
	cacheOnly bool       // it cannot run there: use cached results of any environment
}

// runAll returns one result for each gate.
func (v *Verifier) runAll(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	results := make([]gate.Result, 0, len(gates))
	for _, g := range gates {
		r, err := v.cachedOrRun(ctx, g, w)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// RunInCheckout runs gates on a tree or commit in a checkout, as for an audit. It uses cached
// results. A failure that the checkout itself may cause is Unknown.
func (v *Verifier) RunInCheckout(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	results, err := v.runInCheckout(ctx, gates, runTarget{tree: tree, logDir: logDir})
	for i := range results {
		if r := &results[i]; r.Status != gate.Pass {
			why := v.Checkout.Problem(gates[i])
			if why == "" {
				continue
			}
			if r.Status = gate.Unknown; !strings.Contains(r.Reason, why) {
				r.Reason = why + "; " + r.Reason
			}
		}
	}
	return results, err
}

func (v *Verifier) runInCheckout(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	if w.checkout == "" {
		w.checkout = checkoutPlace
	}
	if v.allCached(ctx, gates, w) { // the place need not even be made
		return v.runAll(ctx, gates, w)
	}
	var err error
	if w.root, err = v.Checkout.CheckOut(ctx, w.tree); err != nil {
		return nil, err
	}
	return v.runAll(ctx, gates, w)
}

func (v *Verifier) allCached(ctx context.Context, gates []gate.Gate, w runTarget) bool {
	n := 1
	if w.uncached {
		n = 2
	}
	return !slices.ContainsFunc(gates, func(g gate.Gate) bool { return len(v.cachedResults(ctx, g, w)) < n })
}

// cachedOrRun returns the cached result, or runs the gate.
func (v *Verifier) cachedOrRun(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	w = w.forGate(g)
	kept := v.cachedResults(ctx, g, w)
	n := 0
	if w.uncached {
		n = 1
	}
	if len(kept) > n {
		r := kept[n]
		r.Gate, r.Cached = g.Name, true
		v.report(Progress{Gate: g.Name, Probe: w.probe, Result: &r, Clean: w.checkout == cleanPlace})
		return r, nil
	}
	v.report(Progress{Gate: g.Name, Probe: w.probe, Clean: w.checkout == cleanPlace})
	r, err := v.run(ctx, g, w)
	if err != nil {
		return gate.Result{}, err
	}
	if r.Status != gate.Unknown && w.tree != "" && len(kept) == n {
		kept = append(kept, r)
		if r.TimedOutTwice { // that was its repeat, and another would take as long again
			kept = append(kept, r)
		}
		v.cacheResults(ctx, g, w, kept)
		if w.checkout == cleanPlace && !r.LeftFiles { // the next task begins from this tree
			next := w
			next.checkout = checkoutPlace
			v.cacheResults(ctx, g, next, kept[:1])
		}
	}
	v.report(Progress{Gate: g.Name, Probe: w.probe, Result: &r, Clean: w.checkout == cleanPlace})
	return r, nil
}

// forGate moves pristine gates, and those that ask git for changes, to a checkout.
func (w runTarget) forGate(g gate.Gate) runTarget {
	if NeedsCheckout(g) && w.checkout == "" {
		w.checkout, w.root, w.cacheOnly = checkoutPlace, "", false
	}
	return w
}

// NeedsCheckout reports whether a gate runs in a checkout, also where others run in the work tree.
func NeedsCheckout(g gate.Gate) bool { return g.Pristine || asksGit(g) }

// asksGit reports whether a gate asks git for uncommitted changes (git diff --exit-code after
// generating code). In a checkout the tree is committed, so that only the gate's own changes show.
func asksGit(g gate.Gate) bool { return gitChanges.MatchString(g.ShellCommand()) }

var gitChanges = regex.New(`\bgit (?:-\S+ )*(?:diff(?: -\S+)*(?: HEAD)?(?: --(?: \S+)*)?|status(?: -\S+)*|diff-index(?: -\S+)* HEAD|diff-files(?: -\S+)*)(?:\s*(?:$|[;&|)"'\n])|\s+[12]?>)`)

// run runs a gate until its result is known. If a pristine gate has no checkout, its result is
// unknown.
func (v *Verifier) run(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	switch {
	case w.checkout == cleanPlace:
		return v.runCleanGate(ctx, g, w)
	case w.root != "":
		return v.runUntilDecided(ctx, g, w)
	}
	var err error
	w.root, err = v.Checkout.CheckOutWork(ctx, w.tree)
	if ctx.Err() != nil {
		return gate.Result{}, fmt.Errorf("run gate %s: %w", g.Name, ctx.Err())
	}
	if err != nil {
		return v.unknownResult(g, w.tree, fmt.Errorf("there is no clean checkout to run it in: %w", err)), nil
	}
	return v.runUntilDecided(ctx, g, w)
}

func (v *Verifier) report(p Progress) {
	if v.Watch != nil {
		v.Watch(p)
	}
}

// runUntilDecided repeats a gate until its result is known, a bounded number of times.
func (v *Verifier) runUntilDecided(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	var tries []gate.Result
	for slow := false; gate.NeedsRetry(g, tries, slow); {
		r := v.runGate(ctx, g, w, g.RunTimeout(tries))
		if err := ctx.Err(); err != nil {
			return gate.Result{}, fmt.Errorf("run gate %s: %w", g.Name, err)
		}
		tries = append(tries, r)
		w.uncached = true
		slow = r.TimedOut && v.moreTimeHelps(w)
	}
	return gate.MergeRuns(tries), nil
}

// moreTimeHelps reports whether a gate that timed out should get more time: the machine is loaded,
// or it is the first timeout in this checkout, where nothing was built.
func (v *Verifier) moreTimeHelps(w runTarget) bool {
	switch {
	case w.mayHang: // tests that hang do not pass
		return false
	case v.Loaded():
		return true
	}
	return w.checkout != "" && v.Checkout.NoteTimeout()
}

// cacheKey hashes all that a result depends on.
func (v *Verifier) cacheKey(ctx context.Context, g gate.Gate, w runTarget) string {
	parts := []any{2, v.withoutMarks(ctx, w.tree), w.checkout, g.Command, g.Argv, g.Dir, g.Report, g.Timeout}
	if !w.cacheOnly {
		parts = append(parts, v.Checkout.Env)
	}
	if w.checkout != "" {
		parts = append(parts, v.Checkout.Fingerprint(ctx)...)
	}
	b, err := json.Marshal(parts)
	if err != nil { // strings and numbers always have a JSON form
		panic(errors.Join(errors.New("key of a gate's result"), err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// emptyTree returns the ID of git's empty tree, in the hash length of id.
func emptyTree(id string) string {
	if len(id) > 40 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// withoutMarks returns a tree without Pawl's own files, or the tree itself if git fails.
func (v *Verifier) withoutMarks(ctx context.Context, tree string) string {
	if v.Repo == nil || v.Marks == nil || tree == "" {
		return tree
	}
	marks := v.Marks()
	if len(marks) == 0 {
		return tree
	}
	memo := fmt.Sprintf("%s %q", tree, marks)
	if plain, known := v.unmarkedTrees[memo]; known {
		return plain
	}
	plain, err := v.Repo.Overlay(ctx, tree, emptyTree(tree), marks)
	if err != nil {
		return tree
	}
	v.unmarkedTrees[memo] = plain
	return plain
}
