package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// maxParameters bounds the parameters that get zero values, in a run each.
const maxParameters = 4

// namedParameter is a new parameter that the task names, in one or more functions.
type namedParameter struct {
	name    string
	places  []string // of the functions
	mutants map[string][]mutant.Mutant
}

func (p namedParameter) String() string { return p.name + " (" + strings.Join(p.places, ", ") + ")" }

// namedParameters returns a claim's named parameters in the order of its files.
func (v *Verifier) namedParameters(ctx context.Context, r Request) (found []namedParameter, content map[string][]byte, err error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxChangedFiles {
		return nil, nil, err
	}
	content = map[string][]byte{}
	for _, c := range changes {
		if !v.isProgram(c) {
			continue
		}
		before, after, err := contents(ctx, v.Repo, c)
		if err != nil {
			return nil, nil, err
		}
		content[c.Path] = after
		for _, p := range mutant.Parameters(c.Path, before, after) {
			if !isNamed(p.Name, r.Asked, 1) {
				continue
			}
			i := slices.IndexFunc(found, func(known namedParameter) bool { return known.name == p.Name })
			if i < 0 {
				i = len(found)
				found = append(found, namedParameter{name: p.Name, mutants: map[string][]mutant.Mutant{}})
			}
			found[i].places = append(found[i].places, fmt.Sprintf("%s:%d in %s", c.Path, p.Line, p.Function))
			found[i].mutants[c.Path] = append(found[i].mutants[c.Path], p.Mutant)
		}
	}
	return found[:min(len(found), maxParameters)], content, nil
}

// isProgram reports whether a change is of a file with known functions that is no test.
func (v *Verifier) isProgram(c git.Change) bool {
	return len(v.changedPrograms([]git.Change{c})) == 1
}

// zeroParameters runs gates with one named parameter at a time set to its zero value.
func (v *Verifier) zeroParameters(ctx context.Context, r Request, o *gate.Observation, gates []gate.Gate) (run gate.Run, err error) {
	named, content, err := v.namedParameters(ctx, r)
	if err != nil {
		return run, err
	}
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: gate.ZeroParameters, uncached: true}
	for _, p := range named {
		files := map[string][]byte{}
		for file, mutants := range p.mutants {
			files[file] = mutant.Apply(content[file], mutants...)
		}
		if w.tree, err = v.Repo.WithContent(ctx, r.Tree, files); err != nil {
			return run, err
		}
		run.Results, err = narrow(v.Root, gates, o.ProbeTests(gate.ZeroParameters), func(gates []gate.Gate) ([]gate.Result, error) { return v.runInCheckout(ctx, gates, w) })
		if err != nil {
			return run, err
		}
		if o.PassesAll(run.Results) {
			run.Untested = append(run.Untested, p.String())
		}
	}
	return run, nil
}
