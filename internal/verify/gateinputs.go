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

// workRules returns what counts as work in the claim's repository.
func (c *claim) workRules(ctx context.Context) (work.Rules, error) {
	compiled, err := c.Repo.HasAny(ctx, c.ProtectedTree, func(file string) bool { return work.IsSource(file) && !c.isTest(file) })
	if err != nil {
		return work.Rules{}, err
	}
	rules := work.Rules{Globs: c.Work, ShellIsWork: !compiled}
	steps, through := testreport.Reach(c.Gates, func(file string) ([]byte, error) { return c.Repo.Show(ctx, c.ProtectedTree, file) })
	rules.IsChecked = func(file string) bool { return gatesRead(steps, path.Base(file)) && !c.listsScripts(ctx, file, steps) }
	named := func(file string) bool { return gatesName(c.Gates, steps, file) }
	loaded := sync.OnceValue(func() func(string) bool { return c.productData(ctx, named) }) // few claims need it
	rules.IsLoaded = func(file string) bool { return !named(file) && loaded()(path.Base(file)) }
	inTest := func(s testrun.Step) bool { return s.From != "" && c.isTest(s.From) }
	checks := slices.DeleteFunc(slices.Clone(steps), func(s testrun.Step) bool { return inTest(s) && s.Words[len(s.Words)-1] != s.Script() })
	rules.IsRun = func(file string) bool { return gatesRunScript(checks, file) } // what a test script gives arguments to is what it tests
	outside := slices.DeleteFunc(slices.Clone(steps), inTest)
	rules.IsRequested = func(file string) bool { // a file that only a test script runs is what it tests
		return c.taskMentions(ctx, file) && !gatesName(c.Gates, outside, file) && (!slices.Contains(through, file) || gatesRunScript(steps, file)) ||
			c.isInRemovedFolder(ctx, file)
	}
	rules.RunsMake = slices.ContainsFunc(steps, func(s testrun.Step) bool { return buildTool.MatchString(s.Words[0]) })
	rules.HasFiles = func(dir string) bool {
		if dir == "." {
			return c.ProtectedTree != emptyTree(c.ProtectedTree)
		}
		files, err := c.Repo.Entries(ctx, c.ProtectedTree, dir)
		return err != nil || len(files) > 0
	}
	return rules, nil
}

// taskMentions reports whether the task names a file: by its path, or a new one by its name alone, as in
// "read defaults.ini beside the program".
func (c *claim) taskMentions(ctx context.Context, file string) bool {
	if base := path.Base(file); !work.MentionsPath(c.Asked, file) && path.Ext(base) != "" && work.MentionsPath(c.Asked, base) {
		was, err := c.fileContent(ctx, c.ProtectedTree, file)
		return err == nil && was == nil
	}
	return work.MentionsPath(c.Asked, file)
}

// isInRemovedFolder reports whether a file is gone with a whole folder that the task asks to remove.
func (c *claim) isInRemovedFolder(ctx context.Context, file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		asked := slices.ContainsFunc(testdiff.RemovalTexts(c.Asked), func(text string) bool {
			return work.MentionsPath(text, dir) || work.MentionsPath(text, dir+"/")
		})
		if asked {
			left, err := c.Repo.EntriesAt(ctx, c.Tree, []string{dir})
			return err == nil && len(left) == 0
		}
	}
	return false
}

// productData returns whether a file of a given base name is data of the program: the program's source
// contains the name, and no test and no program that a gate names does. If the sources cannot be read,
// or are too many, it says no.
func (c *claim) productData(ctx context.Context, namedByGates func(file string) bool) func(base string) bool {
	texts, err := contentsOf(ctx, c.Repo, c.ProtectedTree, c.files.sources, maxDeclaring+1)
	return func(base string) bool {
		loaded := false
		for file, text := range texts {
			if !strings.Contains(string(text), base) {
				continue
			}
			if c.isTest(file) || namedByGates(file) {
				return false
			}
			loaded = true
		}
		return loaded && err == nil && len(texts) <= maxDeclaring
	}
}

// listsScripts reports whether each line of a protected file names a test, or a script that gates run.
// The gates read it to know what to run.
func (c *claim) listsScripts(ctx context.Context, file string, steps []testrun.Step) bool {
	text, err := c.fileContent(ctx, c.ProtectedTree, file)
	if err != nil {
		return false // it is new
	}
	lists := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		script := strings.Fields(line)[0]
		if lists = c.isTest(script) || gatesRunScript(steps, script); !lists {
			break
		}
	}
	return lists
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

