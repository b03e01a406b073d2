package verify

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
	"github.com/pawl-dev/pawl/internal/work"
)

// A changed gate input (package work) is no violation. It counts like a changed old test: the gates
// run once more with the original.

// testShaperGlobs match test files that change what old tests do.
const testShaperGlobs = `
	**/conftest.py **/__mocks__/** **/spec_helper.rb **/rails_helper.rb **/test_helper.rb **/test_helper.exs **/TestCase.php`

// inputClassifier finds the gate inputs among a claim's changes.
type inputClassifier struct {
	v     *Verifier
	r     Request
	marks func() []string // see Verifier.Marks
	rules func() (work.Rules, error)
}

func (v *Verifier) classifyInputs(ctx context.Context, r Request) inputClassifier {
	marks := func() []string { return nil }
	if v.Marks != nil {
		marks = sync.OnceValue(v.Marks)
	}
	return inputClassifier{v: v, r: r, marks: marks, rules: sync.OnceValues(func() (work.Rules, error) { return v.workRules(ctx, r) })}
}

// workRules returns what counts as work in the request's repository.
func (v *Verifier) workRules(ctx context.Context, r Request) (work.Rules, error) {
	compiled, err := v.Repo.HasAny(ctx, r.ProtectedTree, func(file string) bool { return work.IsSource(file) && !v.isTest(file) })
	if err != nil {
		return work.Rules{}, err
	}
	rules := work.Rules{Globs: r.Work, Shell: !compiled}
	steps, through := testreport.Reach(r.Gates, func(file string) ([]byte, error) { return v.Repo.Show(ctx, r.ProtectedTree, file) })
	rules.Checked = func(file string) bool { return gatesRead(steps, path.Base(file)) }
	rules.Runs = func(file string) bool { return gatesRunScript(steps, file) }
	named := func(file string) bool { return gatesName(r.Gates, steps, file) }
	loaded := sync.OnceValue(func() func(string) bool { return v.productData(ctx, r.ProtectedTree, named) }) // few claims need it
	rules.Loaded = func(file string) bool { return !named(file) && loaded()(path.Base(file)) }
	outside := slices.DeleteFunc(slices.Clone(steps), func(s testrun.Step) bool { return s.From != "" && v.isTest(s.From) })
	rules.Asked = func(file string) bool { // a file that only a test script runs is what it tests
		return work.Names(r.Asked, file) && !gatesName(r.Gates, outside, file) && (!slices.Contains(through, file) || gatesRunScript(steps, file))
	}
	rules.Make = slices.ContainsFunc(steps, func(s testrun.Step) bool { return buildTool.MatchString(s.Words[0]) })
	rules.HasFiles = func(dir string) bool {
		if dir == "." {
			return r.ProtectedTree != emptyTree(r.ProtectedTree)
		}
		files, err := v.Repo.Entries(ctx, r.ProtectedTree, dir)
		return err != nil || len(files) > 0
	}
	return rules, nil
}

// buildTool matches commands that build targets.
var buildTool = regex.New(`(^|/)(g?make|ninja)$`)

// gatesRead reports whether gates pass a file of this name to a command, except one that compares
// files.
func gatesRead(steps []testrun.Step, base string) bool {
	return slices.ContainsFunc(steps, func(s testrun.Step) bool {
		compares := slices.Contains([]string{"diff", "cmp", "comm"}, path.Base(s.Words[0]))
		return !compares && slices.ContainsFunc(slices.Concat(s.Words, s.Input), func(word string) bool { return path.Base(word) == base })
	})
}

// gatesName reports whether gates mention a file in their commands or scripts.
func gatesName(gates []gate.Gate, steps []testrun.Step, file string) bool {
	base := path.Base(file)
	return slices.ContainsFunc(gate.Commands(gates), func(g gate.Gate) bool { return strings.Contains(g.ShellCommand(), base) }) ||
		slices.ContainsFunc(steps, func(s testrun.Step) bool {
			return slices.ContainsFunc(slices.Concat(s.Words, s.Input), func(word string) bool { return path.Base(word) == base })
		})
}

// gatesRunScript reports whether gates run a script for its exit code. A sourced script is as often
// what is tested.
func gatesRunScript(steps []testrun.Step, file string) bool {
	return slices.ContainsFunc(steps, func(s testrun.Step) bool {
		sourced := s.Words[0] == "." || s.Words[0] == "source"
		return !s.Compared && !sourced && s.Script() != "" && path.Join(s.Dir, s.Script()) == file
	})
}

