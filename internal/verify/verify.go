// Package verify runs gates and collects what core/gate needs to judge a claim.
//
// A gate runs in the work tree itself, so that it sees what the user's own
// run would see. Whatever needs another tree than the one at hand (the tests as
// they were, the new tests laid over the tree of before) runs in a worktree of
// its own, never in the user's; and because such a place may lack what is not
// in git, nothing seen there counts until a control run there shows what is
// known to be so.
//
// Results are kept by tree and command: the same question is not asked twice.
// Only what a gate said for certain is kept; when it could not tell, it is asked
// again, a bounded number of times.
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

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/work"
)

// Options of a Verifier.
type Options struct {
	Root string    // where gates run: the work tree or a folder in it, absolute
	Repo *git.Repo // the repository of Root; nil without git: then only Run works
	Dir  string    // a folder of Pawl's own, outside the work tree, for kept results and worktrees
	// Known is the Dir of another Verifier, whose kept results are used too and
	// left as they are; "" = nobody's.
	Known string
	Env   []string // Pawl's own environment, KEY=value; gates get what Environment leaves of it
	Set   []string // added to the gates' environment: settings, KEY=value, or KEY of Env
	Setup []string // shell commands that make a fresh worktree ready ([worktree] setup)
	Tests []string // globs of test files; nil = DefaultTests
	// Prefix is the argv put before a gate's, and that of the set-up: what confines
	// them; nil = nothing does. What runs elsewhere than in Root runs in a folder
	// below Elsewhere(Dir).
	Prefix  []string
	Release func() error // called by Close; nil = nothing is
	// Marker is the value of PAWL_LOOP for the gates' processes, "" = none.
	Marker string
	// Marks are the paths that Pawl itself writes in the work tree (the plan and
	// the progress file beside it), relative to the repository; nil = none. Two
	// trees that differ in them alone are the same question.
	Marks func() []string
	// Loaded reports whether the machine has clearly more to do than it can; nil = the
	// machine is asked. A gate that times out then is run once more, with more time.
	Loaded func() bool
	// ByFolder has the isolated checkout do without mount namespaces, as where there are none.
	ByFolder bool
	// Watch is told when a gate begins (nil result) and ends; nil = nobody is.
	Watch func(Progress)
}

// Progress is one gate beginning or ending.
type Progress struct {
	Gate   string
	Probe  gate.Probe   // what the run is for; "" = the tree of now, or a baseline
	Result *gate.Result // nil while it runs
}

// Verifier runs gates. Its methods are for one goroutine at a time: gates share
// the work tree and the machine.
type Verifier struct {
	Options
	env       []string
	redactor  *redact.Redactor
	place     *place
	carries   carrying           // what a checkout gets of the installed dependencies
	homeNow   *homeNow           // what of the home is as it was; nil = not known yet
	namespace *confine.Namespace // nil = not looked for yet
	named     []string           // changed settings
	plain     map[string]string  // trees without Pawl's marks
	testGlobs work.Globs         // Tests, made ready
	files     *selections
	subs      map[string]*git.Repo // submodules that were looked into, by path
}

// New makes a Verifier. Close removes its worktree.
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
	o.Set = withValues(o.Env, o.Set)
	tests := work.NewGlobs(o.Tests)
	return &Verifier{
		Options: o, env: Environment(o.Env, o.Set), redactor: redact.New(slices.Concat(o.Env, o.Set)),
		plain: map[string]string{}, subs: map[string]*git.Repo{}, testGlobs: tests, files: newSelections(tests.Match),
	}, nil
}

// Path is the PATH that gates have.
func (v *Verifier) Path() string {
	for _, kv := range v.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			return path
		}
	}
	return ""
}

// Close removes the worktree, if one was made, and ends what confines the gates.
func (v *Verifier) Close(ctx context.Context) error {
	var removed, released error
	if v.place != nil {
		removed = v.leave(ctx)
	}
	if v.Release != nil {
		released = v.Release()
	}
	return errors.Join(removed, released)
}

// leave removes the worktree.
func (v *Verifier) leave(ctx context.Context) error {
	p := v.place
	v.place = nil
	p.setUp.remove()
	return p.tree.Remove(ctx)
}

// Run runs gates in the work tree as it is, one after another, using no kept
// result. logDir receives their output, one file each; "" = nowhere. An error
// means that ctx ended.
func (v *Verifier) Run(ctx context.Context, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	return v.all(ctx, gates, runTarget{root: v.Root, logDir: logDir})
}

// runTarget a gate runs, and on what.
type runTarget struct {
	root     string     // folder that a gate's Dir is below
	place    string     // "" = the work tree; otherwise part of the key of kept results
	tree     string     // "" = not known: nothing is kept
	logDir   string     // "" = output is kept nowhere
	probe    gate.Probe // what for
	uncached bool       // a repeat: a second result, from a run that uses no cache of the runner's
	gone     bool       // nothing can be run there any more: what is kept will do, whatever environment it is of
}

