package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// ProofRequest asks which functions of a change the tests check.
type ProofRequest struct {
	Before, After string              // trees
	Gates         []gate.Gate         // must pass on After
	Time          time.Duration       // for all runs on mutants
	Known         []FunctionProof     // functions tried before, not tried again
	Tried         func(FunctionProof) // called after each function; may be nil
}

// FunctionProof is one function, and how the tests react to its mutants.
type FunctionProof struct {
	Path   string             `json:"path" jsonschema:"of its file, from the repository's top"`
	Line   int                `json:"line" jsonschema:"that it begins on"`
	Name   string             `json:"name" jsonschema:"with its type or class"`
	New    bool               `json:"new" jsonschema:"no function had its name before"`
	Result gate.MutantOutcome `json:"result" jsonschema:"killed, crashed (a test crashes, none compares), survived or inconclusive"`
	Does   string             `json:"does,omitempty" jsonschema:"what the broken function did"`
	By     []string           `json:"by,omitempty" jsonschema:"tests that failed; gates where they have no ids; if survived, with another mutant than the old text"`
	Took   time.Duration      `json:"-"` // the runs on it
	Why    string             `json:"why,omitempty" jsonschema:"why it was not tried, or what a crash said"`
}

// errTimeOver means that the request's time is over.
var errTimeOver = errors.New("the time limit was reached")

// Proof is how the tests react to mutants of a change.
type Proof struct {
	Functions []FunctionProof // in the order of the files
	Missed    []MissedLine    // lines that no test checks
	Lines     int             // number of lines that were mutated, with Missed
}

// Prove mutates one function at a time in a clean checkout and runs the gates, biggest functions
// first: these matter most when time runs out. Half of the time is for lines, if there are any. The
// gates must pass on the unmutated code.
func (v *Verifier) Prove(ctx context.Context, r ProofRequest) (proof Proof, err error) {
	p := prover{v: v, r: r}
	changed, lines, err := p.findWork(ctx)
	if err != nil || len(changed)+len(lines) == 0 {
		return proof, err
	}
	found := map[string]FunctionProof{}
	for _, known := range r.Known {
		found[known.Path+" "+known.Name] = known
	}
	order := slices.DeleteFunc(slices.Clone(changed), func(f mutant.Function) bool {
		_, known := found[f.Path+" "+f.Name]
		return known
	})
	if err := p.runUnmutated(ctx); err != nil {
		return proof, err
	}
	ends := p.deadline
	if len(lines) > 0 {
		p.deadline = ends.Add(-r.Time / 2)
	}
	slices.SortStableFunc(order, func(a, b mutant.Function) int { return cmp.Compare(b.Lines, a.Lines) })
	for _, f := range order {
		began := time.Now()
		one, err := p.tryFunction(ctx, f)
		if err != nil {
			return proof, err
		}
		one.Took = time.Since(began)
		found[f.Path+" "+f.Name] = one
		if r.Tried != nil {
			r.Tried(one)
		}
	}
	for _, f := range changed {
		proof.Functions = append(proof.Functions, found[f.Path+" "+f.Name])
	}
	p.deadline = ends
	proof.Missed, proof.Lines, err = p.tryLines(ctx, lines)
	return proof, err
}

// findWork returns the functions and lines that the change added or changed, and keeps the content of
// their files. What only moved is left out. A change of more than maxCompared files has no lines.
func (p *prover) findWork(ctx context.Context) (changed []mutant.Function, lines []changedLine, err error) {
	changes, err := p.v.Repo.Diff(ctx, p.r.Before, p.r.After)
	if err != nil {
		return nil, nil, err
	}
	work, err := p.v.withoutHelpers(ctx, p.r.After, p.v.workIn(changes))
	if err != nil {
		return nil, nil, err
	}
	isLarge := len(changes) > maxCompared
	if isLarge {
		changes = programsIn(work)
	}
	all, err := readChanged(ctx, p.v.Repo, changes)
	if err != nil {
		return nil, nil, err
	}
	var files []changedFile // of the work
	p.content = map[string][]byte{}
	isWork := fileSet(git.Paths(work))
	for _, f := range all {
		if isWork[f.Path] {
			files, p.content[f.Path] = append(files, f), f.after
		}
	}
	if changed = changedFunctions(files); isLarge {
		return changed, nil, nil
	}
	moved := p.v.findMoves(all)
	changed = slices.DeleteFunc(changed, func(f mutant.Function) bool { return moved.functions[f.Path+" "+f.Name] })
	lines = slices.DeleteFunc(changedLines(files), moved.has)
	return changed, lines[:min(len(lines), maxLinesTried)], nil
}

// runUnmutated runs the gates on the unmutated code, which must pass. Without time it does nothing.
func (p *prover) runUnmutated(ctx context.Context) (err error) {
	if p.r.Time <= 0 {
		return nil
	}
	p.r.Gates = slices.Clone(p.r.Gates)
	if p.unmutated, err = p.run(ctx, p.r.After); err != nil {
		return err
	}
	for i, w := range p.unmutated {
		if w.Status != gate.Pass {
			return failure.New(failure.Error, "fix that first: the gates must pass before code can be broken",
				"the gates fail on the unchanged code: %s: %s", p.r.Gates[i].Name, w.Reason)
		}
		p.r.Gates[i].Timeout = gate.MutantTimeout(w.Duration)
	}
	p.deadline = time.Now().Add(p.r.Time)
	return nil
}

// changedFunctions returns the functions that changed in some files.
func changedFunctions(files []changedFile) (changed []mutant.Function) {
	for _, f := range files {
		changed = append(changed, mutant.Changed(f.Path, f.before, f.after)...)
	}
	return changed
}

