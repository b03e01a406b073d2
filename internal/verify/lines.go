package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// Missed is a line of the work that no test notices.
type Missed struct {
	Path string `json:"path" jsonschema:"of its file, from the repository's top"`
	Line int    `json:"line" jsonschema:"in the file"`
	In   string `json:"in,omitempty" jsonschema:"the function that it stands in"`
	Does string `json:"does" jsonschema:"what it did when all tests passed: never holds, is left out"`
	Text string `json:"text" jsonschema:"the line"`
}

// String says it so that it follows "no test notices when".
func (m Missed) String() string {
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

// changedLines are those between the trees, tests aside, in the order in which they are tried,
// with the content of their files.
func (v *Verifier) changedLines(ctx context.Context, r ProofRequest, content map[string][]byte) (all []changedLine, err error) {
	changes, err := v.Repo.Diff(ctx, r.Before, r.After)
	if err != nil || len(changes) > maxBroken {
		return nil, err
	}
	for _, c := range changes {
		_, known := content[c.Path]
		if c.Status == 'D' || v.isTest(c.Path) || v.isMark(c.Path) || mutant.Knows(c.Path) && !known {
			continue
		}
		before, after, err := contents(ctx, v.Repo, c)
		if err != nil {
			return nil, err
		}
		for _, l := range mutant.Lines(c.Path, before, after) {
			content[c.Path] = after
			all = append(all, changedLine{l, c.Path})
		}
	}
	slices.SortStableFunc(all, func(a, b changedLine) int { return a.Order - b.Order })
	return all[:min(len(all), maxLinesTried)], nil
}

// lines breaks one line after another in the time that is left, and returns those that no test
// notices. Of two in one place the first is named.
func (p *prover) lines(ctx context.Context, todo []changedLine) (missed []Missed, err error) {
	for _, l := range todo {
		if slices.ContainsFunc(missed, func(m Missed) bool { return m.Path == l.file && m.Line == l.Number }) {
			continue
		}
		one, err := p.mutant(ctx, mutant.Function{Path: l.file}, l.Mutant)
		switch {
		case errors.Is(err, errTimeOver):
			return missed, nil
		case err != nil:
			return missed, err
		case one.Result == gate.Survived:
			missed = append(missed, Missed{l.file, l.Number, l.Within, l.Mutant.Does, l.Text})
		}
		if len(missed) == maxMissed {
			break
		}
	}
	return missed, nil
}
