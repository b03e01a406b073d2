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

// A change of a gate input (package work) accuses nobody. It counts like a change of an
// old test: the gates run once more with the input as it was.

// shapers have the name of a test, and change what the tests do that were there.
const shapers = `
	**/conftest.py **/__mocks__/** **/spec_helper.rb **/rails_helper.rb **/test_helper.rb **/test_helper.exs **/TestCase.php`

// inputs tells the gate inputs among the changes of a claim.
type inputs struct {
	v     *Verifier
	r     Request
	marks func() []string // see Verifier.Marks
	rules func() (work.Rules, error)
}

func (v *Verifier) inputsOf(ctx context.Context, r Request) inputs {
	marks := func() []string { return nil }
	if v.Marks != nil {
		marks = sync.OnceValue(v.Marks)
	}
	return inputs{v: v, r: r, marks: marks, rules: sync.OnceValues(func() (work.Rules, error) { return v.workRules(ctx, r) })}
}

// workRules say what is work in the repository of a request.
func (v *Verifier) workRules(ctx context.Context, r Request) (work.Rules, error) {
	compiled, err := v.Repo.HasAny(ctx, r.ProtectedTree, func(file string) bool { return work.IsSource(file) && !v.isTest(file) })
	if err != nil {
		return work.Rules{}, err
	}
	rules := work.Rules{Globs: r.Work, Shell: !compiled}
	steps, through := testreport.Reach(r.Gates, func(file string) ([]byte, error) { return v.Repo.Show(ctx, r.ProtectedTree, file) })
	rules.Checked = func(file string) bool { return reads(steps, path.Base(file)) }
	rules.Runs = func(file string) bool { return runs(steps, file) }
	named := func(file string) bool { return names(r.Gates, steps, file) }
	loaded := sync.OnceValue(func() func(string) bool { return v.loadedByProgram(ctx, r.ProtectedTree, named) }) // few claims need it
	rules.Loaded = func(file string) bool { return !named(file) && loaded()(path.Base(file)) }
	outside := slices.DeleteFunc(slices.Clone(steps), func(s testrun.Step) bool { return s.From != "" && v.isTest(s.From) })
	rules.Asked = func(file string) bool { // what only a test script runs is what it tests
		return work.Names(r.Asked, file) && !names(r.Gates, outside, file) && (!slices.Contains(through, file) || runs(steps, file))
	}
	rules.Make = slices.ContainsFunc(steps, func(s testrun.Step) bool { return builds.MatchString(s.Words[0]) })
	rules.HasFiles = func(dir string) bool {
		if dir == "." {
			return r.ProtectedTree != emptyTree(r.ProtectedTree)
		}
		files, err := v.Repo.Entries(ctx, r.ProtectedTree, dir)
		return err != nil || len(files) > 0
	}
	return rules, nil
}

// builds are commands that ask for targets.
var builds = regex.New(`(^|/)(g?make|ninja)$`)

// reads reports whether gates name a file of this name to a command that holds no file
// against another.
func reads(steps []testrun.Step, base string) bool {
	return slices.ContainsFunc(steps, func(s testrun.Step) bool {
		compares := slices.Contains([]string{"diff", "cmp", "comm"}, path.Base(s.Words[0]))
		return !compares && slices.ContainsFunc(slices.Concat(s.Words, s.Input), func(word string) bool { return path.Base(word) == base })
	})
}

// names reports whether gates name a file, in their commands or in what these run.
func names(gates []gate.Gate, steps []testrun.Step, file string) bool {
	base := path.Base(file)
	return slices.ContainsFunc(gate.Commands(gates), func(g gate.Gate) bool { return strings.Contains(g.ShellCommand(), base) }) ||
		slices.ContainsFunc(steps, func(s testrun.Step) bool {
			return slices.ContainsFunc(slices.Concat(s.Words, s.Input), func(word string) bool { return path.Base(word) == base })
		})
}

// runs reports whether gates run a script for its exit code. One that a script takes its
// functions from is as often what is tested.
func runs(steps []testrun.Step, file string) bool {
	return slices.ContainsFunc(steps, func(s testrun.Step) bool {
		sourced := s.Words[0] == "." || s.Words[0] == "source"
		return !s.Compared && !sourced && s.Script() != "" && path.Join(s.Dir, s.Script()) == file
	})
}

