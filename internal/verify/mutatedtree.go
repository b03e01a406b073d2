package verify

import (
	"bytes"
	"context"
	"fmt"
	"maps"
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

// mutableFunctions names the added or changed functions, and reports whether mutants tell more than
// the baseline run. If functions were only changed, the tests failed with the old ones already.
// That failure proves nothing if it is for want of a new name or parameter, or if data changed that
// a gate may read.
func (c *claim) mutableFunctions(ctx context.Context, work []git.Change) (names []string, ok bool, err error) {
	changed := changedFunctions(slices.DeleteFunc(c.programs(), func(f changedFile) bool { return !slices.Contains(work, f.Change) }))
	ok = slices.ContainsFunc(c.work, func(ch git.Change) bool { return unaskedData(c.Asked, ch) })
	for _, f := range changed {
		names = append(names, f.Name+" in "+f.Path)
		ok = ok || f.New || f.ParametersChanged
	}
	if !ok && len(changed) > 0 {
		ok, err = c.testsNameAdded(ctx)
	}
	return names, ok && len(changed) > 0, err
}

// mutatedTree returns the current tree without the effect of the work. Changed functions are
// restored, added ones return zero values.
// A file with other changes reverts as a whole, so that a test which these turned green fails. If
// tests name an addition, or are in the same file, only functions are mutated: the tests would not
// build.
// Unrequested changes of data stay, so that a test which only they turned green passes, and so do new
// outputs that git compares. Manifests
// and lock files stay for the build, and so do new sources in the lists of Makefiles. Mutants in plan.skipped are omitted.
func (c *claim) mutatedTree(ctx context.Context, b mutationPlan) (tree string, done mutationPlan, err error) {
	named, err := c.testsNameAdded(ctx)
	if err != nil {
		return "", b, err
	}
	b.restoredOld, b.reverted, b.mutated = true, false, nil
	b.noFileReverts = b.noFileReverts || named || c.tests.inlineChanged
	if b.uncallable, err = c.uncallableOld(ctx); err != nil {
		return "", b, err
	}
	var back []string
	var lists []git.Change
	files := map[string][]byte{}
	undone := slices.DeleteFunc(slices.Clone(c.mutable), func(ch git.Change) bool {
		return unaskedData(c.Asked, ch) || c.gitCompares(ch) || work.IsManifest(ch.Path) || work.IsLockFile(ch.Path)
	})
	err = eachText(ctx, c.Repo, undone, func(ch changedFile) error {
		if hasSessionExample(ch.Path, ch.after) {
			return nil
		}
		if ch.Status == 'M' && work.ListsSources(ch.Path) {
			lists = append(lists, ch.Change)
			return nil
		}
		text, ok := b.mutateFile(ch)
		switch {
		case ok:
			files[ch.Path] = text
		case ch.Status == 'D' && b.skipped[ch.Path], ch.Status != 'D' && b.keepUnmutable:
		default:
			back = append(back, ch.Path)
			b.reverted = b.reverted || ch.Status != 'D'
		}
		if ch.Status == 'D' {
			b.mutated = append(b.mutated, mutatedSpan{file: path.Base(ch.Path), to: math.MaxInt, key: ch.Path})
		}
		return nil
	})
	if err != nil {
		return "", b, err
	}
	if tree, err = c.Repo.Overlay(ctx, c.Tree, c.Base, back); err != nil {
		return "", b, err
	}
	for _, ch := range lists {
		if _, _, files[ch.Path], err = c.withNewSources(ctx, c.Base, tree, ch); err != nil {
			return "", b, err
		}
	}
	tree, err = c.Repo.WithContent(ctx, tree, files)
	return tree, b, err
}

// gitCompares reports whether a change is of new data that a gate may make again to ask git what
// changed: without it, git has nothing to compare.
func (c *claim) gitCompares(ch git.Change) bool {
	return ch.Status == 'A' && work.IsData(ch.Path) && slices.ContainsFunc(c.Gates, asksGit)
}

// hasSessionExample reports whether a document contains examples (>>>) that a gate may run as
// tests.
func hasSessionExample(file string, text []byte) bool {
	return slices.Contains([]string{".md", ".rst", ".txt"}, path.Ext(file)) && bytes.Contains(text, []byte(">>> "))
}

// testsNameAdded reports whether new or changed tests mention a name that the work added: a
// function, constant, type or module.
func (c *claim) testsNameAdded(ctx context.Context) (bool, error) {
	var added []string
	for _, file := range c.programs() {
		added = append(added, mutant.Declared(file.Path, file.before, file.after)...)
		for _, f := range mutant.Changed(file.Path, file.before, file.after) {
			if f.New || f.ParametersChanged {
				added = append(added, f.Name)
			}
		}
		if file.Status == 'A' && path.Ext(file.Path) != ".go" {
			added = append(added, strings.TrimSuffix(path.Base(file.Path), path.Ext(file.Path)))
		}
	}
	if len(added) == 0 {
		return false, nil
	}
	text, err := c.newTestText(ctx)
	return slices.ContainsFunc(added, func(name string) bool { return mutant.Names(text, name) }), err
}

// newTestText returns the texts of the new and changed tests.
func (c *claim) newTestText(ctx context.Context) (string, error) {
	var all strings.Builder
	tests := slices.DeleteFunc(slices.Clone(c.changes), func(ch git.Change) bool { return !slices.Contains(c.tests.newOrChanged, ch.Path) })
	err := eachText(ctx, c.Repo, tests, func(ch changedFile) error {
		all.Write(ch.after)
		return all.WriteByte('\n')
	})
	return all.String(), err
}

// uncallableOld returns the functions that old text cannot call, see mutant.UncallableOld.
func (c *claim) uncallableOld(ctx context.Context) (mutant.Uncallable, error) {
	tests, err := c.newTestText(ctx)
	if err != nil {
		return nil, err
	}
	found := mutant.Uncallable{}
	for _, f := range c.programs() {
		maps.Copy(found, mutant.UncallableOld(f.Path, f.before, f.after, tests))
	}
	return found, nil
}

// mutationPlan says which mutants to place, and records those placed.
type mutationPlan struct {
	uncallable mutant.Uncallable // what old text cannot call
	skipped    map[string]bool   // keys of omitted mutants, see skipUnbuildable
	// noFileReverts: no file reverts as a whole, unless one of its functions cannot be mutated.
	noFileReverts bool
	keepUnmutable bool          // nor then: the rest does not build with their old text
	reverted      bool          // a file that still exists was reverted as a whole
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
func (b *mutationPlan) mutateFile(ch changedFile) ([]byte, bool) {
	if !isFile(ch.To) {
		return nil, false
	}
	var ways [][]mutant.Mutant
	ok := true
	if b.noFileReverts {
		ways, ok = mutant.MutateAll(ch.Path, ch.before, ch.after, b.uncallable)
	} else if mutant.OnlyFunctionsChanged(ch.Path, testdiff.Program(ch.Path, ch.before), testdiff.Program(ch.Path, ch.after)) {
		ways = mutant.MutateFunctions(ch.Path, ch.before, ch.after, b.uncallable)
	} else {
		return nil, false
	}
	key := func(m mutant.Mutant) string { return fmt.Sprint(ch.Path, ":", m.Line(ch.after), " ", m.Kind) }
	var all []mutant.Mutant
	for _, alternatives := range ways {
		if i := slices.IndexFunc(alternatives, func(m mutant.Mutant) bool { return !b.skipped[key(m)] }); i >= 0 {
			all = append(all, alternatives[i])
		}
	}
	for _, m := range mutant.Place(ch.after, all...) {
		b.mutated = append(b.mutated, mutatedSpan{path.Base(ch.Path), m.From, m.To, key(m.Mutant), m.Kind == mutant.Old})
		b.restoredOld = b.restoredOld && m.Kind == mutant.Old
	}
	return mutant.Apply(ch.after, all...), ok
}

// maxBuilds bounds the mutated trees that are tried until one builds.
const maxBuilds = 5

// runMutants runs gates on the mutated tree until it builds. First it stops reverting whole files: those
// with functions to mutate, then also the others, such as generated ones. Then it tries another mutant at each line with a compiler error, or leaves that function whole.
func (c *claim) runMutants(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	next := mutationPlan{skipped: map[string]bool{}}
	for n := 1; ; n++ {
		tree, b, err := c.mutatedTree(ctx, next)
		if err != nil {
			return gate.Run{}, err
		}
		if tree == c.Tree {
			return gate.Run{NothingBuilt: true}, nil
		}
		w.tree = tree
		var results []gate.Result
		if w.probe == gate.MutantsForNewTests { // other probes decide what it leaves open
			few, _ := narrowToTests(c.Root, gates, c.seen.ProbeTests(w.probe))
			results, err = c.runInCheckout(ctx, few, w)
		} else {
			results, err = c.runNarrowed(ctx, w, gates)
		}
		unbuilt := slices.ContainsFunc(results, func(r gate.Result) bool { return r.BuildFailed })
		switch {
		case err != nil || n == maxBuilds:
			return gate.Run{Results: results, RestoredOld: b.restoredOld}, err
		case unbuilt && !b.noFileReverts:
			next.noFileReverts = true
		case unbuilt && b.reverted && !b.keepUnmutable:
			next.keepUnmutable = true
		case !b.skipUnbuildable(results):
			return gate.Run{Results: results, RestoredOld: b.restoredOld}, nil
		}
	}
}

// skipUnbuildable adds mutants and reverted files at the places of compiler errors to skipped. Old
// text also counts for an error elsewhere in its file, such as an unused import, or if no error is at
// a mutant: a test may not fit what it returned. It reports whether it added any.
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
	if len(b.skipped) == known && slices.ContainsFunc(results, func(r gate.Result) bool { return r.BuildFailed }) {
		for _, p := range b.mutated {
			if p.old {
				b.skipped[p.key] = true
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
