package verify

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/canary"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// allowRequestedChanges runs the probes, and approves changes of old tests that the task asks for.
// Pawl adapts the old tests itself; the work must pass these, without anything else that the agent
// changed. Other gate inputs never count as requested: where no proof is wanted, the work must pass
// without them. It returns the adapted tests.
func (c *claim) allowRequestedChanges(ctx context.Context) ([]testdiff.Adapted, error) {
	if err := c.runProbes(ctx); err != nil {
		return nil, err
	}
	if d := gate.Decide(c.seen); !d.NeedsChangedInputs || c.GatesOnly || c.Asked == "" {
		return nil, nil
	}
	if c.seen.WantedEvidence != gate.Unproven && slices.ContainsFunc(c.seen.Inputs.NonTests, c.changedByTask) {
		return nil, nil // a proof may need them
	}
	adapted, err := c.adaptedTests(ctx)
	if err != nil {
		return nil, fmt.Errorf("adapt tests to what the task asks for: %w", err)
	}
	if len(adapted) == 0 {
		return nil, nil
	}
	tried := *c // with no probe but these
	tried.adapted = adapted
	tried.seen.Runs, tried.seen.WantedEvidence = maps.Clone(c.seen.Runs), gate.Unproven
	tried.seen.NoRatchet = c.seen.NoRatchet || slices.ContainsFunc(adapted, func(a testdiff.Adapted) bool { return a.Fewer || a.Path != a.Was })
	tried.seen.Inputs.RemovedTests = slices.DeleteFunc(slices.Clone(c.seen.Inputs.RemovedTests), func(file string) bool {
		return slices.ContainsFunc(adapted, func(a testdiff.Adapted) bool { return a.Was == file })
	})
	delete(tried.seen.Runs, gate.Originals)
	delete(tried.seen.Runs, gate.OriginalsOfTask)
	if err := tried.runProbes(ctx); err != nil {
		return nil, err
	}
	if d := gate.Decide(tried.seen); d.NeedsChangedInputs || d.OriginalsUnknown || d.Status != gate.Pass {
		return nil, nil
	}
	for _, a := range adapted {
		if a.Path == a.Was || a.Content == nil {
			continue
		}
		if runs, err := c.gatesRun(ctx, a.Path); err != nil || !runs {
			return nil, err
		}
	}
	c.seen.Inputs.Allowed, c.seen.Inputs.Requested = true, true
	return adapted, c.runProbes(ctx)
}

// changedByTask reports whether the task changed a file, not only tasks before it.
func (c *claim) changedByTask(file string) bool {
	_, found := slices.BinarySearchFunc(c.changes, file, func(ch git.Change, file string) int { return strings.Compare(ch.Path, file) })
	return found
}

// maxAdapted bounds the old test files that are adapted.
const maxAdapted = 60

// adaptedTests returns old tests adapted to the task, see testdiff.Work.
func (c *claim) adaptedTests(ctx context.Context) ([]testdiff.Adapted, error) {
	if len(c.changes) > maxCompared || len(c.seen.Inputs.Changed) > maxAdapted {
		return nil, nil
	}
	var before, earlier, after []testdiff.File // earlier tasks' tests are among the originals as this task found them
	for _, file := range c.seen.Inputs.Changed {
		i := slices.IndexFunc(c.changes, func(ch git.Change) bool { return ch.Path == file })
		if i < 0 || slices.Contains(c.seen.Inputs.NonTests, file) {
			continue // an earlier task's change: the originals have the protected copy, or none
		}
		was, err := c.fileContent(ctx, c.ProtectedTree, file)
		if err != nil || !IsTest(nil, file) { // it may also be a program
			return nil, err
		}
		if was == nil {
			was, err = c.fileContent(ctx, c.Base, file)
			earlier = append(earlier, testdiff.File{Path: file, Content: was})
		}
		if err != nil || was == nil {
			if c.changes[i].Status == 'A' {
				continue // no run with the originals has it
			}
			return nil, err
		}
		before = append(before, testdiff.File{Path: file, Content: was})
	}
	for _, ch := range c.changes {
		if !c.isTest(ch.Path) || ch.Status == 'D' {
			continue
		}
		is, err := c.fileContent(ctx, c.Tree, ch.Path)
		if err != nil {
			return nil, err
		}
		after = append(after, testdiff.File{Path: ch.Path, Content: is})
	}
	w, err := c.describeWork(ctx)
	if err != nil {
		return nil, err
	}
	adapted := w.Adapt(before, after)
	for _, f := range earlier {
		wanted := []testdiff.File{f}
		if slices.ContainsFunc(adapted, func(a testdiff.Adapted) bool { return a.Was == f.Path }) {
			wanted = nil
		}
		for _, a := range adapted {
			if a.Was == f.Path {
				wanted = append(wanted, a.File)
			}
		}
		for _, old := range wanted {
			is, err := c.fileContent(ctx, c.Tree, old.Path)
			if err != nil || old.Content != nil && !testdiff.Extends(old, testdiff.File{Path: old.Path, Content: is}) {
				return nil, err // it says less, and no protected copy will
			}
		}
	}
	return adapted, nil
}

