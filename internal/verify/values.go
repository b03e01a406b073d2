package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// errNoValues means that the tests have no replaceable values.
var errNoValues = errors.New("the tests have no values that can be replaced")

// minTelling is how many inputs and expected values make it unlikely that other inputs give the same
// results by chance.
const minTelling = 2

// runWithOtherValues runs gates with other values in the tests, see mutant.Values, or with failing
// tests for gate.FailingTests.
func (c *claim) runWithOtherValues(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	files, err := c.testsWithOtherValues(ctx, w.probe)
	if err != nil {
		return gate.Run{}, err
	}
	if w.tree, err = c.Repo.WithContent(ctx, c.Tree, files); err != nil {
		return gate.Run{}, err
	}
	results, err := c.runNarrowed(ctx, w, gates)
	for i, r := range results {
		// Alone, the tests that prove the work may not read what was changed: others do.
		if err == nil && r.Status == gate.Pass && r.Command != gates[i].ShellCommand() && (w.probe == gate.OtherExpected || w.probe == gate.MixedInputs) {
			var whole []gate.Result
			if whole, err = c.runInCheckout(ctx, gates[i:i+1], w); err == nil {
				results[i] = whole[0]
			}
		}
	}
	return gate.Run{Results: results}, err
}

// testsWithOtherValues returns the changed tests.
func (c *claim) testsWithOtherValues(ctx context.Context, p gate.Probe) (map[string][]byte, error) {
	proving := c.provingTests()
	tests, err := contentsOf(ctx, c.Repo, c.Tree, c.files.mayHoldTests, maxTestsRead)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(tests, func(file string, _ []byte) bool {
		if len(proving) == 0 { // then all proofs are of the new tests, if there are any: old ones compare
			return len(c.seen.Tests.New) > 0 && !mutant.IsData(file) && !slices.Contains(c.seen.Tests.New, file)
		}
		return !mutant.IsData(file) && len(idsOfFile(file, proving, c.isTest)) == 0
	})
	changed, telling := map[string][]byte{}, map[string]bool{}
	given, expects := 0, false // tests name values themselves
	// Tests that compare fail with wrong expected values, if they run. Other inputs may be names by
	// which a file, or the project's runner, finds tests: with these they may not run.
	compares := slices.ContainsFunc(c.seen.Runs[gate.OtherExpected].Results, func(res gate.Result) bool { return res.Status == gate.Fail })
	for file, content := range tests {
		values := mutant.Values(file, content, namesOf(file, idsOfFile(file, proving, c.isTest)), c.ownFunctions())
		for _, text := range values.Distinctive {
			telling[text] = true
		}
		expects = expects || len(values.Expected) > 0
		mutants := map[gate.Probe][]mutant.Mutant{
			gate.OtherExpected: values.Expected, gate.OtherInputs: values.Inputs, gate.MixedInputs: values.Mixed,
			gate.FailingTests: slices.Concat(values.Expected, values.Inputs),
		}[p]
		if len(mutants) == 0 {
			continue
		}
		given += len(mutants)
		if changed[file] = mutant.Apply(content, mutants...); p == gate.FailingTests && !compares {
			changed[file] = mutant.Failing(file, content)
		}
	}
	if p == gate.OtherExpected || p == gate.FailingTests {
		golden := goldenFiles(tests, proving)
		if !expects && c.readsFiles() {
			maps.Copy(golden, dataFiles(tests))
		}
		for file, by := range golden {
			if p == gate.FailingTests {
				file, changed[by] = by, mutant.Failing(by, tests[by])
			}
			if m := mutant.Nudged(tests[file]); changed[file] == nil && len(m) > 0 {
				changed[file] = mutant.Apply(tests[file], m...)
			}
		}
	}
	if len(changed) == 0 || p != gate.OtherExpected && p != gate.FailingTests && min(len(telling), given) < minTelling {
		return nil, errNoValues
	}
	return changed, nil
}

// goldenFiles maps files with expected output to the test that reads them. They have such a name,
// or are beside a file with the same stem (an output beside its input) and mentioned last. Honest
// work fails if either changes, but not if both do.
func goldenFiles(tests map[string][]byte, proving []string) map[string]string {
	stem := func(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }
	golden := map[string]string{}
	for by, content := range tests {
		if mutant.IsData(by) {
			continue
		}
		text := mutant.TextOf(by, content, namesOf(by, proving))
		last := map[string]string{} // by stem
		for _, file := range slices.Sorted(maps.Keys(tests)) {
			at := lastMention(file, text)
			if !mutant.IsData(file) || at < 0 {
				continue
			}
			if mutant.IsExpected(file) {
				golden[file] = by
			} else if other, known := last[stem(file)]; !known || at > lastMention(other, text) {
				last[stem(file)] = file
			}
		}
		for _, file := range last {
			beside := func(other string) bool {
				return other != file && stem(other) == stem(file) && mutant.IsData(other)
			}
			if others := slices.Collect(maps.Keys(tests)); slices.ContainsFunc(others, beside) && !slices.ContainsFunc(others, func(o string) bool { return beside(o) && mutant.IsExpected(o) }) {
				golden[file] = by
			}
		}
	}
	return golden
}