// gatesName reports whether gates mention a file in their commands or scripts. What a script says of itself
// ("$0") does not count.
func gatesName(gates []gate.Gate, steps []testrun.Step, file string) bool {
	base := path.Base(file)
	return slices.ContainsFunc(gate.Commands(gates), func(g gate.Gate) bool { return strings.Contains(g.ShellCommand(), base) }) ||
		slices.ContainsFunc(steps, func(s testrun.Step) bool {
			return s.From != file && slices.ContainsFunc(slices.Concat(s.Words, s.Input), func(word string) bool { return path.Base(word) == base })
		})
}

// gatesRunScript reports whether gates run a script for its exit code. A sourced script is as often
// what is tested.
func gatesRunScript(steps []testrun.Step, file string) bool {
	return slices.ContainsFunc(steps, func(s testrun.Step) bool {
		script := path.Join(s.Dir, s.Script())
		return runsForExitCode(s) && (script == file || work.Matches([]string{script}, file))
	})
}

// runsForExitCode reports whether a step runs a script, or several by a glob, for the exit code alone.
func runsForExitCode(s testrun.Step) bool {
	sourced := s.Words[0] == "." || s.Words[0] == "source"
	return !s.Compared && !sourced && s.Script() != ""
}

// isGateInput reports whether a change since the protected tree is of a gate input that is no test,
// or of what old tests do.
func (c *claim) isGateInput(ctx context.Context, ch git.Change) (bool, error) {
	if c.isTest(ch.Path) {
		return c.changesOldTests(ctx, ch)
	}
	if slices.Contains(c.own, ch.Path) || ch.To.ID != "" && !ch.To.IsFile() { // of a submodule there is no copy
		return false, nil
	}
	if ch.Status == 'D' && c.isInWorkTree(ch.Path) {
		return true, nil // git no longer tracks it: a gate may ask git which files there are
	}
	rules, err := c.rules()
	if err != nil {
		return false, err
	}
	if ch.Status == 'M' && work.IsSource(ch.Path) {
		if was, err := c.fileContent(ctx, c.ProtectedTree, ch.Path); err != nil || isTestHelper(ch.Path, was) {
			return err == nil, err
		}
	}
	if ch.Status == 'M' && work.IsManifest(ch.Path) {
		was, now, err := c.textsSince(ctx, c.ProtectedTree, ch.Path)
		return err == nil && !work.DependenciesOnly(ch.Path, was, now), err
	}
	if ch.Status == 'M' && work.ListsSources(ch.Path) {
		was, now, with, err := c.withNewSources(ctx, c.ProtectedTree, c.Tree, ch)
		return err == nil && (bytes.Equal(was, with) || !bytes.Equal(now, with)), err
	}
	if !rules.IsWork(work.Change{Path: ch.Path, Added: ch.Status == 'A', Executable: ch.To.IsExecutable()}) {
		return true, nil
	}
	return c.isLimit(ctx, ch, rules)
}

// onlyNumber matches a file that contains only a limit, such as the wanted coverage.
var onlyNumber = regex.New(`^\s*[0-9]+(?:\.[0-9]+)?\s*%?\s*$`)

// isLimit reports whether a file contains only a number, before and now, and nobody calls it work.
func (c *claim) isLimit(ctx context.Context, ch git.Change, rules work.Rules) (bool, error) {
	if ch.Status != 'M' || rules.ShellIsWork || work.IsSource(ch.Path) || work.Matches(rules.Globs, ch.Path) || rules.IsRequested(ch.Path) {
		return false, nil
	}
	was, now, err := c.textsSince(ctx, c.ProtectedTree, ch.Path)
	return err == nil && onlyNumber.Match(was) && onlyNumber.Match(now), err
}

// changesOldTests reports whether a new test file changes what old tests do.
func (c *claim) changesOldTests(ctx context.Context, ch git.Change) (bool, error) {
	if ch.Status != 'A' {
		return false, nil
	}
	may := matchesAny(testShaperGlobs, ch.Path)
	if !may {
		content, err := c.fileContent(ctx, c.Tree, ch.Path)
		if err != nil {
			return false, err
		}
		may = testdiff.MayChangeOthers(testdiff.File{Path: ch.Path, Content: content}, c.declares)
	}
	return may && c.hasOldTests(ctx), nil
}

// hasOldTests reports whether the protected tree has tests; if unreadable, yes.
func (c *claim) hasOldTests(ctx context.Context) bool {
	tests, err := c.Repo.Select(ctx, c.ProtectedTree, c.files.tests)
	return err != nil || len(tests) > 0
}