// withAdapted returns a tree with the adapted tests.
func (c *claim) withAdapted(ctx context.Context, tree string) (string, error) {
	files, gone := map[string][]byte{}, []string{}
	for _, a := range c.adapted {
		if a.Content == nil || a.Path != a.Was {
			gone = append(gone, a.Was)
		}
		if a.Content != nil {
			files[a.Path] = a.Content
		}
	}
	tree, err := c.Repo.Overlay(ctx, tree, emptyTree(tree), gone)
	if err != nil || len(files) == 0 {
		return tree, err
	}
	return c.Repo.WithFiles(ctx, tree, files)
}

// gatesRun reports whether gates run the tests of a file: they fail if one that must fail is among them.
// Where none can be laid, the file as a whole fails, also if another only loads it.
func (c *claim) gatesRun(ctx context.Context, file string) (bool, error) {
	text, err := c.fileContent(ctx, c.Tree, file)
	if err != nil {
		return false, err
	}
	failing := map[string][]byte{file: mutant.Failing(file, text)}
	if laid, ok := canary.New(file, text, "a"+strings.ToLower(rand.Text())[:9]); ok && laid.WithTests != nil {
		failing = map[string][]byte{laid.Path: laid.WithTests}
	}
	tree, err := c.Repo.WithFiles(ctx, c.Tree, failing)
	if err != nil {
		return false, err
	}
	w := runTarget{root: c.Root, logDir: c.LogDir, probe: gate.FailingTests, tree: tree, uncached: true}
	results, err := c.runInCheckout(ctx, c.withMutantTimeout(c.Gates), w)
	return slices.ContainsFunc(results, func(res gate.Result) bool { return res.Status == gate.Fail && !res.TimedOut }), err
}

// describeWork returns what a claim did to the program, as far as tests may have to follow.
func (c *claim) describeWork(ctx context.Context) (testdiff.Work, error) {
	w := testdiff.Work{
		Task: c.Asked, ChangedSignatures: map[string]bool{}, RemovedParameters: map[string]int{}, RemovedNames: map[string]bool{}, AddedNames: map[string]bool{},
		VanishedNames: map[string]bool{}, Replacements: map[[2]string]bool{}, ProgramWords: map[string]bool{}, NewFiles: map[string]bool{},
	}
	rules, err := c.rules()
	if err != nil {
		return w, err
	}
	for _, ch := range c.changes {
		if ch.Status == 'A' {
			w.NewFiles[ch.Path] = true
		}
		if c.isTest(ch.Path) {
			continue
		}
		was, is, err := c.texts(ctx, ch.Path)
		if err != nil {
			return w, err
		}
		c.addSignatures(w, ch.Path, was, is)
		if err := c.addModule(ctx, w, ch); err != nil {
			return w, err
		}
		if !isDocument(ch.Path) || rules.IsProgramText(ch.Path) {
			testdiff.AddReplacements(w.Replacements, ch.Path, was, is)
			maps.Copy(w.ProgramWords, testdiff.Words(string(is)))
		}
		if !mutant.Knows(ch.Path) {
			continue
		}
		for _, name := range slices.Concat(declaredNames(ch.Path, was), mutant.Attributes(ch.Path, was)) {
			w.RemovedNames[name], w.VanishedNames[name] = true, w.VanishedNames[name] || !isNamed(name, string(is), 1)
		}
		addNames(w.AddedNames, slices.Concat(declaredNames(ch.Path, is), mutant.Attributes(ch.Path, is)))
	}
	for name := range w.RemovedNames {
		if w.AddedNames[name] {
			delete(w.RemovedNames, name)
			delete(w.AddedNames, name)
		}
	}
	tests, err := c.Repo.Select(ctx, c.Tree, c.files.tests)
	if err != nil {
		return w, fmt.Errorf("list the tests: %w", err)
	}
	stand := newModuleNames(tests, c.changes)
	w.MayShadow, w.Declares = func(module string) bool { return stand[module] }, c.declares
	untested := sync.OnceValue(func() func(string) bool { return c.untestedNames(ctx) }) // few tasks need it
	w.Untested = func(name string) bool { return untested()(name) }
	return w, nil
}

