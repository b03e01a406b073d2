package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// allowRequestedChanges runs the probes, and approves changes of old tests that the task asks for.
// Pawl adapts the old tests itself; the work must pass these, without anything else that the agent
// changed. Other gate inputs never count as requested. It returns the adapted tests.
func (v *Verifier) allowRequestedChanges(ctx context.Context, r Request, o *gate.Observation) ([]testdiff.Adapted, error) {
	if err := v.runProbes(ctx, r, o); err != nil {
		return nil, err
	}
	if d := gate.Decide(*o); !d.NeedsChangedInputs || r.GatesOnly || r.Asked == "" || len(o.ChangedNonTests) > 0 {
		return nil, nil
	}
	adapted, err := v.adaptedTests(ctx, r, o.ChangedInputs)
	if err != nil {
		return nil, fmt.Errorf("adapt tests to what the task asks for: %w", err)
	}
	if len(adapted) == 0 {
		return nil, nil
	}
	tried := *o // with no probe but these
	tried.Runs, tried.WantedEvidence = maps.Clone(o.Runs), gate.Unproven
	tried.NoRatchet = tried.NoRatchet || slices.ContainsFunc(adapted, func(a testdiff.Adapted) bool { return a.Fewer || a.Path != a.Was })
	tried.RemovedTests = slices.DeleteFunc(slices.Clone(o.RemovedTests), func(file string) bool {
		return slices.ContainsFunc(adapted, func(a testdiff.Adapted) bool { return a.Was == file })
	})
	delete(tried.Runs, gate.Originals)
	with := r
	with.adapted = adapted
	if err := v.runProbes(ctx, with, &tried); err != nil {
		return nil, err
	}
	if d := gate.Decide(tried); d.NeedsChangedInputs || d.OriginalsUnknown || d.Status != gate.Pass {
		return nil, nil
	}
	for _, a := range adapted {
		if a.Path == a.Was || a.Content == nil {
			continue
		}
		if runs, err := v.gatesRun(ctx, r, o, a.Path); err != nil || !runs {
			return nil, err
		}
	}
	o.AllowTestChanges, o.ChangesRequested = true, true
	return adapted, v.runProbes(ctx, r, o)
}

// maxAdapted bounds the old test files that are adapted.
const maxAdapted = 60

// adaptedTests returns old tests adapted to the task, see testdiff.Work.
func (v *Verifier) adaptedTests(ctx context.Context, r Request, files []string) ([]testdiff.Adapted, error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxChangedFiles || len(files) > maxAdapted {
		return nil, err
	}
	var before, after []testdiff.File
	for _, file := range files {
		was, err := v.fileContent(ctx, r.ProtectedTree, file)
		if err != nil || was == nil || !IsTest(nil, file) { // from an earlier task without protected copy, or also a program
			return nil, err
		}
		before = append(before, testdiff.File{Path: file, Content: was})
	}
	for _, c := range changes {
		if !v.isTest(c.Path) || c.Status == 'D' {
			continue
		}
		is, err := v.fileContent(ctx, r.Tree, c.Path)
		if err != nil {
			return nil, err
		}
		after = append(after, testdiff.File{Path: c.Path, Content: is})
	}
	w, err := v.describeWork(ctx, r, changes)
	if err != nil {
		return nil, err
	}
	return w.Adapt(before, after), nil
}

// withAdapted returns a tree with the adapted tests.
func (v *Verifier) withAdapted(ctx context.Context, tree string, adapted []testdiff.Adapted) (string, error) {
	files, gone := map[string][]byte{}, []string{}
	for _, a := range adapted {
		if a.Content == nil || a.Path != a.Was {
			gone = append(gone, a.Was)
		}
		if a.Content != nil {
			files[a.Path] = a.Content
		}
	}
	tree, err := v.Repo.Overlay(ctx, tree, emptyTree(tree), gone)
	if err != nil || len(files) == 0 {
		return tree, err
	}
	return v.Repo.WithFiles(ctx, tree, files)
}

// gatesRun reports whether gates run a test file: they fail if it does.
func (v *Verifier) gatesRun(ctx context.Context, r Request, o *gate.Observation, file string) (bool, error) {
	text, err := v.fileContent(ctx, r.Tree, file)
	if err != nil {
		return false, err
	}
	tree, err := v.Repo.WithContent(ctx, r.Tree, map[string][]byte{file: mutant.Failing(file, text)})
	if err != nil {
		return false, err
	}
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: gate.FailingTests, tree: tree, uncached: true}
	results, err := v.runInCheckout(ctx, withMutantTimeout(r.Gates, o), w)
	return slices.ContainsFunc(results, func(r gate.Result) bool { return r.Status == gate.Fail && !r.TimedOut }), err
}

