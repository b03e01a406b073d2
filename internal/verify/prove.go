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

// ProofRequest asks whether tests notice when the functions that a change added or
// changed are broken.
type ProofRequest struct {
	Before, After string        // trees
	Gates         []gate.Gate   // must pass on After
	Time          time.Duration // for the runs on broken code, all together
	Known         []Proven      // functions that were tried before, and are not again
	Tried         func(Proven)  // told of each function when it is through; nil = nobody is
}

// Proven is one function, and what the tests made of it.
type Proven struct {
	Path   string             `json:"path" jsonschema:"of its file, from the repository's top"`
	Line   int                `json:"line" jsonschema:"that it begins on"`
	Name   string             `json:"name" jsonschema:"with its type or class"`
	New    bool               `json:"new" jsonschema:"no function had its name before"`
	Result gate.MutantOutcome `json:"result" jsonschema:"killed, crashed (a test crashes, none compares), survived or inconclusive"`
	Does   string             `json:"does,omitempty" jsonschema:"what the broken function did"`
	By     []string           `json:"by,omitempty" jsonschema:"tests that failed; gates where they have no ids"`
	Took   time.Duration      `json:"-"` // the runs on it
	Why    string             `json:"why,omitempty" jsonschema:"why it was not tried, or what a crash said"`
}

// errTimeOver: the request's time has passed.
var errTimeOver = errors.New("the time for it was over")

// Proof is what the tests made of a change.
type Proof struct {
	Functions []Proven // in the order of the files
	Missed    []Missed // lines that no test notices
}

// Prove breaks one function after another in a clean checkout and runs the gates: the
// biggest first, for those are the ones to know about when the time is over. Where lines can be
// broken, too, half of the time is for these. Before anything is broken the gates must pass
// there: where they do not, nothing can be told.
func (v *Verifier) Prove(ctx context.Context, r ProofRequest) (proof Proof, err error) {
	changed, content, err := v.changedFunctions(ctx, r)
	if err != nil {
		return proof, err
	}
	lines, err := v.changedLines(ctx, r, content)
	if err != nil || len(changed)+len(lines) == 0 {
		return proof, err
	}
	found := map[string]Proven{}
	for _, known := range r.Known {
		found[known.Path+" "+known.Name] = known
	}
	order := slices.DeleteFunc(slices.Clone(changed), func(f mutant.Function) bool {
		_, known := found[f.Path+" "+f.Name]
		return known
	})
	p := prover{v: v, r: r, content: content}
	if err := p.begin(ctx); err != nil {
		return proof, err
	}
	ends := p.ends
	if len(lines) > 0 {
		p.ends = ends.Add(-r.Time / 2)
	}
	slices.SortStableFunc(order, func(a, b mutant.Function) int { return cmp.Compare(b.Lines, a.Lines) })
	for _, f := range order {
		began := time.Now()
		one, err := p.function(ctx, f)
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
	p.ends = ends
	proof.Missed, err = p.lines(ctx, lines)
	return proof, err
}

// begin runs the gates on whole code, which must pass. Where there is no time for
// anything nothing runs.
func (p *prover) begin(ctx context.Context) (err error) {
	if p.r.Time <= 0 {
		return nil
	}
	p.r.Gates = slices.Clone(p.r.Gates)
	if p.whole, err = p.run(ctx, p.r.After); err != nil {
		return err
	}
	for i, w := range p.whole {
		if w.Status != gate.Pass {
			return failure.New(failure.Error, "fix that first; broken code can only be told from whole code that passes",
				"the gates do not pass on the code as it is: %s: %s", p.r.Gates[i].Name, w.Reason)
		}
		p.r.Gates[i].Timeout = gate.MutantTimeout(w.Duration)
	}
	p.ends = time.Now().Add(p.r.Time)
	return nil
}

// changedFunctions are those between the trees, tests aside, with the content of their
// files.
func (v *Verifier) changedFunctions(ctx context.Context, r ProofRequest) ([]mutant.Function, map[string][]byte, error) {
	changes, err := v.Repo.Diff(ctx, r.Before, r.After)
	if err != nil {
		return nil, nil, err
	}
	helpers, err := v.assertHelpers(ctx, r.After, changes)
	if err != nil {
		return nil, nil, err
	}
	var changed []mutant.Function
	content := map[string][]byte{}
	err = eachText(ctx, v.Repo, v.changedPrograms(changes), func(c git.Change, was, is []byte) error {
		if !helpers[c.Path] {
			content[c.Path] = is
			changed = append(changed, mutant.Changed(c.Path, was, is)...)
		}
		return nil
	})
	return changed, content, err
}

// prover runs gates on broken code.
type prover struct {
	v       *Verifier
	r       ProofRequest
	content map[string][]byte
	whole   []gate.Result
	ends    time.Time
}

// run runs the gates on a tree, once each, in the checkout.
func (p *prover) run(ctx context.Context, tree string) ([]gate.Result, error) {
	at, err := p.v.at(ctx, tree)
	if err != nil {
		return nil, err
	}
	var results []gate.Result
	for _, g := range p.r.Gates {
		r := p.v.once(ctx, g, at, cmp.Or(g.Timeout, g.RunTimeout(nil)))
		if ctx.Err() != nil {
			return nil, fmt.Errorf("run gate %s: %w", g.Name, ctx.Err())
		}
		results = append(results, r)
	}
	return results, nil
}

// function breaks one function in the ways that it can be. As it was before decides
// alone, where it builds; so does a value that nobody notices. Where one value makes a
// test crash and another makes it fail, the test compares.
func (p *prover) function(ctx context.Context, f mutant.Function) (Proven, error) {
	all := Proven{Path: f.Path, Line: f.Line, Name: f.Name, New: f.New, Result: gate.Inconclusive}
	ways := f.Mutants
	if f.Last != nil {
		ways = append(slices.Clip(ways), *f.Last)
	}
	for _, m := range ways {
		if m.Kind == mutant.Unheeding && all.Result != gate.Inconclusive {
			break
		}
		one, err := p.mutant(ctx, f, m)
		if errors.Is(err, errTimeOver) {
			if all.Result == gate.Inconclusive {
				all.Why = errTimeOver.Error()
			}
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if all.Result == gate.Inconclusive || one.Result == gate.Survived || all.Result == gate.Crashed && one.Result == gate.Killed {
			all = one
		}
		if one.Result == gate.Survived || m.Kind == mutant.Old && one.Result != gate.Inconclusive {
			break
		}
	}
	return all, nil
}

// mutant breaks a function in one way.
func (p *prover) mutant(ctx context.Context, f mutant.Function, m mutant.Mutant) (Proven, error) {
	one := Proven{Path: f.Path, Line: f.Line, Name: f.Name, New: f.New, Does: m.Does}
	if !time.Now().Before(p.ends) {
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
	one.Result, one.By, one.Why = gate.JudgeMutant(p.whole, broken, m.Kind == mutant.Old)
	return one, nil
}