// readsFiles reports whether the work may read what tests expect, or what lies beside it.
func (c *claim) readsFiles() bool {
	return slices.ContainsFunc(c.programs(), func(f changedFile) bool {
		return slices.ContainsFunc(f.sides().Signs(), func(s sign.Sign) bool { return s.Kind == sign.ReadsTests && !c.signs.tests.IsRequested(s) })
	})
}

// dataFiles maps data files that tests mention to the test.
func dataFiles(tests map[string][]byte) map[string]string {
	read := map[string]string{}
	for by, content := range tests {
		if mutant.IsData(by) {
			continue
		}
		for file := range tests {
			if mutant.IsData(file) && lastMention(file, string(content)) >= 0 {
				read[file] = by
			}
		}
	}
	return read
}

// lastMention returns where a test last mentions a file, by name or by extension and folder; -1 if
// nowhere.
func lastMention(file, text string) int {
	if at := strings.LastIndex(text, path.Base(file)); at >= 0 {
		return at
	}
	folder := path.Base(path.Dir(file))
	if path.Ext(file) == "" || folder == "." || !strings.Contains(text, folder) {
		return -1
	}
	last := -1
	for _, m := range regex.New(`\b`+regexp.QuoteMeta(path.Ext(file)[1:])+`\b`).FindAllStringIndex(text, -1) {
		last = m[0]
	}
	return last
}

// namesOf returns the proving tests as a test file names them, or nil if the whole file proves.
func namesOf(file string, proving []string) []string {
	if slices.ContainsFunc(proving, func(id string) bool { return path.Base(id) == path.Base(file) }) {
		return nil
	}
	return namesInFile(proving)
}

// idsOfFile returns the tests that a file may hold: those whose IDs name no other test file. Names of
// tests, such as "//example.com", are no names of tests in each file that has such a text.
func idsOfFile(file string, ids []string, isTest func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		named, _, _ := strings.Cut(id, " > ")
		named, _, _ = strings.Cut(named, "::")
		return named != id && path.Base(named) != path.Base(file) && isTest(named)
	})
}

// ownFunctions returns the names of added or changed functions.
func (c *claim) ownFunctions() []string {
	var names []string
	for _, f := range c.seen.Mutation.Functions {
		name, _, _ := strings.Cut(f, " in ")
		names = append(names, name[strings.LastIndexByte(name, '.')+1:])
	}
	return names
}

// provingTests returns the tests that would prove a claim; none if gates have no test IDs.
func (c *claim) provingTests() []string {
	verdict := gate.Decide(c.seen)
	return slices.DeleteFunc(verdict.Proofs(c.seen.Baseline), func(id string) bool {
		return slices.ContainsFunc(c.seen.Now, func(r gate.Result) bool { return r.Gate == id })
	})
}

// claimSigns returns a claim's signs. Work that no test proves comes first.
func (c *claim) claimSigns(ctx context.Context, verdict gate.Verdict) ([]sign.Sign, error) {
	var first []sign.Sign
	var err error
	switch {
	case verdict.TestsCannotFail:
		first, err = c.workAsSigns(ctx, sign.Sign{Kind: sign.AlwaysPasses, Does: "is work whose tests pass with any result"})
	case verdict.TestsProveNothing() && c.WantedEvidence != gate.Unproven:
		first, err = c.workAsSigns(ctx, sign.Sign{Kind: sign.Untested, Does: "is work that no test proves"})
	}
	if err != nil {
		return nil, err
	}
	rest, err := c.signs.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for signs: %w", err)
	}
	return append(first, rest...), nil
}

// workAsSigns returns the work's functions as signs of one kind, or the first changed lines if the
// language is unknown.
func (c *claim) workAsSigns(ctx context.Context, as sign.Sign) ([]sign.Sign, error) {
	var signs []sign.Sign
	known := slices.DeleteFunc(slices.Clone(c.changes), func(ch git.Change) bool {
		return ch.Status == 'D' || c.isTest(ch.Path) || !sign.IsProgram(ch.Path) && path.Ext(ch.Path) != ""
	})
	err := eachText(ctx, c.Repo, known, func(ch changedFile) error {
		functions := mutant.Changed(ch.Path, ch.before, ch.after)
		as.Path = ch.Path
		for _, f := range functions {
			as.Line, as.Text = f.Line, f.Name
			signs = append(signs, as)
		}
		if script, ok := bytes.CutPrefix(ch.after, []byte("#!")); ok && !sign.IsProgram(ch.Path) {
			interpreter, _, _ := strings.Cut(string(script), "\n")
			as.Line, as.Text = 1, "#!"+interpreter
			signs = append(signs, as)
		} else if first, ok := ch.sides().FirstAdded(); ok && len(functions) == 0 {
			first.Kind, first.Does = as.Kind, as.Does
			signs = append(signs, first)
		}
		return nil
	})
	return signs[:min(len(signs), maxNamed)], err
}