// changed reports whether a change between the judge's tree and the claim's is one of a
// gate input that is not a test, or of what the tests do that were there.
func (in inputs) changed(ctx context.Context, ch git.Change) (bool, error) {
	if in.v.isTest(ch.Path) {
		return in.shapes(ctx, ch)
	}
	if slices.Contains(in.marks(), ch.Path) || ch.To.ID != "" && !ch.To.IsFile() { // of a submodule there is no copy
		return false, nil
	}
	if ch.Status == 'D' && in.v.remains(ch.Path) {
		return true, nil // git no longer tracks it: a gate may ask git which files there are
	}
	rules, err := in.rules()
	if err != nil {
		return false, err
	}
	if ch.Status == 'M' && work.IsSource(ch.Path) {
		if was, err := in.v.content(ctx, in.r.ProtectedTree, ch.Path); err != nil || helpsTests(ch.Path, was) {
			return err == nil, err
		}
	}
	if work.IsManifest(ch.Path) && ch.Status == 'M' {
		was, err := in.v.content(ctx, in.r.ProtectedTree, ch.Path)
		if err != nil {
			return false, err
		}
		now, err := in.v.content(ctx, in.r.Tree, ch.Path)
		return err == nil && !work.DependenciesOnly(ch.Path, was, now), err
	}
	if ch.Status == 'M' && work.ListsSources(ch.Path) {
		was, with, err := in.v.registered(ctx, in.r.ProtectedTree, in.r.Tree, ch)
		if err != nil || bytes.Equal(was, with) {
			return err == nil, err
		}
		now, err := in.v.content(ctx, in.r.Tree, ch.Path)
		return err == nil && !bytes.Equal(now, with), err
	}
	if !rules.Is(work.Change{Path: ch.Path, Added: ch.Status == 'A', Executable: ch.To.IsExecutable()}) {
		return true, nil
	}
	return in.isLimit(ctx, ch, rules)
}

// aNumber is the whole text of a file that holds a limit: the coverage that is wanted.
var aNumber = regex.New(`^\s*[0-9]+(?:\.[0-9]+)?\s*%?\s*$`)

// isLimit reports whether a file beside a program in some language holds a number alone,
// before and now, that neither the user nor the task calls work.
func (in inputs) isLimit(ctx context.Context, ch git.Change, rules work.Rules) (bool, error) {
	if ch.Status != 'M' || rules.Shell || work.IsSource(ch.Path) || work.Matches(rules.Globs, ch.Path) || rules.Asked(ch.Path) {
		return false, nil
	}
	for _, tree := range []string{in.r.ProtectedTree, in.r.Tree} {
		if text, err := in.v.content(ctx, tree, ch.Path); err != nil || !aNumber.Match(text) {
			return false, err
		}
	}
	return true, nil
}

// shapes reports whether a new test changes what the tests do that were there.
func (in inputs) shapes(ctx context.Context, ch git.Change) (bool, error) {
	if ch.Status != 'A' {
		return false, nil
	}
	may := matchesAny(shapers, ch.Path)
	if !may {
		content, err := in.v.content(ctx, in.r.Tree, ch.Path)
		if err != nil {
			return false, err
		}
		declares := sync.OnceValue(func() func(string) bool { return in.v.declares(ctx, in.r.Tree) }) // few files need it
		may = testdiff.Shapes(testdiff.File{Path: ch.Path, Content: content}, func(name string) bool { return declares()(name) })
	}
	return may && in.v.hasTests(ctx, in.r.ProtectedTree), nil
}

// remains reports whether a file is in the agent's work tree, tracked or not.
func (v *Verifier) remains(file string) bool {
	info, err := os.Lstat(filepath.Join(v.Repo.Root(), filepath.FromSlash(file)))
	return err == nil && !info.IsDir()
}

// isMark: Pawl itself writes the file.
func (v *Verifier) isMark(file string) bool {
	return v.Marks != nil && slices.Contains(v.Marks(), file)
}

func matchesAny(globs, file string) bool {
	return work.Matches(strings.Fields(globs), file)
}

// hasTests: there are tests in a tree whose doing could change.
func (v *Verifier) hasTests(ctx context.Context, tree string) bool {
	tests, err := v.Repo.Select(ctx, tree, v.files.tests)
	return err != nil || len(tests) > 0 // what could not be asked may be
}

// registered is a build file as it was, and the same with the new sources that it lists
// in another tree.
func (v *Verifier) registered(ctx context.Context, before, after string, ch git.Change) (was, with []byte, err error) {
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

// asIn is a tree with some files as in another one. What registers new sources stays.
func (v *Verifier) asIn(ctx context.Context, tree, from string, files []string) (string, error) {
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
			if _, lists[ch.Path], err = v.registered(ctx, from, tree, ch); err != nil {
				return "", err
			}
		}
	}
	return v.Repo.WithContent(ctx, back, lists)
}
