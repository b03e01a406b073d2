package verify

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/work"
)

// maxChangedFiles bounds the changed files of a claim that are read. A larger change is not one
// task's work.
const maxChangedFiles = 200

// mutableFunctions names the added or changed functions, and reports whether mutants tell more than
// the baseline run. If functions were only changed, the tests failed with the old ones already.
// That failure proves nothing if it is for want of a new name or parameter, or if data changed that
// a gate may read.
func (v *Verifier) mutableFunctions(ctx context.Context, r Request) (names []string, ok bool, err error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxChangedFiles {
		return nil, false, err
	}
	changed, _, err := v.changedFunctions(ctx, ProofRequest{Before: r.Base, After: r.Tree})
	ok = slices.ContainsFunc(changes, func(c git.Change) bool { return v.isUnchangedData(r, c) })
	for _, f := range changed {
		names = append(names, f.Name+" in "+f.Path)
		ok = ok || f.New || f.ParametersChanged
	}
	if ok || err != nil || len(changed) == 0 {
		return names, ok && len(changed) > 0, err
	}
	tests, err := v.compareTests(ctx, r)
	if err == nil {
		ok, err = v.testsNameAdded(ctx, r, tests.newOrChanged)
	}
	return names, ok, err
}

// mutatedTree returns the current tree without the effect of the work. Changed functions are
// restored, added ones return zero values.
// A file with other changes reverts as a whole, so that a test which these turned green fails. If
// tests name an addition, or are in the same file, only functions are mutated: the tests would not
// build.
// Unrequested changes of data stay, so that a test which only they turned green passes. Manifests
// stay for the build. Mutants in plan.skipped are omitted.
func (v *Verifier) mutatedTree(ctx context.Context, r Request, b mutationPlan) (tree string, done mutationPlan, err error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return "", b, err
	}
	compared, err := v.compareTests(ctx, r)
	if err != nil {
		return "", b, err
	}
	named, err := v.testsNameAdded(ctx, r, compared.newOrChanged)
	if err != nil {
		return "", b, err
	}
	b.restoredOld, b.mutated = true, nil
	if b.noFileReverts = b.noFileReverts || named || compared.inlineChanged; b.noFileReverts {
		if b.uncallable, err = v.uncallableOld(ctx, r, compared.newOrChanged); err != nil {
			return "", b, err
		}
	}
	helpers, err := v.assertHelpers(ctx, r.Tree, changes)
	if err != nil {
		return "", b, err
	}
	var back []string
	files := map[string][]byte{}
	for _, c := range changes {
		if helpers[c.Path] || v.isTest(c.Path) || v.isMark(c.Path) || v.isUnchangedData(r, c) || slices.Contains(compared.inputs, c.Path) || work.IsManifest(c.Path) {
			continue
		}
		if asks, err := v.hasSessionExample(ctx, r, c); err != nil {
			return "", b, err
		} else if asks {
			continue
		}
		text, ok, err := v.mutateFile(ctx, r, c, &b)
		if err != nil {
			return "", b, err
		}
		switch {
		case ok:
			files[c.Path] = text
		case c.Status == 'D' && b.skipped[c.Path]:
		default:
			back = append(back, c.Path)
		}
		if c.Status == 'D' {
			b.mutated = append(b.mutated, mutatedSpan{file: path.Base(c.Path), to: math.MaxInt, key: c.Path})
		}
	}
	if tree, err = v.Repo.Overlay(ctx, r.Tree, r.Base, back); err != nil {
		return "", b, err
	}
	tree, err = v.Repo.WithContent(ctx, tree, files)
	return tree, b, err
}

// isUnchangedData reports whether a change is of data that stays in a mutated tree.
func (v *Verifier) isUnchangedData(r Request, c git.Change) bool {
	return !v.isTest(c.Path) && !v.isMark(c.Path) && unaskedData(r.Asked, c)
}