// addModule adds the name of a module, which is the folder's in Go, that appears or vanishes with a file.
func (c *claim) addModule(ctx context.Context, w testdiff.Work, ch git.Change) error {
	if !mutant.Knows(ch.Path) || ch.Status != 'A' && ch.Status != 'D' {
		return nil
	}
	name, _, _ := strings.Cut(path.Base(ch.Path), ".")
	if path.Ext(ch.Path) == ".go" {
		if name = path.Base(path.Dir(ch.Path)); name == "." { // its package has no folder's name
			return nil
		}
		tree := map[byte]string{'A': c.Base, 'D': c.Tree}[ch.Status]
		if rest, err := c.Repo.Entries(ctx, tree, path.Dir(ch.Path)); err != nil || len(rest) > 0 {
			return err
		}
	}
	if ch.Status == 'A' {
		w.AddedNames[name] = true
	} else {
		w.RemovedNames[name], w.VanishedNames[name] = true, true
	}
	return nil
}

// addSignatures adds the functions and types of a file that the task names, and that are called or
// made with something else now.
func (c *claim) addSignatures(w testdiff.Work, file string, was, is []byte) {
	add := func(name string, removed int) {
		w.ChangedSignatures[name], w.RemovedParameters[name] = true, max(w.RemovedParameters[name], removed)
	}
	for _, f := range mutant.Changed(file, was, is) {
		of, _, _ := strings.Cut(f.Name, ".")
		if name := mutant.BareName(f.Name); f.HeadChanged && (isNamed(name, c.Asked, 1) || isNamed(of, c.Asked, 1)) { // all methods of a type
			add(name, f.RemovedParameters)
		}
	}
	made := mutant.Constructors(file, is)
	for name, from := range mutant.Constructors(file, was) {
		if now, stays := made[name]; stays && !slices.Equal(from, now) && isNamed(name, c.Asked, 1) {
			add(name, len(from)-len(now))
		}
	}
}

func addNames(names map[string]bool, more []string) {
	for _, name := range more {
		names[name] = true
	}
}

// declaredNames returns the names of a program's functions, types and values.
func declaredNames(file string, content []byte) []string {
	names := slices.Concat(sign.Exported(file, content), mutant.Declared(file, nil, content))
	for _, f := range mutant.Changed(file, nil, content) {
		names = append(names, mutant.BareName(f.Name))
	}
	return names
}

// newModuleNames returns the module names of tests and new files: neither imported before, nor a
// library.
func newModuleNames(tests map[string]git.Entry, changes []git.Change) map[string]bool {
	files := slices.Collect(maps.Keys(tests))
	for _, c := range changes {
		if c.Status == 'A' {
			files = append(files, c.Path)
		}
	}
	names := map[string]bool{}
	for _, file := range files {
		base, _, _ := strings.Cut(path.Base(file), ".")
		addNames(names, append(strings.Split(path.Dir(file), "/"), base))
	}
	return names
}

// maxDeclaring bounds the files read for the names that they declare or contain.
const maxDeclaring = 2000

// declaredIn returns whether the program declares a name. If that cannot be read, it says yes.
func (c *claim) declaredIn(ctx context.Context) func(name string) bool {
	all := func(string) bool { return true }
	entries, err := c.Repo.Entries(ctx, c.Tree)
	if err != nil {
		return all
	}
	programs := map[string]git.Entry{}
	for file, e := range entries {
		if mutant.Knows(file) && !c.isTest(file) {
			programs[file] = e
		}
	}
	if len(programs) > maxDeclaring {
		return all
	}
	texts, err := c.Repo.Contents(ctx, programs, maxDeclaring, maxTextRead)
	if err != nil {
		return all
	}
	known := map[string]bool{}
	for file, text := range texts {
		addNames(known, declaredNames(file, text))
	}
	return func(name string) bool { return known[name] }
}

// untestedNames returns whether a program declares a name and no old test mentions it, where the
// work changed it: one that stands as it was, also beside new tests in its file. If that cannot be read, it
// says yes.
func (c *claim) untestedNames(ctx context.Context) func(name string) bool {
	tests, err := contentsOf(ctx, c.Repo, c.Tree, c.files.tests, maxTestsRead)
	changed, old := map[string]bool{}, map[string][]byte{}
	for _, f := range changedFunctions(c.signs.changed) {
		changed[mutant.BareName(f.Name)] = true
	}
	for _, ch := range c.changes {
		if !c.isTest(ch.Path) {
			continue
		}
		was, is, readErr := c.texts(ctx, ch.Path)
		err = cmp.Or(err, readErr)
		if testdiff.Extends(testdiff.File{Path: ch.Path, Content: was}, testdiff.File{Path: ch.Path, Content: is}) {
			old[ch.Path] = was
		}
	}
	if err != nil {
		return func(string) bool { return true }
	}
	return func(name string) bool {
		if !c.declares(name) {
			return false
		}
		for file, text := range tests {
			if changed[name] && c.changedByTask(file) {
				text = old[file]
			}
			if isNamed(name, string(text), 1) {
				return false
			}
		}
		return true
	}
}