// describeWork returns what a claim did to the program, as far as tests may have to follow.
func (v *Verifier) describeWork(ctx context.Context, r Request, changes []git.Change) (testdiff.Work, error) {
	w := testdiff.Work{
		Task: r.Asked, ChangedSignatures: map[string]bool{}, RemovedParameters: map[string]int{}, RemovedNames: map[string]bool{}, AddedNames: map[string]bool{},
		VanishedNames: map[string]bool{}, Replacements: map[[2]string]bool{},
	}
	for _, c := range changes {
		if v.isTest(c.Path) {
			continue
		}
		was, err := v.fileContent(ctx, r.Base, c.Path)
		if err != nil {
			return w, err
		}
		is, err := v.fileContent(ctx, r.Tree, c.Path)
		if err != nil {
			return w, err
		}
		for _, f := range mutant.Changed(c.Path, was, is) {
			of, _, _ := strings.Cut(f.Name, ".")
			if name := mutant.BareName(f.Name); f.HeadChanged && (isNamed(name, r.Asked, 1) || isNamed(of, r.Asked, 1)) { // all methods of a type
				w.ChangedSignatures[name], w.RemovedParameters[name] = true, max(w.RemovedParameters[name], f.RemovedParameters)
			}
		}
		if c.Status == 'D' && path.Ext(c.Path) == ".go" { // a package is one folder
			if rest, err := v.Repo.Entries(ctx, r.Tree, path.Dir(c.Path)); err == nil && len(rest) == 0 {
				w.VanishedNames[path.Base(path.Dir(c.Path))] = true
			}
		}
		if !isDocument(c.Path) {
			testdiff.AddReplacements(w.Replacements, c.Path, was, is)
		}
		if !mutant.Knows(c.Path) {
			continue
		}
		for _, name := range declaredNames(c.Path, was) {
			w.RemovedNames[name], w.VanishedNames[name] = true, w.VanishedNames[name] || !isNamed(name, string(is), 1)
		}
		addNames(w.AddedNames, declaredNames(c.Path, is))
	}
	for name := range w.RemovedNames {
		if w.AddedNames[name] {
			delete(w.RemovedNames, name)
			delete(w.AddedNames, name)
		}
	}
	tests, err := v.Repo.Select(ctx, r.Tree, v.files.tests)
	if err != nil {
		return w, fmt.Errorf("list the tests: %w", err)
	}
	stand := newModuleNames(tests, changes)
	w.MayShadow = func(module string) bool { return stand[module] }
	declares := sync.OnceValue(func() func(string) bool { return v.declaredIn(ctx, r.Tree) }) // few tasks need it
	w.Declares = func(name string) bool { return declares()(name) }
	untested := sync.OnceValue(func() func(string) bool { return v.untestedNames(ctx, r, changes, w.Declares) })
	w.Untested = func(name string) bool { return untested()(name) }
	return w, nil
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

// declaredIn returns whether a program declares a name. If that cannot be read, it says yes.
func (v *Verifier) declaredIn(ctx context.Context, tree string) func(name string) bool {
	all := func(string) bool { return true }
	entries, err := v.Repo.Entries(ctx, tree)
	if err != nil {
		return all
	}
	programs := map[string]git.Entry{}
	for file, e := range entries {
		if mutant.Knows(file) && !v.isTest(file) {
			programs[file] = e
		}
	}
	if len(programs) > maxDeclaring {
		return all
	}
	texts, err := v.Repo.Contents(ctx, programs, maxDeclaring, maxTextRead)
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
// work changed it. If that cannot be read, it says yes.
func (v *Verifier) untestedNames(ctx context.Context, r Request, changes []git.Change, declares func(string) bool) func(name string) bool {
	tests, err := contentsOf(ctx, v.Repo, r.Tree, v.files.tests, maxTestsRead)
	changed := map[string]bool{}
	for _, c := range changes {
		was, wasErr := v.fileContent(ctx, r.Base, c.Path)
		is, isErr := v.fileContent(ctx, r.Tree, c.Path)
		err = cmp.Or(err, wasErr, isErr)
		for _, f := range mutant.Changed(c.Path, was, is) {
			changed[mutant.BareName(f.Name)] = true
		}
	}
	if err != nil {
		return func(string) bool { return true }
	}
	isOther := func(file string) bool {
		return slices.ContainsFunc(changes, func(c git.Change) bool { return c.Path == file })
	}
	return func(name string) bool {
		if !declares(name) {
			return false
		}
		for file, text := range tests {
			if isNamed(name, string(text), 1) && !(changed[name] && isOther(file)) {
				return false
			}
		}
		return true
	}
}
