package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// maxParameters bounds the parameters that get zero values, in a run each.
const maxParameters = 4

// namedParameter is a new parameter that the task names, in one or more functions.
type namedParameter struct {
	name    string
	places  []string // of the functions
	mutants map[string][]mutant.Mutant
	large   map[string][]mutant.Mutant // where zero may be refused
}

func (p namedParameter) String() string { return p.name + " (" + strings.Join(p.places, ", ") + ")" }

// namedParameters returns a claim's named parameters in the order of its files.
func (c *claim) namedParameters() (found []namedParameter) {
	for _, f := range c.programs() {
		for _, p := range mutant.Parameters(f.Path, f.before, f.after) {
			if !isNamed(p.Name, c.Asked, 1) {
				continue
			}
			i := slices.IndexFunc(found, func(known namedParameter) bool { return known.name == p.Name })
			if i < 0 {
				i = len(found)
				found = append(found, namedParameter{name: p.Name, mutants: map[string][]mutant.Mutant{}, large: map[string][]mutant.Mutant{}})
			}
			found[i].places = append(found[i].places, fmt.Sprintf("%s:%d in %s", f.Path, p.Line, p.Function))
			found[i].mutants[f.Path] = append(found[i].mutants[f.Path], p.Mutant)
			if p.Large != nil {
				found[i].large[f.Path] = append(found[i].large[f.Path], *p.Large)
			}
		}
	}
	return found[:min(len(found), maxParameters)]
}

// zeroParameters runs gates with one named parameter at a time set to its zero value, and to a large
// number where the work refuses some.
func (c *claim) zeroParameters(ctx context.Context, w runTarget, gates []gate.Gate) (run gate.Run, err error) {
	for _, p := range c.parameters {
		for _, mutants := range []map[string][]mutant.Mutant{p.mutants, p.large} {
			if len(mutants) == 0 {
				continue
			}
			if w.tree, err = c.mutated(ctx, mutants); err != nil {
				return run, err
			}
			if run.Results, err = c.runNarrowed(ctx, w, gates); err != nil {
				return run, err
			}
			if c.seen.PassesAll(run.Results) {
				run.Untested = append(run.Untested, p.String())
				break
			}
		}
	}
	return run, nil
}

// mutated returns the current tree with mutants, by file.
func (c *claim) mutated(ctx context.Context, mutants map[string][]mutant.Mutant) (string, error) {
	files := map[string][]byte{}
	for file, of := range mutants {
		text, err := c.Repo.Show(ctx, c.Tree, file)
		if err != nil {
			return "", err
		}
		files[file] = mutant.Apply(text, of...)
	}
	return c.Repo.WithContent(ctx, c.Tree, files)
}
