package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// neutralized is the tree of a claim in which signs of the work have no effect.
type neutralized struct {
	tree  string
	names []string // of the signs, each in words that follow "because of"
	held  []string // places that hold what tests expect
}

// neutralizing finds the signs of a claim that can be neutralized.
type neutralizing struct {
	tests *sign.Tests       // as they were before the work, which may hold their answers
	asked *sign.Tests       // as they are now, for what they ask for by name
	may   func(string) bool // the sign of this name is to be neutralized; nil = all
	// equality: what was asked for says nothing of comparing, so that an equality is no
	// work of its own.
	equality bool
}

// comparing is asked for where an equality is what a task is about.
var comparing = regex.New(`(?i)equal|\beq\b|__eq__|compar|==`)

// neutralize makes the signs of the work ineffective, those that are named or, where
// none is, all: see sign.Neutral. An equality compares all fields, and a table of inputs
// of the tests is asked for others.
func (v *Verifier) neutralize(ctx context.Context, r Request, only []string) (neutralized, error) {
	var n neutralized
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxBroken {
		return n, err
	}
	in := neutralizing{equality: !comparing.MatchString(r.Asked)}
	if only != nil {
		in.may = func(name string) bool { return slices.Contains(only, name) }
	}
	if in.tests, err = testsIn(ctx, v.Repo, v.signRequest(r.Base, r.Base, r.Asked)); err != nil {
		return n, err
	}
	if in.asked, err = testsIn(ctx, v.Repo, v.signRequest(r.Base, r.Tree, r.Asked)); err != nil {
		return n, err
	}
	files := map[string][]byte{}
	for _, c := range changes {
		if c.Status == 'D' || !sign.Knows(c.Path) {
			continue
		}
		text, names, err := v.neutralFile(ctx, r, c, in)
		if err != nil {
			return n, err
		}
		if only == nil && !v.isTest(c.Path) {
			held, err := v.heldBy(ctx, r, c, in.asked)
			if n.held = append(n.held, held...); err != nil {
				return n, err
			}
		}
		if len(names) > 0 {
			files[c.Path] = text
			n.names = append(n.names, names...)
		}
	}
	n.tree, err = v.Repo.WithContent(ctx, r.Tree, files)
	return n, err
}

// heldBy names the places of a changed file that hold what tests expect, or read it.
func (v *Verifier) heldBy(ctx context.Context, r Request, c git.Change, tests *sign.Tests) ([]string, error) {
	before, after, err := contents(ctx, v.Repo, c)
	if err != nil {
		return nil, err
	}
	var names []string
	change := sign.NewChange(c.Path, before, after)
	reads := slices.DeleteFunc(change.Signs(), func(s sign.Sign) bool { return s.Kind != sign.ReadsTests || tests.Ask(s) })
	for _, s := range append(tests.Held(change), reads...) {
		names = append(names, fmt.Sprintf("%s:%d", s.Path, s.Line))
	}
	return names, nil
}

// neutralFile is a file with the signs neutralized that may be. All but the last step
// leave lines where they are.
func (v *Verifier) neutralFile(ctx context.Context, r Request, c git.Change, in neutralizing) ([]byte, []string, error) {
	before, after, err := contents(ctx, v.Repo, c)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	may := func(s sign.Sign) bool { return !in.asked.Ask(s) && (in.may == nil || in.may(inWords(s))) }
	took := func(s sign.Sign) {
		if name := inWords(s); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	change := sign.NewChange(c.Path, before, after)
	text, done := change.NeutralTest(may)
	for _, s := range done {
		took(s)
	}
	if v.isTest(c.Path) {
		return text, names, nil
	}
	text, done = sign.NewChange(c.Path, before, text).Neutral(may)
	for _, s := range done {
		took(s)
	}
	var tables []sign.Answer
	for _, a := range in.tests.Answers(change) {
		if a.Neutralizable() && may(a.Sign) {
			tables = append(tables, a)
			took(a.Sign)
		}
	}
	if len(done) == 0 { // else the places of the keys may have moved in their lines
		text = in.tests.Neutral(text, tables)
	}
	redefined := slices.DeleteFunc(in.tests.Redefined(change), func(s sign.Sign) bool { return !may(s) })
	for _, s := range redefined {
		took(s)
	}
	text = sign.WithoutRedefined(text, redefined)
	if !in.equality {
		return text, names, nil
	}
	var strict []mutant.Mutant
	for _, f := range mutant.Equalities(c.Path, before, text) {
		if s := equalitySign(f); len(f.Mutants) > 0 && may(s) && !slices.ContainsFunc(done, s.Within(f.Lines)) {
			strict = append(strict, f.Mutants...)
			took(s)
		}
	}
	return mutant.Apply(text, strict...), names, nil
}

func inWords(s sign.Sign) string { return fmt.Sprintf("%s:%d, which %s", s.Path, s.Line, s.Does) }

func equalitySign(f mutant.Function) sign.Sign {
	return sign.Sign{Path: f.Path, Line: f.Line, Kind: sign.Equality, Does: "changes what equal means", Text: f.Head}
}

// maxAlone bounds the signs that are neutralized alone.
const maxAlone = 4

// repeatNeutral runs gates once more with signs neutralized, where tests failed without
// all of them: with each sign alone until one is found that they need; where they need
// several, with all.
func (v *Verifier) repeatNeutral(ctx context.Context, r Request, o *gate.Observation, gates []gate.Gate) (gate.Run, error) {
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: gate.SignsOneByOne, uncached: true}
	run := func(only []string) ([]gate.Result, error) {
		n, err := v.neutralize(ctx, r, only)
		if err != nil {
			return nil, err
		}
		w.tree = n.tree
		return narrow(v.Root, gates, o.ProbeTests(gate.SignsOneByOne), func(gates []gate.Gate) ([]gate.Result, error) { return v.elsewhere(ctx, gates, w) })
	}
	if len(o.Signs) > 1 {
		for _, name := range o.Signs[:min(len(o.Signs), maxAlone)] {
			results, err := run([]string{name})
			if err != nil {
				return gate.Run{}, err
			}
			if slices.ContainsFunc(results, func(res gate.Result) bool { return len(o.FailingNeutralized(o.ProvingTests(res.Gate), res)) > 0 }) {
				return gate.Run{Results: results, NeededSigns: []string{name}}, nil
			}
		}
	}
	return answer(run(nil))
}