// isInWorkTree reports whether a file is in the agent's work tree, tracked or not.
func (v *Verifier) isInWorkTree(file string) bool {
	info, err := os.Lstat(filepath.Join(v.Repo.Root(), filepath.FromSlash(file)))
	return err == nil && !info.IsDir()
}

func matchesAny(globs, file string) bool {
	return work.Matches(strings.Fields(globs), file)
}

// withNewSources returns a build file before and after, and the one before with the sources that it
// lists now: new ones, and those that stood there, as they were.
func (v *Verifier) withNewSources(ctx context.Context, before, after string, ch git.Change) (was, is, with []byte, err error) {
	files, err := readChanged(ctx, v.Repo, []git.Change{ch})
	if err != nil {
		return nil, nil, nil, err
	}
	was, is = files[0].before, files[0].after
	old, err := v.Repo.Entries(ctx, before)
	if err != nil {
		return nil, nil, nil, err
	}
	entries, err := v.Repo.Entries(ctx, after)
	return was, is, work.WithNewSources(ch.Path, was, is, func(name string) bool {
		at, listed := path.Join(path.Dir(ch.Path), name), false
		for file, e := range entries {
			if fits, _ := path.Match(at, file); !fits {
				continue
			}
			if was, stood := old[file]; stood && was != e || !work.IsSource(file) || v.isTest(file) {
				return false
			}
			listed = true
		}
		return listed
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
			if _, _, lists[ch.Path], err = v.withNewSources(ctx, from, tree, ch); err != nil {
				return "", err
			}
		}
	}
	return v.Repo.WithContent(ctx, back, lists)
}

// maxBisections bounds the runs for the smallest set of changes.
const maxBisections = 6

// findNeededInputs bisects the changed gate inputs: it keeps the half whose changes suffice. If
// neither half does, all that is left is needed.
func (c *claim) findNeededInputs(ctx context.Context) ([]string, error) {
	if c.seen.OnlyTestsRemoved() {
		return c.seen.Inputs.RemovedTests, nil
	}
	if c.seen.RewrittenFail() {
		return c.seen.Inputs.RewrittenTests, nil
	}
	tree, err := c.originals(ctx)
	if err != nil {
		return nil, err
	}
	left := c.seen.Inputs.Changed
	for runs := 0; len(left) > 1 && runs < maxBisections; {
		half, found := len(left)/2, false
		for _, part := range [][]string{left[:half], left[half:]} {
			runs++
			with, err := c.Repo.Overlay(ctx, tree, c.Tree, part)
			if err == nil {
				found, err = c.passesWithInputs(ctx, with)
			}
			if err != nil {
				return nil, err
			}
			if found {
				left = part
				break
			}
		}
		if !found {
			break
		}
	}
	return left, nil
}

// passesWithInputs reports whether all gates pass, as they do now, on a tree with other gate inputs.
func (c *claim) passesWithInputs(ctx context.Context, tree string) (bool, error) {
	results, err := c.runInCheckout(ctx, c.Gates, runTarget{root: c.Root, logDir: c.LogDir, probe: gate.Originals, tree: tree})
	return err == nil && c.seen.PassesLikeNow(results), err
}

// pendingNeeded returns the pending gate inputs of earlier tasks that the gates need on the current
// tree. It omits tests: an earlier task's tests fit its work.
func (c *claim) pendingNeeded(ctx context.Context) ([]string, error) {
	var files []string
	for _, ch := range c.sinceProtected {
		if slices.Contains(c.Pending, ch.Path) && !c.isTest(ch.Path) && c.mayNotChange(ch.Path) {
			files = append(files, ch.Path)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	tree, err := c.withFilesOf(ctx, c.Tree, c.ProtectedTree, files)
	if err != nil {
		return nil, err
	}
	// Where it cannot be found out, the approval is wanted anyway.
	if passes, _ := c.passesWithInputs(ctx, tree); passes {
		return nil, ctx.Err()
	}
	return files, ctx.Err()
}

// deferToPending accepts the gate inputs as the task found them if it needs only earlier tasks'
// changes. Its evidence then waits for their approval.
func (c *claim) deferToPending(f *Finding) {
	needsApproval := func(file string) bool {
		return c.changedByTask(file) || !slices.Contains(c.seen.Inputs.NonTests, file)
	}
	if f.Verdict.NeedsChangedInputs && len(f.NeededInputs) > 0 && !slices.ContainsFunc(f.NeededInputs, needsApproval) {
		f.Verdict, f.PendingInputs, f.NeededInputs, f.IfApproved = *f.IfApproved, f.NeededInputs, nil, nil
	}
}
