package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
)

// Bounds of the pieces of a claim that are tried, each in a run of its own: so many, and
// none any more when that took as long as two runs of the gates, or this.
const (
	maxPieces     = 12
	timeForPieces = 10 * time.Second
)

type kind int

const (
	blind kind = iota
	removal
	ofTask
	condition
	function
)

// isTooMany tells so of pieces of a kind that no test notices. One is that is blind or that the task
// names; of statements that do what it asks for, all are; of the other kinds, half of those that were
// tried are.
func (k kind) isTooMany(unnoticed, tried int) bool {
	switch k {
	case blind, ofTask:
		return unnoticed > 0
	case removal:
		return unnoticed == tried
	case condition, function:
	}
	return 2*unnoticed >= tried
}

// piece is a condition, a statement or a function that the work added, with the ways to put it out of
// effect: no test notices it if all pass in each of them.
type piece struct {
	kind kind
	what string // with its place
	file string
	in   string // the function that it is, or that it stands in
	size int
	ways []mutant.Mutant
}

// pieces are those of a claim, in the order in which they are tried: of programs, and not of
// what its tests assert with, or of other gate inputs.
func (v *Verifier) pieces(ctx context.Context, r Request) ([]piece, error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxBroken {
		return nil, err
	}
	helpers, err := v.assertHelpers(ctx, r.Tree, changes)
	if err != nil {
		return nil, err
	}
	compared, err := v.compareTests(ctx, r)
	if err != nil {
		return nil, err
	}
	var all []piece
	var code strings.Builder
	changed := map[string][2][]byte{}
	gone := map[string][]byte{}
	for _, c := range changes {
		if c.Status == 'D' && isFile(c.From) && mutant.Knows(c.Path) {
			if gone[c.Path], err = v.content(ctx, r.Base, c.Path); err != nil {
				return nil, err
			}
		}
		if c.Status == 'D' || !isFile(c.To) || helpers[c.Path] || v.isTest(c.Path) || v.isMark(c.Path) || slices.Contains(compared.inputs, c.Path) {
			continue
		}
		before, after, err := contents(ctx, v.Repo, c)
		if err != nil {
			return nil, err
		}
		all = slices.Concat(all, conditions(c.Path, before, after), removals(r.Asked, c.Path, before, after))
		changed[c.Path] = [2][]byte{before, after}
		code.WriteString(mutant.Code(c.Path, after))
	}
	all = slices.Concat(all, putBack(r.Asked, changed), functions(r.Asked, changed, code.String()))
	moved := movedFunctions(changed, gone)
	all = slices.DeleteFunc(all, func(p piece) bool { return p.kind != ofTask && p.kind != removal && moved[p.file+" "+p.in] })
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.size, a.size)) })
	return all[:min(len(all), maxPieces)], nil
}

// movedFunctions are those, each behind its file, that another file had: of changed files, each with
// its text before and after, and of those that are gone. They are none of the work.
func movedFunctions(changed map[string][2][]byte, gone map[string][]byte) map[string]bool {
	moved := map[string]bool{}
	for file, text := range changed {
		for _, f := range mutant.Changed(file, text[0], text[1]) {
			for other, texts := range changed {
				moved[file+" "+f.Name] = moved[file+" "+f.Name] || f.New && other != file && f.StoodIn(other, texts[0])
			}
			for other, text := range gone {
				moved[file+" "+f.Name] = moved[file+" "+f.Name] || f.New && f.StoodIn(other, text)
			}
		}
	}
	return moved
}

// conditions are those that a change added to a file.
func conditions(file string, before, after []byte) (all []piece) {
	for _, b := range mutant.Branches(file, before, after) {
		if !b.Whole {
			continue
		}
		what := fmt.Sprintf("%s:%d %s (%s)", file, b.Number, b.Mutant.Does, b.Text)
		if b.Within != "" {
			what = fmt.Sprintf("%s:%d in %s %s (%s)", file, b.Number, b.Within, b.Mutant.Does, b.Text)
		}
		p := piece{condition, what, file, b.Within, 0, []mutant.Mutant{b.Mutant}}
		if b.Blind {
			p.kind = blind
		}
		all = append(all, p)
	}
	return all
}

// removals are the statements that a change added to a file and that remove what the task asks
// to remove.
func removals(task, file string, before, after []byte) (all []piece) {
	for _, l := range mutant.Statements(file, before, after) {
		if sign.Removes(task, l.Text) {
			all = append(all, piece{removal, fmt.Sprintf("%s:%d in %s %s (%s)", file, l.Number, l.Within, l.Mutant.Does, l.Text), file, l.Within, 0, []mutant.Mutant{l.Mutant}})
		}
	}
	return all
}