// prover runs gates on mutants.
type prover struct {
	v         *Verifier
	r         ProofRequest
	content   map[string][]byte
	unmutated []gate.Result
	deadline  time.Time
}

// run runs the gates on a tree, once each, in the checkout.
func (p *prover) run(ctx context.Context, tree string) ([]gate.Result, error) {
	root, err := p.v.Checkout.CheckOut(ctx, tree)
	if err != nil {
		return nil, err
	}
	at := runTarget{root: root, checkout: checkoutPlace, tree: tree}
	var results []gate.Result
	for _, g := range p.r.Gates {
		r := p.v.runGate(ctx, g, at, cmp.Or(g.Timeout, g.RunTimeout(nil)))
		if ctx.Err() != nil {
			return nil, fmt.Errorf("run gate %s: %w", g.Name, ctx.Err())
		}
		results = append(results, r)
	}
	return results, nil
}

// ChangeSurvived reports whether tests check the function, but pass with its old text.
func (p FunctionProof) ChangeSurvived() bool { return p.Result == gate.Survived && len(p.By) > 0 }

// tryFunction tries a function's mutants. Its old text decides if it builds; so does a surviving
// mutant. A kill outweighs a crash. If the old text survives, another mutant tells whether any test
// checks the function.
func (p *prover) tryFunction(ctx context.Context, f mutant.Function) (FunctionProof, error) {
	all := FunctionProof{Path: f.Path, Line: f.Line, Name: f.Name, New: f.New, Result: gate.Inconclusive}
	ways, oldSurvived := f.Mutants, false
	if f.Fallback != nil {
		ways = append(slices.Clip(ways), *f.Fallback)
	}
	for _, m := range ways {
		if m.Kind == mutant.ZeroInput && all.Result != gate.Inconclusive {
			break
		}
		one, err := p.tryMutant(ctx, f, m)
		if errors.Is(err, errTimeOver) {
			if all.Result == gate.Inconclusive {
				all.Why = errTimeOver.Error()
			}
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if oldSurvived {
			if all.By = one.By; one.Result == gate.Survived || one.Result == gate.Killed {
				break
			}
			continue
		}
		oldSurvived = m.Kind == mutant.Old && one.Result == gate.Survived
		if all.Result == gate.Inconclusive || one.Result == gate.Survived || all.Result == gate.Crashed && one.Result == gate.Killed {
			all = one
		}
		if !oldSurvived && (one.Result == gate.Survived || m.Kind == mutant.Old && one.Result != gate.Inconclusive) {
			break
		}
	}
	return all, nil
}

// tryMutant tries one mutant of a function.
func (p *prover) tryMutant(ctx context.Context, f mutant.Function, m mutant.Mutant) (FunctionProof, error) {
	one := FunctionProof{Path: f.Path, Line: f.Line, Name: f.Name, New: f.New, Does: m.Does}
	if !time.Now().Before(p.deadline) {
		return one, errTimeOver
	}
	tree, err := p.v.Repo.WithContent(ctx, p.r.After, map[string][]byte{f.Path: mutant.Apply(p.content[f.Path], m)})
	if err != nil {
		return one, err
	}
	broken, err := p.run(ctx, tree)
	if err != nil {
		return one, err
	}
	one.Result, one.By, one.Why = gate.JudgeMutant(p.unmutated, broken, m.Kind == mutant.Old)
	return one, nil
}

// MissedLine is a line of the work that no test checks.
type MissedLine struct {
	Path string `json:"path" jsonschema:"of its file, from the repository's top"`
	Line int    `json:"line" jsonschema:"in the file"`
	In   string `json:"in,omitempty" jsonschema:"the function that it stands in"`
	Does string `json:"does" jsonschema:"what it did when all tests passed: never holds, is left out"`
	Text string `json:"text" jsonschema:"the line"`
}

// String follows "no test notices when".
func (m MissedLine) String() string {
	within := ""
	if m.In != "" {
		within = " in " + m.In
	}
	return fmt.Sprintf("%s:%d%s %s (%s)", m.Path, m.Line, within, m.Does, m.Text)
}

// Bounds of the lines of one change that are tried, and of those that are named.
const (
	maxLinesTried = 40
	maxMissed     = 5
)

// changedLine is a line that a change added, and its file.
type changedLine struct {
	mutant.Line

	file string
}

// changedLines returns the lines that changed in some files, in the order of trial.
func changedLines(files []changedFile) (all []changedLine) {
	for _, f := range files {
		for _, l := range mutant.Lines(f.Path, f.before, f.after) {
			all = append(all, changedLine{l, f.Path})
		}
	}
	slices.SortStableFunc(all, func(a, b changedLine) int { return a.Order - b.Order })
	return all
}

// tryLines mutates one line at a time until the deadline. It returns those that no test notices,
// and how many were mutated. It skips further mutants of a missed line.
func (p *prover) tryLines(ctx context.Context, todo []changedLine) (missed []MissedLine, tried int, err error) {
	mutated := map[string]bool{}
	for _, l := range todo {
		if slices.ContainsFunc(missed, func(m MissedLine) bool { return m.Path == l.file && m.Line == l.Number }) {
			continue
		}
		one, err := p.tryMutant(ctx, mutant.Function{Path: l.file}, l.Mutant)
		switch {
		case errors.Is(err, errTimeOver):
			return missed, len(mutated), nil
		case err != nil:
			return missed, len(mutated), err
		case one.Result == gate.Survived:
			missed = append(missed, MissedLine{l.file, l.Number, l.Function, l.Mutant.Does, l.Text})
		}
		if one.Result != gate.Inconclusive {
			mutated[fmt.Sprint(l.file, ":", l.Number)] = true
		}
		if len(missed) == maxMissed {
			break
		}
	}
	return missed, len(mutated), nil
}
