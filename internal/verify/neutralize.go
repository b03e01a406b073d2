package verify

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
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

// comparing matches a task about equality.
var comparing = regex.New(`(?i)equal|\beq\b|__eq__|compar|==`)

// neutralize returns the tree with the named signs neutralized, or all if only is nil, see
// sign.Neutralize. Equalities compare all fields; tables of test inputs get other inputs.
func (c *claim) neutralize(ctx context.Context, only []string) (neutralizedTree, error) {
	var n neutralizedTree
	if len(c.changes) > maxChangedFiles {
		return n, nil
	}
	tests, err := c.before()
	if err != nil {
		return n, err
	}
	may := func(s sign.Sign) bool {
		return !c.signs.tests.IsRequested(s) && (only == nil || slices.Contains(only, describeSign(s)))
	}
	moved, err := movedTexts(ctx, c.Repo, c.changes)
	if err != nil {
		return n, err
	}
	files := map[string][]byte{}
	for _, ch := range c.signs.changed {
		if ch.Status == 'D' || !sign.IsProgram(ch.Path) {
			continue
		}
		if text, ok := moved[ch.Path]; ok {
			ch.before = text
		}
		change := ch.sides()
		text, names := c.neutralizeFile(change, tests, may)
		if only == nil && !c.isTest(ch.Path) {
			n.hardcoded = append(n.hardcoded, hardcodedPlaces(change, c.signs.tests, c.Asked)...)
		}
		if len(names) > 0 {
			files[ch.Path] = text
			n.names = append(n.names, names...)
		}
	}
	n.tree, err = c.Repo.WithContent(ctx, c.Tree, files)
	return n, err
}

// hardcodedPlaces returns places in a file that contain what tests expect, or read it. A file that the
// task names may be read.
func hardcodedPlaces(change *sign.Change, tests *sign.Tests, asked string) (places []string) {
	reads := slices.DeleteFunc(change.Signs(), func(s sign.Sign) bool {
		return s.Kind != sign.ReadsTests || tests.IsRequested(s) || slices.ContainsFunc(quotedFile.FindAllString(s.Text, -1), func(file string) bool {
			return asksFor(asked, path.Base(strings.Trim(file, "\"'`")))
		})
	})
	for _, s := range append(tests.HardcodedAnswers(change), reads...) {
		places = append(places, fmt.Sprintf("%s:%d", s.Path, s.Line))
	}
	return places
}

var (
	// quotedFile matches the name of a file in quotes.
	quotedFile = regex.New("[\"'`][\\w./-]+\\.\\w+[\"'`]")
	// mentionedFile matches the path of a file in a text.
	mentionedFile = regex.New(`[\w./-]+\.\w+`)
)

// asksFor reports whether the task names a file of a base name that is no test: by its path or its name alone.
func asksFor(asked, base string) bool {
	return slices.ContainsFunc(mentionedFile.FindAllString(asked, -1), func(file string) bool { return path.Base(file) == base && !IsTest(nil, file) })
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
	redefined := slices.DeleteFunc(old.RedefinedCommands(change), func(s sign.Sign) bool { return !may(s) })
	for _, s := range redefined {
		took(s)
	}
	text = sign.RenameRedefined(text, redefined)
	var strict []mutant.Mutant
	for _, p := range c.signs.switches(change.File, change.Before, text) {
		if may(p.Sign) {
			strict = append(strict, p.off)
			took(p.Sign)
		}
	}
	if comparing.MatchString(c.Asked) {
		return mutant.Apply(text, strict...), names
	}
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
	n, err := c.neutralize(ctx, nil)
	return n.tree, err
}

// maxSignsAlone bounds the signs that are neutralized alone.
const maxSignsAlone = 4

// neutralizeOneByOne neutralizes one sign at a time until tests fail. If they need several, it
// neutralizes all.
func (c *claim) neutralizeOneByOne(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	run := func(only []string) ([]gate.Result, error) {
		n, err := c.neutralize(ctx, only)
		if err != nil {
			return nil, err
		}
		w.tree = n.tree
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