// putBack are the shell scripts that the task names, each as it was before. One that is all of the change
// is none: that is tried before.
func putBack(task string, changed map[string][2][]byte) (all []piece) {
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		before, after := changed[file][0], changed[file][1]
		if before != nil && len(changed) > 1 && mutant.IsShell(file) && isNamed(path.Base(file), task, 1) {
			m := mutant.Back(before, after)
			all = append(all, piece{ofTask, file + " " + m.Does, file, "", 0, []mutant.Mutant{m}})
		}
	}
	return all
}

// functions are those of changed files, each with its text before and after, that the task names, and
// new ones that the program, of this code, calls and that are written. One that is the only
// change is none: that it does nothing is tried before. Nor is one by which a program begins.
func functions(task string, changed map[string][2][]byte, code string) (all []piece) {
	n := 0
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		before, after := changed[file][0], changed[file][1]
		stubs := mutant.Stubs(file, before, after)
		for _, f := range mutant.Changed(file, before, after) {
			n++
			stub := slices.ContainsFunc(stubs, func(s mutant.Function) bool { return s.Name == f.Name })
			switch {
			case begins(f):
			case isNamed(mutant.BareName(f.Name), task, 1):
				all = append(all, piece{ofTask, fmt.Sprintf("%s:%d %s %s", file, f.Line, f.Name, f.Stub().Does), file, f.Name, f.Lines, f.Alternatives()})
			case f.New && !stub && isNamed(mutant.BareName(f.Name), code, 2):
				all = append(all, piece{function, fmt.Sprintf("%s:%d %s does nothing", file, f.Line, f.Name), file, f.Name, f.Lines, f.Mutants})
			}
		}
	}
	if n == 1 {
		return nil
	}
	return all
}

// begins reports whether a program begins by a function, which tests seldom call.
func begins(f mutant.Function) bool {
	return strings.EqualFold(f.Name[strings.LastIndexByte(f.Name, '.')+1:], "main") || path.Base(f.Path) == "__main__.py"
}

// oneByOne runs gates on the tree of now, where one piece has no effect, one after the other.
func (v *Verifier) oneByOne(ctx context.Context, r Request, o *gate.Observation, gates []gate.Gate) (run gate.Run, err error) {
	pieces, err := v.pieces(ctx, r)
	if err != nil {
		return run, err
	}
	limit := timeForPieces
	for _, g := range gates {
		limit = max(limit, 2*took(o.Now, g.Name))
	}
	began := time.Now()
	var missed []piece
	tried, unnoticed := map[kind]int{}, map[kind]int{}
	for _, p := range pieces {
		if time.Since(began) > limit {
			break
		}
		noticing, err := v.tryPiece(ctx, r, o, p, gates)
		if err != nil {
			return run, err
		}
		if noticing != gate.Inconclusive {
			tried[p.kind]++
		}
		if noticing == gate.Survived {
			missed = append(missed, p)
			unnoticed[p.kind]++
		}
	}
	for _, p := range missed {
		if p.kind.isTooMany(unnoticed[p.kind], tried[p.kind]) {
			run.Untested = append(run.Untested, p.what)
		}
	}
	return run, nil
}

// tryPiece puts one piece out of effect in each of the ways that build. Tests beside
// those that prove may look at it, too.
func (v *Verifier) tryPiece(ctx context.Context, r Request, o *gate.Observation, p piece, gates []gate.Gate) (gate.MutantOutcome, error) {
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: gate.SingleMutants, uncached: true}
	result := gate.Inconclusive
	for _, m := range p.ways {
		after, err := v.Repo.Show(ctx, r.Tree, p.file)
		if err != nil {
			return result, err
		}
		if w.tree, err = v.Repo.WithContent(ctx, r.Tree, map[string][]byte{p.file: mutant.Apply(after, m)}); err != nil {
			return result, err
		}
		elsewhere := func(gates []gate.Gate) ([]gate.Result, error) { return v.elsewhere(ctx, gates, w) }
		results, err := narrow(v.Root, gates, o.ProbeTests(gate.SingleMutants), elsewhere)
		if err == nil && o.PassesAll(results) {
			results, err = elsewhere(hurried(r.Gates, o))
		}
		if err != nil {
			return result, err
		}
		switch n := o.OutcomeOf(results); n {
		case gate.Inconclusive:
		case gate.Survived:
			result = n
		default:
			return gate.Killed, nil
		}
	}
	return result, nil
}
