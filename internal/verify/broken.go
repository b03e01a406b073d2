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

// maxBroken bounds the files that are looked at for a tree of broken functions: larger
// changes are no one task's work, and more than text.
const maxBroken = 200

// breakable names the functions that the work added or changed, and reports whether it
// can be learnt from breaking them what tests make of them. Where it only changed some,
// the tests were seen to fail as these were, unless they fail there for want of a name
// or of a parameter, or data changed that a gate may read.
func (v *Verifier) breakable(ctx context.Context, r Request) (names []string, ok bool, err error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxBroken {
		return nil, false, err
	}
	changed, _, err := v.changedFunctions(ctx, ProofRequest{Before: r.Base, After: r.Tree})
	ok = slices.ContainsFunc(changes, func(c git.Change) bool { return v.keepsData(r, c) })
	for _, f := range changed {
		names = append(names, f.Name+" in "+f.Path)
		ok = ok || f.New || f.Recast
	}
	if ok || err != nil || len(changed) == 0 {
		return names, ok && len(changed) > 0, err
	}
	tests, err := v.compareTests(ctx, r)
	if err == nil {
		ok, err = v.nameAdded(ctx, r, tests.fresh)
	}
	return names, ok, err
}

// broken is the tree of now, of which nothing is left that the work does: a function
// that it changed is as it was, one that it added returns zero values. A file in which
// more than functions changed is put back as a whole, so that a test which that turned
// green fails. Where tests name what was added, or stand in the same file, they would fail
// there for want of the name, or be gone: then nothing but the functions of such a file is
// broken. Data that was there and that nobody asked to change stays, so that a test which
// that alone turned green passes. Manifests stay, so that what the work added is built, and examples in documents.
//
// Mutants that b spares are left out.
func (v *Verifier) broken(ctx context.Context, r Request, b breaking) (tree string, done breaking, err error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return "", b, err
	}
	compared, err := v.compareTests(ctx, r)
	if err != nil {
		return "", b, err
	}
	named, err := v.nameAdded(ctx, r, compared.fresh)
	if err != nil {
		return "", b, err
	}
	b.asBefore, b.broken = true, nil
	if b.nothingBack = b.nothingBack || named || compared.inSource; b.nothingBack {
		if b.misfits, err = v.misfits(ctx, r, compared.fresh); err != nil {
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
		if helpers[c.Path] || v.isTest(c.Path) || v.isMark(c.Path) || v.keepsData(r, c) || slices.Contains(compared.inputs, c.Path) || work.IsManifest(c.Path) {
			continue
		}
		if asks, err := v.showsSession(ctx, r, c); err != nil {
			return "", b, err
		} else if asks {
			continue
		}
		text, ok, err := v.brokenFile(ctx, r, c, &b)
		if err != nil {
			return "", b, err
		}
		switch {
		case ok:
			files[c.Path] = text
		case c.Status == 'D' && b.spared[c.Path]:
		default:
			back = append(back, c.Path)
		}
		if c.Status == 'D' {
			b.broken = append(b.broken, stretch{file: path.Base(c.Path), to: math.MaxInt, key: c.Path})
		}
	}
	if tree, err = v.Repo.Overlay(ctx, r.Tree, r.Base, back); err != nil {
		return "", b, err
	}
	tree, err = v.Repo.WithContent(ctx, tree, files)
	return tree, b, err
}

// keepsData reports whether a change is of data that stays when the work is broken.
func (v *Verifier) keepsData(r Request, c git.Change) bool {
	return !v.isTest(c.Path) && !v.isMark(c.Path) && unaskedData(r.Asked, c)
}

// showsSession reports whether a file is documentation with examples of a session, which
// a gate may run as tests.
func (v *Verifier) showsSession(ctx context.Context, r Request, c git.Change) (bool, error) {
	if c.Status == 'D' || !isFile(c.To) || !slices.Contains([]string{".md", ".rst", ".txt"}, path.Ext(c.Path)) {
		return false, nil
	}
	text, err := v.Repo.Show(ctx, r.Tree, c.Path)
	return err == nil && strings.Contains(string(text), ">>> "), err
}

// nameAdded reports whether some test files name what the work added: a function, a
// constant, a type, a module.
func (v *Verifier) nameAdded(ctx context.Context, r Request, tests []string) (bool, error) {
	added, err := v.added(ctx, r)
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

// added are the names that the work added to the program.
func (v *Verifier) added(ctx context.Context, r Request) ([]string, error) {
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
			if f.New || f.Recast {
				names = append(names, f.Name)
			}
		}
		if c.Status == 'A' && path.Ext(c.Path) != ".go" {
			names = append(names, strings.TrimSuffix(path.Base(c.Path), path.Ext(c.Path)))
		}
	}
	return names, nil
}

