package verify

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
)

// errNoValues says that nothing can be learnt from other values in the tests.
var errNoValues = errors.New("there are no values in the tests that others could stand for")

// minTelling is how many values tests must expect so that other inputs do not lead to
// all of them by chance.
const minTelling = 2

// valuesRun is a run with other values in the tests.
type valuesRun struct {
	probe gate.Probe
	gates []gate.Gate
}

// otherValues runs gates on the tree of now with other values in its tests, see
// mutant.Values; for gate.FailingTests with tests that fail.
func (v *Verifier) otherValues(ctx context.Context, r Request, o *gate.Observation, run valuesRun) (gate.Run, error) {
	files, given, err := v.valuesOf(ctx, r, o, run.probe)
	if err != nil {
		return gate.Run{}, err
	}
	tree, err := v.Repo.WithContent(ctx, r.Tree, files)
	if err != nil {
		return gate.Run{}, err
	}
	w := where{root: v.Root, logDir: r.LogDir, probe: run.probe, tree: tree, uncached: true}
	results, err := narrow(v.Root, run.gates, o.Only(run.probe), func(gates []gate.Gate) ([]gate.Result, error) { return v.elsewhere(ctx, gates, w) })
	return gate.Run{Results: results, Given: given}, err
}

// valuesOf are the tests with other values in them, and the inputs that they give.
func (v *Verifier) valuesOf(ctx context.Context, r Request, o *gate.Observation, p gate.Probe) (map[string][]byte, []string, error) {
	proving := provingTests(o)
	tests, err := v.Repo.Contents(ctx, r.Tree, maxTestsRead, maxTextRead, func(file string) bool { return v.isTest(file) || path.Ext(file) == ".rs" })
	if err != nil {
		return nil, nil, err
	}
	changed, telling := map[string][]byte{}, map[string]bool{}
	var given []string
	for file, content := range tests {
		names := leaves(proving)
		if slices.ContainsFunc(proving, func(id string) bool { return path.Base(id) == path.Base(file) }) {
			names = nil // the file as a whole
		}
		values := mutant.Values(file, content, names, ownFunctions(o))
		for _, text := range values.Telling {
			telling[text] = true
		}
		mutants := map[gate.Probe][]mutant.Mutant{
			gate.OtherExpected: values.Expected, gate.OtherInputs: values.Inputs, gate.CloseInputs: values.Close, gate.CloserInputs: values.Closer,
			gate.FailingTests: slices.Concat(values.Expected, values.Inputs),
		}[p]
		if len(mutants) == 0 {
			continue
		}
		for _, m := range mutants {
			given = append(given, m.Text())
		}
		// Other inputs may be words by which a file of tests finds its own tests: what passes
		// with these and wrong expected values runs none of them.
		compares := len(values.Expected) > 0 && slices.ContainsFunc(o.Answers[gate.OtherExpected].Results, func(r gate.Result) bool { return r.Status == gate.Fail })
		if changed[file] = mutant.Apply(content, mutants...); p == gate.FailingTests && !compares {
			changed[file] = mutant.Failing(file, content)
		}
	}
	if len(changed) == 0 || p != gate.OtherExpected && p != gate.FailingTests && len(telling) < minTelling {
		return nil, nil, errNoValues
	}
	return changed, given, nil
}

// ownFunctions are the names of the functions that the work added or changed.
func ownFunctions(o *gate.Observation) []string {
	var names []string
	for _, f := range o.Functions {
		name, _, _ := strings.Cut(f, " in ")
		names = append(names, name[strings.LastIndexByte(name, '.')+1:])
	}
	return names
}

// provingTests are the tests that a claim is to be believed for; none where gates tell no
// tests apart.
func provingTests(o *gate.Observation) []string {
	verdict := gate.Judge(*o)
	return slices.DeleteFunc(slices.Concat(gate.ByTest(verdict.Flipped, o.Baseline), verdict.Proving), func(id string) bool {
		return slices.ContainsFunc(o.Now, func(r gate.Result) bool { return r.Gate == id })
	})
}

// signsOf are the signs of a claim's work: first what it is that tests cannot fail for.
func (v *Verifier) signsOf(ctx context.Context, r Request, verdict gate.Verdict) ([]sign.Sign, error) {
	first, err := v.signsInAnyCase(ctx, r, verdict)
	if err != nil {
		return nil, err
	}
	rest, err := Signs(ctx, v.Repo, SignRequest{v.Tests, r.Base, r.Tree, r.Asked})
	return append(first, rest...), err
}

// signsInAnyCase are the functions of the work, where tests were seen to pass that should
// have failed; of a language whose functions are not known, the first lines that changed.
func (v *Verifier) signsInAnyCase(ctx context.Context, r Request, verdict gate.Verdict) ([]sign.Sign, error) {
	if !verdict.InAnyCase() {
		return nil, nil
	}
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return nil, err
	}
	var signs []sign.Sign
	for _, c := range changes {
		if c.Status == 'D' || v.isTest(c.Path) || !sign.Knows(c.Path) {
			continue
		}
		before, after, err := contents(ctx, v.Repo, r.Base, r.Tree, c)
		if err != nil {
			return nil, err
		}
		functions := mutant.Changed(c.Path, before, after)
		for _, f := range functions {
			signs = append(signs, sign.Sign{Path: c.Path, Line: f.Line, Kind: sign.InAnyCase, Does: "is work whose tests were seen to pass in any case", Text: f.Name})
		}
		if first, ok := sign.FirstAdded(c.Path, before, after); ok && len(functions) == 0 {
			first.Kind, first.Does = sign.InAnyCase, "is work whose tests were seen to pass in any case"
			signs = append(signs, first)
		}
	}
	return signs[:min(len(signs), maxNamed)], nil
}