// hasSessionExample reports whether a document contains examples (>>>) that a gate may run as
// tests.
func (v *Verifier) hasSessionExample(ctx context.Context, r Request, c git.Change) (bool, error) {
	if c.Status == 'D' || !isFile(c.To) || !slices.Contains([]string{".md", ".rst", ".txt"}, path.Ext(c.Path)) {
		return false, nil
	}
	text, err := v.Repo.Show(ctx, r.Tree, c.Path)
	return err == nil && strings.Contains(string(text), ">>> "), err
}

// testsNameAdded reports whether test files mention a name that the work added: a function,
// constant, type or module.
func (v *Verifier) testsNameAdded(ctx context.Context, r Request, tests []string) (bool, error) {
	added, err := v.addedNames(ctx, r)
	if err != nil || len(added) == 0 {
		return false, err
	}
	for _, file := range tests {
		text, err := v.Repo.Show(ctx, r.Tree, file)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(added, func(name string) bool { return mutant.Names(string(text), name) }) {
			return true, nil
		}
	}
	return false, nil
}

// addedNames returns the names that the work added to the program.
func (v *Verifier) addedNames(ctx context.Context, r Request) ([]string, error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range changes {
		if !v.isProgram(c) {
			continue
		}
		before, after, err := contents(ctx, v.Repo, c)
		if err != nil {
			return nil, err
		}
		names = append(names, mutant.Declared(c.Path, before, after)...)
		for _, f := range mutant.Changed(c.Path, before, after) {
			if f.New || f.ParametersChanged {
				names = append(names, f.Name)
			}
		}
		if c.Status == 'A' && path.Ext(c.Path) != ".go" {
			names = append(names, strings.TrimSuffix(path.Base(c.Path), path.Ext(c.Path)))
		}
	}
	return names, nil
}

