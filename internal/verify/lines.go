package verify

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// Missed is a line of the work that no test notices.
type Missed struct {
	Line int    `json:"line" jsonschema:"in the file"`
	Does string `json:"does" jsonschema:"what it did when all tests passed: never holds, is left out"`
	Text string `json:"text" jsonschema:"the line"`
}

// Bounds of the lines of one change that are tried, and of those that are named.
const (
	maxLinesTried = 40
	maxMissed     = 4
)

// lines leaves out one added condition or statement after another, conditions first, in the
// time that is left, and returns by file those that no test notices.
func (p *prover) lines(ctx context.Context) (map[string][]Missed, error) {
	changes, err := p.v.Repo.Diff(ctx, p.r.Before, p.r.After)
	if err != nil {
		return nil, err
	}
	type line struct {
		file string
		mutant.Branch
	}
	var todo []line
	for _, c := range changes {
		if p.content[c.Path] == nil {
			continue
		}
		before, after, err := contents(ctx, p.v.Repo, p.r.Before, p.r.After, c)
		if err != nil {
			return nil, err
		}
		for _, b := range mutant.Branches(c.Path, before, after) {
			todo = append(todo, line{c.Path, b})
		}
	}
	conditions := slices.DeleteFunc(slices.Clone(todo), func(l line) bool { return !l.Condition })
	statements := slices.DeleteFunc(todo, func(l line) bool { return l.Condition })
	todo = slices.Concat(conditions, statements)
	missed, n := map[string][]Missed{}, 0
	for _, l := range todo[:min(len(todo), maxLinesTried)] {
		one, err := p.mutant(ctx, mutant.Function{Path: l.file}, l.Mutant)
		switch {
		case errors.Is(err, errTimeOver):
			return missed, nil
		case err != nil:
			return missed, err
		case one.Result == gate.Unnoticed:
			missed[l.file] = append(missed[l.file], Missed{l.Line, l.Mutant.Does, l.Text})
			n++
		}
		if n == maxMissed {
			break
		}
	}
	return missed, nil
}
