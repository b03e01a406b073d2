package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// comparing matches a task about equality.
var comparing = regex.New(`(?i)equal|\beq\b|__eq__|compar|==`)

// neutralize returns the tree with the named signs neutralized, or all if only is nil, see
// sign.Neutralize, and their names, worded to follow "because of". Equalities compare all fields; tables of
// test inputs get other inputs.
func (c *claim) neutralize(ctx context.Context, only []string) (tree string, names []string, err error) {
	tests, err := c.before()
	if err != nil {
		return "", nil, err
	}
	may := func(s sign.Sign) bool {
		return !c.signs.tests.IsRequested(s) && (only == nil || slices.Contains(only, describeSign(s)))
	}
	moved, err := movedTexts(ctx, c.Repo, c.changes)
	if err != nil {
		return "", nil, err
	}
	files := map[string][]byte{}
	for _, ch := range c.signs.changed {
		if ch.Status == 'D' || !sign.IsProgramText(ch.Path, ch.after) {
			continue
		}
		if text, ok := moved[ch.Path]; ok {
			ch.before = text
		}
		if text, done := c.neutralizeFile(ch.sides(), tests, may); len(done) > 0 {
			files[ch.Path] = text
			names = append(names, done...)
		}
	}
	tree, err = c.Repo.WithContent(ctx, c.Tree, files)
	return tree, names, err
}

// neutralizeFile neutralizes the signs of a file that may be; old are the tests before the work, whose
// answers it may contain. All but the last step keep line numbers.
func (c *claim) neutralizeFile(change *sign.Change, old *sign.Tests, may func(sign.Sign) bool) ([]byte, []string) {
	var names []string
	took := func(s sign.Sign) {
		if name := describeSign(s); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text, done := change.NeutralizeTest(may)
	for _, s := range done {
		took(s)
	}
	if c.isTest(change.File) {
		return text, names
	}
	text, done = sign.NewChange(change.File, change.Before, text).Neutralize(may)
	for _, s := range done {
		took(s)
	}
	var tables []sign.AnswerTable
	for _, a := range old.AnswerTables(change) {
		if a.CanNeutralize() && may(a.Sign) {
			tables = append(tables, a)
			took(a.Sign)
		}
	}
	if len(done) == 0 { // else the places of the keys may have moved in their lines
		text = old.NeutralizeTables(text, tables)
	}
	if comparing.MatchString(c.Asked) {
		return text, names
	}
	var strict []mutant.Mutant
	for _, f := range mutant.EqualityFunctions(change.File, change.Before, text) {
		if s := equalitySign(f); len(f.Mutants) > 0 && may(s) && !slices.ContainsFunc(done, s.Within(f.Lines)) {
			strict = append(strict, f.Mutants...)
			took(s)
		}
	}
	return mutant.Apply(text, strict...), names
}

func describeSign(s sign.Sign) string { return fmt.Sprintf("%s:%d, which %s", s.Path, s.Line, s.Does) }

func equalitySign(f mutant.Function) sign.Sign {
	return sign.Sign{Path: f.Path, Line: f.Line, Kind: sign.Equality, Does: "changes what equal means", Text: f.Head}
}

// withoutSigns returns the current tree with all signs neutralized.
func (c *claim) withoutSigns(ctx context.Context) (string, error) {
	tree, _, err := c.neutralize(ctx, nil)
	return tree, err
}

// maxSignsAlone bounds the signs that are neutralized alone.
const maxSignsAlone = 4

// neutralizeOneByOne neutralizes one sign at a time until tests fail. If they need several, it
// neutralizes all.
func (c *claim) neutralizeOneByOne(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	run := func(only []string) ([]gate.Result, error) {
		tree, _, err := c.neutralize(ctx, only)
		if err != nil {
			return nil, err
		}
		w.tree = tree
		return c.runNarrowed(ctx, w, gates)
	}
	if len(c.seen.Work.Signs) > 1 {
		for _, name := range c.seen.Work.Signs[:min(len(c.seen.Work.Signs), maxSignsAlone)] {
			results, err := run([]string{name})
			if err != nil {
				return gate.Run{}, err
			}
			if slices.ContainsFunc(results, func(res gate.Result) bool {
				return len(c.seen.FailingNeutralized(c.seen.ProvingTests(res.Gate), res)) > 0
			}) {
				return gate.Run{Results: results, NeededSigns: []string{name}}, nil
			}
		}
	}
	return asRun(run(nil))
}