// isGateInput reports whether a change since the protected tree is of a gate input that is no test,
// or of what old tests do.
func (in inputClassifier) isGateInput(ctx context.Context, ch git.Change) (bool, error) {
	if in.v.isTest(ch.Path) {
		return in.changesOldTests(ctx, ch)
	}
	if slices.Contains(in.marks(), ch.Path) || ch.To.ID != "" && !ch.To.IsFile() { // of a submodule there is no copy
		return false, nil
	}
	if ch.Status == 'D' && in.v.isInWorkTree(ch.Path) {
		return true, nil // git no longer tracks it: a gate may ask git which files there are
	}
	rules, err := in.rules()
	if err != nil {
		return false, err
	}
	if ch.Status == 'M' && work.IsSource(ch.Path) {
		if was, err := in.v.fileContent(ctx, in.r.ProtectedTree, ch.Path); err != nil || isTestHelper(ch.Path, was) {
			return err == nil, err
		}
	}
	if work.IsManifest(ch.Path) && ch.Status == 'M' {
		was, err := in.v.fileContent(ctx, in.r.ProtectedTree, ch.Path)
		if err != nil {
			return false, err
		}
		now, err := in.v.fileContent(ctx, in.r.Tree, ch.Path)
		return err == nil && !work.DependenciesOnly(ch.Path, was, now), err
	}
	if ch.Status == 'M' && work.ListsSources(ch.Path) {
		was, with, err := in.v.withNewSources(ctx, in.r.ProtectedTree, in.r.Tree, ch)
		if err != nil || bytes.Equal(was, with) {
			return err == nil, err
		}
		now, err := in.v.fileContent(ctx, in.r.Tree, ch.Path)
		return err == nil && !bytes.Equal(now, with), err
	}
	if !rules.Is(work.Change{Path: ch.Path, Added: ch.Status == 'A', Executable: ch.To.IsExecutable()}) {
		return true, nil
	}
	return in.isLimit(ctx, ch, rules)
}

// onlyNumber matches a file that contains only a limit, such as the wanted coverage.
var onlyNumber = regex.New(`^\s*[0-9]+(?:\.[0-9]+)?\s*%?\s*$`)

// isLimit reports whether a file contains only a number, before and now, and nobody calls it work.
func (in inputClassifier) isLimit(ctx context.Context, ch git.Change, rules work.Rules) (bool, error) {
	if ch.Status != 'M' || rules.Shell || work.IsSource(ch.Path) || work.Matches(rules.Globs, ch.Path) || rules.Asked(ch.Path) {
		return false, nil
	}
	for _, tree := range []string{in.r.ProtectedTree, in.r.Tree} {
		if text, err := in.v.fileContent(ctx, tree, ch.Path); err != nil || !onlyNumber.Match(text) {
			return false, err
		}
	}
	return true, nil
}

// changesOldTests reports whether a new test file changes what old tests do.
func (in inputClassifier) changesOldTests(ctx context.Context, ch git.Change) (bool, error) {
	if ch.Status != 'A' {
		return false, nil
	}
	may := matchesAny(testShaperGlobs, ch.Path)
	if !may {
		content, err := in.v.fileContent(ctx, in.r.Tree, ch.Path)
		if err != nil {
			return false, err
		}
		declares := sync.OnceValue(func() func(string) bool { return in.v.declaredIn(ctx, in.r.Tree) }) // few files need it
		may = testdiff.MayChangeOthers(testdiff.File{Path: ch.Path, Content: content}, func(name string) bool { return declares()(name) })
	}
	return may && in.v.hasTests(ctx, in.r.ProtectedTree), nil
}

// isInWorkTree reports whether a file is in the agent's work tree, tracked or not.
func (v *Verifier) isInWorkTree(file string) bool {
	info, err := os.Lstat(filepath.Join(v.Repo.Root(), filepath.FromSlash(file)))
	return err == nil && !info.IsDir()
}

// isMark reports whether Pawl itself writes the file.
func (v *Verifier) isMark(file string) bool {
	return v.Marks != nil && slices.Contains(v.Marks(), file)
}

func matchesAny(globs, file string) bool {
	return work.Matches(strings.Fields(globs), file)
}

// hasTests reports whether a tree has tests; if unreadable, yes.
func (v *Verifier) hasTests(ctx context.Context, tree string) bool {
	tests, err := v.Repo.Select(ctx, tree, v.files.tests)
	return err != nil || len(tests) > 0 // if unreadable, assume yes
}

// withNewSources returns the old build file, and the same with the new sources that it lists now.
func (v *Verifier) withNewSources(ctx context.Context, before, after string, ch git.Change) (was, with []byte, err error) {
	was, is, err := contents(ctx, v.Repo, ch)
	if err != nil {
		return nil, nil, err
	}
	old, err := v.Repo.Entries(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	entries, err := v.Repo.Entries(ctx, after)
	return was, work.Registered(ch.Path, was, is, func(name string) bool {
		at := path.Join(path.Dir(ch.Path), name)
		_, stood := old[at]
		_, stands := entries[at]
		return stands && !stood && work.IsSource(at) && !v.isTest(at)
	}), err
}

// withFilesOf returns a tree with some files from another one. Entries for new sources stay.
func (v *Verifier) withFilesOf(ctx context.Context, tree, from string, files []string) (string, error) {
	back, err := v.Repo.Overlay(ctx, tree, from, files)
	if err != nil || !slices.ContainsFunc(files, work.ListsSources) {
		return back, err
	}
	changed, err := v.Repo.Diff(ctx, from, tree)
	if err != nil {
		return "", err
	}
	lists := map[string][]byte{}
	for _, ch := range changed {
		if ch.Status == 'M' && work.ListsSources(ch.Path) && slices.Contains(files, ch.Path) {
			if _, lists[ch.Path], err = v.withNewSources(ctx, from, tree, ch); err != nil {
				return "", err
			}
		}
	}
	return v.Repo.WithContent(ctx, back, lists)
}
