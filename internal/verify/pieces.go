package verify

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// Bounds of the pieces of a claim that are tried, each in a run of its own: so many, and
// none any more when that took as long as two runs of the gates, or this.
const (
	maxPieces     = 12
	timeForPieces = 10 * time.Second
)

// kind is of a piece. Of a blind one one is too many that no test notices; of the others
// half of those that were tried.
type kind int

const (
	blind kind = iota
	condition
	function
)

// piece is a condition or a function that the work added, with the ways to put it out of
// effect: no test notices it if all pass in each of them.
type piece struct {
	kind kind
	what string // with its place
	file string
	size int
	ways []mutant.Mutant
}

// pieces are those of a claim, in the order in which they are tried. A function that is the
// only one is not: that it does nothing is tried before. Nor is one by which a program begins.
func (v *Verifier) pieces(ctx context.Context, r Request) ([]piece, error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxBroken {
		return nil, err
	}
	var all []piece
	functions := 0
	for _, c := range changes {
		if !v.isProgram(c) {
			continue
		}
		before, after, err := contents(ctx, v.Repo, r.Base, r.Tree, c)
		if err != nil {
			return nil, err
		}
		for _, b := range mutant.Branches(c.Path, before, after) {
			if !b.Whole {
				continue
			}
			p := piece{condition, fmt.Sprintf("%s:%d %s (%s)", c.Path, b.Line, b.Mutant.Does, b.Text), c.Path, 0, []mutant.Mutant{b.Mutant}}
			if b.Blind {
				p.kind = blind
			}
			all = append(all, p)
		}
		for _, f := range mutant.Changed(c.Path, before, after) {
			if functions++; f.New && !begins(f) {
				all = append(all, piece{function, fmt.Sprintf("%s:%d %s does nothing", f.Path, f.Line, f.Name), c.Path, f.Lines, f.Mutants})
			}
		}
	}
	if functions == 1 {
		all = slices.DeleteFunc(all, func(p piece) bool { return p.kind == function })
	}
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.size, a.size)) })
	return all[:min(len(all), maxPieces)], nil
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
		if noticing != gate.NotTried {
			tried[p.kind]++
		}
		if noticing == gate.Unnoticed {
			missed = append(missed, p)
			unnoticed[p.kind]++
		}
	}
	for _, p := range missed {
		if p.kind == blind || 2*unnoticed[p.kind] >= tried[p.kind] {
			run.Untested = append(run.Untested, p.what)
		}
	}
	return run, nil
}

// tryPiece puts one piece out of effect in each of the ways that build. Tests beside
// those that prove may look at it, too.
func (v *Verifier) tryPiece(ctx context.Context, r Request, o *gate.Observation, p piece, gates []gate.Gate) (gate.Noticing, error) {
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: gate.OneByOne, uncached: true}
	result := gate.NotTried
	for _, m := range p.ways {
		after, err := v.Repo.Show(ctx, r.Tree, p.file)
		if err != nil {
			return result, err
		}
		if w.tree, err = v.Repo.WithContent(ctx, r.Tree, map[string][]byte{p.file: mutant.Apply(after, m)}); err != nil {
			return result, err
		}
		elsewhere := func(gates []gate.Gate) ([]gate.Result, error) { return v.elsewhere(ctx, gates, w) }
		results, err := narrow(v.Root, gates, o.Only(gate.OneByOne), elsewhere)
		if err == nil && o.PassesAll(results) {
			results, err = elsewhere(hurried(r.Gates, o))
		}
		if err != nil {
			return result, err
		}
		switch n, _, _ := gate.Notices(o.Now, results, false); n {
		case gate.NotTried:
		case gate.Unnoticed:
			result = n
		default:
			return gate.Noticed, nil
		}
	}
	return result, nil
}