// uncallableOld returns the functions that old text cannot call, see mutant.Misfits.
func (v *Verifier) uncallableOld(ctx context.Context, r Request, tests []string) (map[string]bool, error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	for _, file := range tests {
		text, err := v.Repo.Show(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		all.Write(text)
	}
	found := map[string]bool{}
	for _, c := range changes {
		if v.isTest(c.Path) || !mutant.Knows(c.Path) {
			continue
		}
		before, after, err := contents(ctx, v.Repo, c)
		if err != nil {
			return nil, err
		}
		for _, name := range mutant.UncallableOld(c.Path, before, after, all.String()) {
			found[name] = true
		}
	}
	return found, nil
}

// mutationPlan says which mutants to place, and records those placed.
type mutationPlan struct {
	uncallable map[string]bool // names that old text cannot call
	skipped    map[string]bool // keys of omitted mutants, see skipUnbuildable
	// noFileReverts: no file reverts as a whole, unless one of its functions cannot be mutated.
	noFileReverts bool
	restoredOld   bool          // each mutant so far restores old code
	mutated       []mutatedSpan // where the mutants are
}

// mutatedSpan is the place of a mutated function in its file.
type mutatedSpan struct {
	file     string // base name, as some compilers print it
	from, to int    // lines
	key      string // independent of other mutants; the path of a reverted file
	old      bool   // it is the old text
}

// mutateFile returns a file with each added or changed function mutated. It returns false for a
// file that must revert: it has other changes, and tests name no addition.
func (v *Verifier) mutateFile(ctx context.Context, r Request, c git.Change, b *mutationPlan) ([]byte, bool, error) {
	if c.Status == 'D' || !isFile(c.To) {
		return nil, false, nil
	}
	before, after, err := contents(ctx, v.Repo, c)
	if err != nil {
		return nil, false, err
	}
	var ways [][]mutant.Mutant
	ok := true
	if b.noFileReverts {
		ways, ok = mutant.MutateAll(c.Path, before, after, b.uncallable)
	} else if mutant.OnlyFunctionsChanged(c.Path, testdiff.Program(c.Path, before), testdiff.Program(c.Path, after)) {
		for _, f := range mutant.Changed(c.Path, before, after) {
			ways = append(ways, f.Alternatives())
		}
	} else {
		return nil, false, nil
	}
	key := func(m mutant.Mutant) string { return fmt.Sprint(c.Path, ":", m.Line(after), " ", m.Kind) }
	var all []mutant.Mutant
	for _, alternatives := range ways {
		if i := slices.IndexFunc(alternatives, func(m mutant.Mutant) bool { return !b.skipped[key(m)] }); i >= 0 {
			all = append(all, alternatives[i])
		}
	}
	for _, m := range mutant.Place(after, all...) {
		b.mutated = append(b.mutated, mutatedSpan{path.Base(c.Path), m.From, m.To, key(m.Mutant), m.Kind == mutant.Old})
		b.restoredOld = b.restoredOld && m.Kind == mutant.Old
	}
	return mutant.Apply(after, all...), ok, nil
}

// maxBuilds bounds the mutated trees that are tried until one builds.
const maxBuilds = 5

// runMutants runs gates on the mutated tree until it builds. First it stops reverting whole files.
// Then it tries another mutant at each line with a compiler error, or leaves that function whole.
func (v *Verifier) runMutants(ctx context.Context, r Request, w runTarget, run func(runTarget) ([]gate.Result, error)) (gate.Run, error) {
	next := mutationPlan{skipped: map[string]bool{}}
	for n := 1; ; n++ {
		tree, b, err := v.mutatedTree(ctx, r, next)
		if err != nil {
			return gate.Run{}, err
		}
		if tree == r.Tree {
			return gate.Run{NothingBuilt: true}, nil
		}
		w.tree = tree
		results, err := run(w)
		unbuilt := slices.ContainsFunc(results, func(r gate.Result) bool { return r.BuildFailed })
		switch {
		case err != nil || n == maxBuilds:
			return gate.Run{Results: results, RestoredOld: b.restoredOld}, err
		case unbuilt && !b.noFileReverts:
			next.noFileReverts = true
		case !b.skipUnbuildable(results):
			return gate.Run{Results: results, RestoredOld: b.restoredOld}, nil
		}
	}
}

// skipUnbuildable adds mutants and reverted files at the places of compiler errors to skipped. Old
// text also counts for an error elsewhere in its file, such as an unused import. It reports whether
// it added any.
func (b mutationPlan) skipUnbuildable(results []gate.Result) bool {
	known := len(b.skipped)
	for _, r := range results {
		if r.Status != gate.Fail || len(r.Failing) > 0 && !r.BuildFailed {
			continue
		}
		for line := range strings.Lines(r.Head + "\n" + r.Tail) {
			m := sourceLine.FindStringSubmatch(line)
			if m == nil || strings.Contains(line, "warning: ") || !r.BuildFailed && !strings.Contains(line, "-->") && !strings.Contains(line, "error") {
				continue
			}
			at, _ := strconv.Atoi(m[2]) // digits
			in := slices.DeleteFunc(slices.Clone(b.mutated), func(p mutatedSpan) bool { return p.file != m[1] })
			there := func(p mutatedSpan) bool { return p.from <= at && at <= p.to }
			for _, p := range in {
				if there(p) || p.old && !slices.ContainsFunc(in, there) {
					b.skipped[p.key] = true
				}
			}
		}
	}
	return len(b.skipped) > known
}

// sourceLine matches a compiler's place: src/ring.rs:64:103, Ring.java:64, ring.ts(64,2).
var sourceLine = regex.New(`([\w.-]+\.\w+)[:(](\d+)`)

// gateDuration returns how long a gate ran.
func gateDuration(results []gate.Result, name string) time.Duration {
	i := slices.IndexFunc(results, func(r gate.Result) bool { return r.Gate == name })
	if i < 0 {
		return 0
	}
	return results[i].Duration
}