// all gives one result for each gate.
func (v *Verifier) all(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	results := make([]gate.Result, 0, len(gates))
	for _, g := range gates {
		r, err := v.result(ctx, g, w)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// result is the kept one, or that of a run.
func (v *Verifier) result(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	w = w.of(g)
	kept := v.cachedResults(v.key(ctx, g, w))
	n := 0
	if w.uncached {
		n = 1
	}
	if len(kept) > n {
		r := kept[n]
		r.Gate, r.Cached = g.Name, true
		v.tell(Progress{Gate: g.Name, Probe: w.probe, Result: &r})
		return r, nil
	}
	v.tell(Progress{Gate: g.Name, Probe: w.probe})
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
		if w.place == cleanly && !r.LeftFiles { // the next task begins from this tree
			w.place = "worktree"
			v.cacheResults(ctx, g, w, kept[:1])
		}
	}
	v.tell(Progress{Gate: g.Name, Probe: w.probe, Result: &r})
	return r, nil
}

// of is where a gate runs: a pristine one never in the work tree.
func (w runTarget) of(g gate.Gate) runTarget {
	if (g.Pristine || asksGit(g)) && w.place == "" {
		w.place, w.root, w.gone = "worktree", "", false
	}
	return w
}

// asksGit reports whether a gate asks git what is not committed (git diff --exit-code,
// after code was generated). In a checkout the tree that is judged is committed, so that
// it sees what the gate itself changes; in the work tree it would see all of the work.
func asksGit(g gate.Gate) bool { return gitChanges.MatchString(g.ShellCommand()) }

var gitChanges = regex.New(`\bgit (?:-\S+ )*(?:diff(?: -\S+)*(?: HEAD)?(?: --(?: \S+)*)?|status(?: -\S+)*|diff-index(?: -\S+)* HEAD|diff-files(?: -\S+)*)(?:\s*(?:$|[;&|)"'\n])|\s+[12]?>)`)

// run runs a gate until it has told. That there is no clean place for a pristine
// one says nothing of the work.
func (v *Verifier) run(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	switch {
	case w.place == cleanly:
		return v.runCleanUntilDecided(ctx, g, w)
	case w.root != "":
		return v.runUntilDecided(ctx, g, w)
	}
	clean, err := v.clean(ctx, w.tree)
	if ctx.Err() != nil {
		return gate.Result{}, fmt.Errorf("run gate %s: %w", g.Name, ctx.Err())
	}
	if err != nil {
		return gate.Result{
			Gate: g.Name, Command: plan(g, false).shown, Status: gate.Unknown, ExitCode: -1, Tree: w.tree,
			Reason: "there is no clean checkout to run it in: " + v.redactor.String(err.Error()),
		}, nil
	}
	w.root = clean.root
	return v.runUntilDecided(ctx, g, w)
}

// clean is a clean checkout of a tree; of that in the work tree if none is named.
func (v *Verifier) clean(ctx context.Context, tree string) (runTarget, error) {
	if tree == "" && v.Repo != nil {
		var err error
		if tree, _, err = v.Repo.Snapshot(ctx); err != nil {
			return runTarget{}, err
		}
	}
	return v.at(ctx, tree)
}

func (v *Verifier) tell(p Progress) {
	if v.Watch != nil {
		v.Watch(p)
	}
}

// runUntilDecided runs a gate until it has told, a bounded number of times.
func (v *Verifier) runUntilDecided(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	var tries []gate.Result
	for slow := false; gate.NeedsRetry(g, tries, slow); {
		r := v.once(ctx, g, w, g.RunTimeout(tries))
		if err := ctx.Err(); err != nil {
			return gate.Result{}, fmt.Errorf("run gate %s: %w", g.Name, err)
		}
		tries = append(tries, r)
		w.uncached = true
		slow = r.TimedOut && v.slow(w)
	}
	return gate.MergeRuns(tries), nil
}

// misleads reports whether a run is of code or tests that were made wrong on purpose, or of new tests
// on code that was not written for them: any of these may go on for ever.
func misleads(p gate.Probe) bool {
	switch p {
	case gate.Overlay, gate.RepeatOverlay, gate.Mutants, gate.MutantsForNewTests, gate.ZeroParameters, gate.SingleMutants, gate.SignsNeutralized, gate.SignsOneByOne, gate.OtherExpected, gate.OtherInputs, gate.MixedInputs, gate.CloseInputs, gate.CloserInputs:
		return true
	}
	return false
}

// slow reports whether more time may help a gate that timed out: the machine is loaded,
// or it is the first one to do so in a place of ours, where nothing was built before.
func (v *Verifier) slow(w runTarget) bool {
	switch {
	case misleads(w.probe): // tests that hang do not pass
		return false
	case v.Loaded():
		return true
	case w.place == "" || v.place == nil || v.place.timedOut:
		return false
	}
	v.place.timedOut = true
	return true
}

// key names what a result depends on.
func (v *Verifier) key(ctx context.Context, g gate.Gate, w runTarget) string {
	parts := []any{2, v.unmarked(ctx, w.tree), w.place, g.Command, g.Argv, g.Dir, g.Report, g.Timeout}
	if !w.gone {
		parts = append(parts, v.env)
	}
	if w.place != "" {
		parts = append(parts, v.Setup, v.carries.folders, v.inNamespace(ctx))
		if v.recordHome(ctx) == nil { // else the run says why
			parts = append(parts, v.homeNow.changed)
		}
	}
	b, err := json.Marshal(parts)
	if err != nil { // strings and numbers always have a JSON form
		panic(errors.Join(errors.New("key of a gate's result"), err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// emptyTree is the id of the tree with nothing in it, which git knows without
// being told, in a repository of ids as long as this one.
func emptyTree(id string) string {
	if len(id) > 40 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// unmarked is a tree without what Pawl itself writes. A tree that cannot be
// asked for stands for itself: then a question may be asked twice.
func (v *Verifier) unmarked(ctx context.Context, tree string) string {
	if v.Repo == nil || v.Marks == nil || tree == "" {
		return tree
	}
	marks := v.Marks()
	if len(marks) == 0 {
		return tree
	}
	memo := fmt.Sprintf("%s %q", tree, marks)
	if plain, known := v.plain[memo]; known {
		return plain
	}
	plain, err := v.Repo.Overlay(ctx, tree, emptyTree(tree), marks)
	if err != nil {
		return tree
	}
	v.plain[memo] = plain
	return plain
}
