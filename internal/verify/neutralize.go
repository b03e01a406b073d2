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

// neutralizedTree is a claim's tree with neutralized signs.
type neutralizedTree struct {
	tree      string
	names     []string // of the signs, worded to follow "because of"
	hardcoded []string // places with values that tests expect
}

// signSelection selects the signs to neutralize.
type signSelection struct {
	tests    *sign.Tests       // before the work, whose answers it may contain
	current  *sign.Tests       // now, for names that they ask for
	selected func(string) bool // reports whether to neutralize a sign; nil = all
	// equality: the task does not mention comparing, so an added equality is a sign.
	equality bool
}

// comparing matches a task about equality.
var comparing = regex.New(`(?i)equal|\beq\b|__eq__|compar|==`)

// neutralize returns the tree with the named signs neutralized, or all if only is nil, see
// sign.Neutral. Equalities compare all fields; tables of test inputs get other inputs.
func (v *Verifier) neutralize(ctx context.Context, r Request, only []string) (neutralizedTree, error) {
	var n neutralizedTree
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxChangedFiles {
		return n, err
	}
	in := signSelection{equality: !comparing.MatchString(r.Asked)}
	if only != nil {
		in.selected = func(name string) bool { return slices.Contains(only, name) }
	}
	if in.tests, err = testsIn(ctx, v.Repo, v.signRequest(r.Base, r.Base, r.Asked)); err != nil {
		return n, err
	}
	if in.current, err = testsIn(ctx, v.Repo, v.signRequest(r.Base, r.Tree, r.Asked)); err != nil {
		return n, err
	}
	files := map[string][]byte{}
	for _, c := range changes {
		if c.Status == 'D' || !sign.Knows(c.Path) {
			continue
		}
		text, names, err := v.neutralizeFile(ctx, r, c, in)
		if err != nil {
			return n, err
		}
		if only == nil && !v.isTest(c.Path) {
			held, err := v.hardcodedPlaces(ctx, r, c, in.current)
			if n.hardcoded = append(n.hardcoded, held...); err != nil {
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

// hardcodedPlaces returns places in a file that contain what tests expect, or read it.
func (v *Verifier) hardcodedPlaces(ctx context.Context, r Request, c git.Change, tests *sign.Tests) ([]string, error) {
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

// neutralizeFile neutralizes the selected signs of a file. All but the last step keep line numbers.
func (v *Verifier) neutralizeFile(ctx context.Context, r Request, c git.Change, in signSelection) ([]byte, []string, error) {
	before, after, err := contents(ctx, v.Repo, c)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	may := func(s sign.Sign) bool {
		return !in.current.Ask(s) && (in.selected == nil || in.selected(describeSign(s)))
	}
	took := func(s sign.Sign) {
		if name := describeSign(s); !slices.Contains(names, name) {
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
	for _, f := range mutant.EqualityFunctions(c.Path, before, text) {
		if s := equalitySign(f); len(f.Mutants) > 0 && may(s) && !slices.ContainsFunc(done, s.Within(f.Lines)) {
			strict = append(strict, f.Mutants...)
			took(s)
		}
	}
	return mutant.Apply(text, strict...), names, nil
}

func describeSign(s sign.Sign) string { return fmt.Sprintf("%s:%d, which %s", s.Path, s.Line, s.Does) }

func equalitySign(f mutant.Function) sign.Sign {
	return sign.Sign{Path: f.Path, Line: f.Line, Kind: sign.Equality, Does: "changes what equal means", Text: f.Head}
}

// maxSignsAlone bounds the signs that are neutralized alone.
const maxSignsAlone = 4

// neutralizeOneByOne neutralizes one sign at a time until tests fail. If they need several, it
// neutralizes all.
func (v *Verifier) neutralizeOneByOne(ctx context.Context, r Request, o *gate.Observation, gates []gate.Gate) (gate.Run, error) {
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: gate.SignsOneByOne, uncached: true}
	run := func(only []string) ([]gate.Result, error) {
		n, err := v.neutralize(ctx, r, only)
		if err != nil {
			return nil, err
		}
		w.tree = n.tree
		return narrow(v.Root, gates, o.ProbeTests(gate.SignsOneByOne), func(gates []gate.Gate) ([]gate.Result, error) { return v.runInCheckout(ctx, gates, w) })
	}
	if len(o.Signs) > 1 {
		for _, name := range o.Signs[:min(len(o.Signs), maxSignsAlone)] {
			results, err := run([]string{name})
			if err != nil {
				return gate.Run{}, err
			}
			if slices.ContainsFunc(results, func(res gate.Result) bool { return len(o.FailingNeutralized(o.ProvingTests(res.Gate), res)) > 0 }) {
				return gate.Run{Results: results, NeededSigns: []string{name}}, nil
			}
		}
	}
	return asRun(run(nil))
}