// misfits are the functions that the work has and old text cannot call, see
// mutant.Misfits.
func (v *Verifier) misfits(ctx context.Context, r Request, tests []string) (map[string]bool, error) {
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
		for _, name := range mutant.Misfits(c.Path, before, after, all.String()) {
			found[name] = true
		}
	}
	return found, nil
}

// breaking is how functions are broken, and what for they are not.
type breaking struct {
	misfits map[string]bool // names that old text cannot call
	spared  map[string]bool // keys of mutants that are left out, see spare
	// nothingBack: no file is put back as a whole, unless a function of it cannot be broken.
	nothingBack bool
	asBefore    bool      // each so far is as it was before
	broken      []stretch // all of them
}

// stretch is where a broken function is in its file.
type stretch struct {
	file     string // its name without folders, as some compilers name it
	from, to int    // lines
	key      string // the same whatever else is broken; of a file that is put back its path
	old      bool   // it is the text of before
}

// brokenFile is a file with each function broken that the work added or changed. It is
// false for a file that is to be put back: more than functions was changed in it, and
// tests name nothing that was added.
func (v *Verifier) brokenFile(ctx context.Context, r Request, c git.Change, b *breaking) ([]byte, bool, error) {
	if c.Status == 'D' || !isFile(c.To) {
		return nil, false, nil
	}
	before, after, err := contents(ctx, v.Repo, c)
	if err != nil {
		return nil, false, err
	}
	var ways [][]mutant.Mutant
	ok := true
	if b.nothingBack {
		ways, ok = mutant.Emptied(c.Path, before, after, b.misfits)
	} else if mutant.Within(c.Path, testdiff.Program(c.Path, before), testdiff.Program(c.Path, after)) {
		for _, f := range mutant.Changed(c.Path, before, after) {
			ways = append(ways, f.Alternatives())
		}
	} else {
		return nil, false, nil
	}
	key := func(m mutant.Mutant) string { return fmt.Sprint(c.Path, ":", m.Line(after), " ", m.Kind) }
	var all []mutant.Mutant
	for _, alternatives := range ways {
		if i := slices.IndexFunc(alternatives, func(m mutant.Mutant) bool { return !b.spared[key(m)] }); i >= 0 {
			all = append(all, alternatives[i])
		}
	}
	for _, m := range mutant.Place(after, all...) {
		b.broken = append(b.broken, stretch{path.Base(c.Path), m.From, m.To, key(m.Mutant), m.Kind == mutant.Old})
		b.asBefore = b.asBefore && m.Kind == mutant.Old
	}
	return mutant.Apply(after, all...), ok, nil
}

// maxBuilds bounds the trees of broken functions that are tried until one builds.
const maxBuilds = 5

// runBroken runs gates on the tree of broken functions. Where that does not build for want
// of what was put back, nothing is. Old text that does not fit, and a function of whose type no
// value is known, do not build either: at the lines that a compiler names a function is broken
// in another way or stays whole, and the other functions tell.
func (v *Verifier) runBroken(ctx context.Context, r Request, w runTarget, run func(runTarget) ([]gate.Result, error)) (gate.Run, error) {
	next := breaking{spared: map[string]bool{}}
	for n := 1; ; n++ {
		tree, b, err := v.broken(ctx, r, next)
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
			return gate.Run{Results: results, RestoredOld: b.asBefore}, err
		case unbuilt && !b.nothingBack:
			next.nothingBack = true
		case !b.spare(results):
			return gate.Run{Results: results, RestoredOld: b.asBefore}, nil
		}
	}
}

// spare adds what is at the places of errors in runs that could not be built to what is left
// out: mutants, and files that are put back and were moved by the work. Old text in a file is
// left out for an error elsewhere in it, as of an import that it does not use. It reports
// whether there are new ones.
func (b breaking) spare(results []gate.Result) bool {
	known := len(b.spared)
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
			in := slices.DeleteFunc(slices.Clone(b.broken), func(p stretch) bool { return p.file != m[1] })
			there := func(p stretch) bool { return p.from <= at && at <= p.to }
			for _, p := range in {
				if there(p) || p.old && !slices.ContainsFunc(in, there) {
					b.spared[p.key] = true
				}
			}
		}
	}
	return len(b.spared) > known
}

// sourceLine matches a place as compilers name it: src/ring.rs:64:103, Ring.java:64, ring.ts(64,2).
var sourceLine = regex.New(`([\w.-]+\.\w+)[:(](\d+)`)

// took is how long a gate ran.
func took(results []gate.Result, name string) time.Duration {
	i := slices.IndexFunc(results, func(r gate.Result) bool { return r.Gate == name })
	if i < 0 {
		return 0
	}
	return results[i].Duration
}
