package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
)

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
