package verify

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
	"github.com/pawl-dev/pawl/internal/work"
)

// DefaultTests returns globs of test files and what they read. Languages that testdiff reads need
// no further names.
func DefaultTests() []string {
	ext := sources()
	const outputs = "{txt,json,yaml,yml,csv,xml,html,svg,sql,out,log}"
	const js = "{js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte}"
	return []string{
		"**/*_test.go", "**/testdata/**",
		"**/{test,tests}." + ext, "**/test{_,-}*." + ext, "**/*{_,-,.}{test,tests}." + ext, "**/conftest.py",
		"**/*{_,-,.}spec." + js, "**/*.cy." + js, "**/__tests__/**", "**/__snapshots__/**", "**/__mocks__/**", "**/*.snap", "**/cypress/**",
		"**/*{Test,Tests,TestCase}.{java,kt,scala,groovy,cs,swift,php,cc,cpp,cxx}", "**/*Spec.{scala,groovy,kt,hs}", "**/*IT.java", "**/src/*Test/**",
		"**/*_spec.{rb,lua}", "**/*.bats", "**/*.t", "**/*.t." + ext, "t/**", "**/*.feature", "**/step_definitions/**",
		"**/{tests,test,spec,Tests,Test}/**", "**/*{.Test,Tests}/**", "**/{fixtures,__fixtures__}/**",
		"**/{golden,goldens,__image_snapshots__,*-snapshots}/**", "**/*.{golden,snapshot}", "**/*.{approved,verified}.{txt,json,xml,html,md}",
		"**/expected/**/*." + outputs, "**/{expected,want,golden}{,[_.-]*}." + outputs, "**/*[_.-]{expected,want,golden}." + outputs,
	}
}

// sources returns the extensions of source files as part of a glob.
func sources() string {
	return "{" + strings.Join(testdiff.Extensions(), ",") + ",sh,bash,zsh,fish,ps1,lua,zig,jl,r,R,erl,ml,hs,clj}"
}

// isTest reports whether a path, relative to the repository with slashes, is a test file. Invalid
// globs match nothing.
func (v *Verifier) isTest(file string) bool { return v.files.isTest(file) }

// IsTest reports the same for globs, nil = DefaultTests.
func IsTest(globs []string, file string) bool {
	if globs == nil {
		return defaultTests().Match(file)
	}
	return work.Matches(globs, file)
}

var defaultTests = sync.OnceValue(func() work.Globs { return work.CompileGlobs(DefaultTests()) })

// TestsOfGates returns DefaultTests, the test files that gates name to runners, the check scripts
// and the scripts of a loop that they run, the folders t of their folders, the checks that their Makefiles
// compile by a pattern, and targets of test links in the root. It returns nil if there are only DefaultTests. A named file need not exist yet.
func TestsOfGates(gates []gate.Gate, root string) []string {
	globs := DefaultTests()
	known := len(globs)
	for _, g := range gate.Commands(gates) {
		for _, file := range testreport.TestFiles(g.ShellCommand(), filesOf(g, root)) {
			file = path.Join(g.Dir, file)
			if filepath.IsLocal(filepath.FromSlash(file)) && IsTest([]string{"**/*." + sources()}, file) && !IsTest(globs, file) {
				globs = append(globs, file)
			}
		}
	}
	steps, _ := testreport.Reach(gate.Commands(gates), testreport.FilesIn(root))
	for _, glob := range slices.Concat(checkScripts(steps, root), loopedScripts(steps), testFolders(gates, steps, root), compiledChecks(gates, steps, root)) {
		if !IsTest(globs, glob) {
			globs = append(globs, glob)
		}
	}
	globs = append(globs, linkTargets(globs, root)...)
	if len(globs) == known {
		return nil
	}
	return globs
}

// checkName matches the names of scripts that check something.
var checkName = regex.New(`(?i)(?:^|[/._-])(?:checks?|checker|verify|validate|lint|ci|gates?|smoke|e2e|acceptance|selftest)(?:[._-][^/]*)?\.\w+$`)

// interpreters run scripts. Shells are omitted: their scripts are as often what is tested.
const interpreters = "python python3 node bun tsx ts-node ruby perl php lua Rscript"

// checkScripts returns the files with a check's name that gates run by an interpreter without
// arguments.
func checkScripts(steps []testrun.Step, root string) []string {
	var found []string
	for _, s := range steps {
		if len(s.Words) != 2 || !slices.Contains(strings.Fields(interpreters), path.Base(s.Words[0])) || !checkName.MatchString(s.Words[1]) {
			continue
		}
		file := path.Join(s.Dir, s.Words[1])
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file))); err == nil && info.Mode().IsRegular() && filepath.IsLocal(file) {
			found = append(found, file)
		}
	}
	return found
}

// loopedScripts returns globs of the scripts that gates run one after another, by a loop over their
// names, for nothing but their exit code.
func loopedScripts(steps []testrun.Step) []string {
	var globs []string
	for _, s := range steps {
		last := len(s.Words) - 1
		script := s.Words[last]
		isShell := s.Script() == script && runsForExitCode(s)
		isOther := last == 1 && !s.Compared && slices.Contains(strings.Fields(interpreters), shell.CommandName(s.Words[0]))
		if !strings.ContainsAny(script, "*?") || !isShell && !isOther {
			continue
		}
		if glob := path.Join(s.Dir, script); filepath.IsLocal(filepath.FromSlash(glob)) {
			globs = append(globs, glob)
		}
	}
	return globs
}

// testFolders returns globs for the folders t of the folders below the root that gates run in.
func testFolders(gates []gate.Gate, steps []testrun.Step, root string) []string {
	var globs []string
	dirs := map[string]bool{"": true, ".": true}
	for _, g := range gates {
		steps = append(steps, testrun.Step{Dir: filepath.ToSlash(g.Dir)})
	}
	for _, s := range steps {
		folder := path.Join(s.Dir, "t")
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(folder))); !dirs[s.Dir] && err == nil && info.IsDir() && filepath.IsLocal(filepath.FromSlash(folder)) {
			globs = append(globs, folder+"/**")
		}
		dirs[s.Dir] = true
	}
	return globs
}

// linkTargets returns globs for links in the root with a test's name: git knows their files only by
// real path.
func linkTargets(globs []string, root string) []string {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil // it cannot be listed: there is no link that is known
	}
	var found []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 || !IsTest(globs, e.Name()+"/x.txt") {
			continue
		}
		to, err := os.Readlink(filepath.Join(root, e.Name()))
		if to = filepath.ToSlash(filepath.Clean(to)); err == nil && to != "." && filepath.IsLocal(filepath.FromSlash(to)) {
			found = append(found, to+"/**")
		}
	}
	return found
}

// testChanges are the test files that differ between trees.
type testChanges struct {
	old              []string // gate inputs, tests included, that were changed or deleted, or added if no tests
	newOrChanged     []string // tests added or changed since the task started, for the overlay
	cases            []string // new data beside old, if newOrChanged is empty
	protected        []string // those of old with a protected copy
	sinceBase        []string // all else that differs from the task's start
	withheld         []string // those of protected that are test files and that earlier tasks changed or added
	rewritten        []string // those of withheld in which this task changes more than it adds
	inputs           []string // gate inputs, no tests, changed since the task started
	inlineChanged    bool     // source files that contain tests differ
	oldInlineChanged bool     // one of those differs in more than new tests
	inlineMoved      bool     // inline tests moved to another file, or are lost
}

// compareTests returns what a claim did to tests.
func (c *claim) compareTests(ctx context.Context) (t testChanges, err error) {
	if t.protected, err = c.changedProtected(ctx); err != nil {
		return t, err
	}
	within, err := c.changedSubmoduleInputs(ctx)
	if err != nil {
		return t, err
	}
	t.old = slices.Concat(t.protected, within)
	looked, isProtected := 0, fileSet(t.protected)
	var was, is []string // tests in source files
	for _, ch := range c.changes {
		if c.isTest(ch.Path) && c.isProgramChange(ctx, ch, c.Base) {
			continue
		}
		protected := isProtected[ch.Path]
		switch {
		case c.isTest(ch.Path) && ch.Status != 'D':
			t.newOrChanged = append(t.newOrChanged, ch.Path)
		case c.isTest(ch.Path):
		case protected || slices.Contains(c.Pending, ch.Path):
			t.inputs = append(t.inputs, ch.Path)
		case len(inSourceMarks(ch.Path)) > 0 && looked < maxChangedPrograms:
			looked++
			before, now := c.inspectSource(ctx, ch, &t)
			was, is = append(was, before...), append(is, now...)
			continue
		default:
			continue
		}
		if !protected {
			t.sinceBase = append(t.sinceBase, ch.Path)
			if ch.Status != 'A' {
				t.old = append(t.old, ch.Path)
			}
		}
	}
	if t.withheld, err = c.withheldTests(ctx, t.protected); err == nil {
		t.rewritten, err = c.rewrittenTests(ctx, t.withheld)
	}
	if err != nil {
		return t, err
	}
	if len(t.newOrChanged) == 0 {
		if t.cases, err = c.newDataFiles(ctx); err != nil {
			return t, err
		}
	}
	t.oldInlineChanged = t.oldInlineChanged || t.inlineMoved && !testdiff.OnlyAddsTests(was, is)
	if slices.ContainsFunc(t.old, c.mayNotChange) { // beside these, approved changes do not count
		approved := func(file string) bool { return !c.mayNotChange(file) }
		t.old, t.protected = slices.DeleteFunc(t.old, approved), slices.DeleteFunc(t.protected, approved)
		t.sinceBase = slices.DeleteFunc(t.sinceBase, approved)
	}
	return t, nil
}

// fileSet is the set of some files. A change may have tens of thousands.
func fileSet(files []string) map[string]bool {
	set := make(map[string]bool, len(files))
	for _, file := range files {
		set[file] = true
	}
	return set
}

// changedProtected returns the gate inputs that differ from the protected tree: old tests, and
// whatever else is not work.
func (c *claim) changedProtected(ctx context.Context) ([]string, error) {
	var changed []string
	for _, ch := range c.sinceProtected {
		if slices.Contains(c.Pending, ch.Path) {
			continue
		}
		counts := c.isTest(ch.Path) && ch.Status != 'A' && !c.isProgramChange(ctx, ch, c.ProtectedTree)
		if !counts {
			var err error
			if counts, err = c.isGateInput(ctx, ch); err != nil {
				return nil, err
			}
		}
		if counts {
			changed = append(changed, ch.Path)
		}
	}
	return changed, nil
}

// newDataFiles returns new data files beside others of their kind, and changed ones that the task and a
// test name: a test that reads the whole folder, or that file, has new cases. They count as new tests
// if there are no others and nothing failed before.
func (c *claim) newDataFiles(ctx context.Context) ([]string, error) {
	var found []string
	kinds := map[string]bool{}
	for _, ch := range c.work {
		if ch.Status == 'M' && !work.IsSource(ch.Path) && work.MentionsPath(c.Asked, ch.Path) {
			named, err := c.testsName(ctx, path.Base(ch.Path))
			if err != nil {
				return nil, err
			}
			if named {
				found = append(found, ch.Path)
			}
		}
		if ch.Status != 'A' || !ch.To.IsFile() || !work.IsData(ch.Path) {
			continue
		}
		if len(kinds) == 0 {
			entries, err := c.Repo.Entries(ctx, c.Base)
			if err != nil {
				return nil, err
			}
			for file := range entries {
				kinds[path.Dir(file)+"/*"+path.Ext(file)] = true
			}
		}
		if kinds[path.Dir(ch.Path)+"/*"+path.Ext(ch.Path)] {
			found = append(found, ch.Path)
		}
	}
	return found, nil
}

// testsName reports whether an old test has the base name of a file in its text.
func (c *claim) testsName(ctx context.Context, base string) (bool, error) {
	texts, err := contentsOf(ctx, c.Repo, c.ProtectedTree, c.files.sources, maxDeclaring+1)
	for file, text := range texts {
		if c.isTest(file) && strings.Contains(string(text), base) {
			return true, err
		}
	}
	return false, err
}

// withheldTests returns the changed protected files that are test files and were others before this
// task: the protected copies lack tests that an earlier task added.
func (c *claim) withheldTests(ctx context.Context, protected []string) (files []string, err error) {
	earlier, err := c.Repo.Diff(ctx, c.ProtectedTree, c.Base)
	for _, ch := range earlier {
		if c.isTest(ch.Path) && slices.Contains(protected, ch.Path) {
			files = append(files, ch.Path)
		}
	}
	return files, err
}

// rewrittenTests returns those of the files in which this task changes more than it adds.
func (c *claim) rewrittenTests(ctx context.Context, files []string) (rewritten []string, err error) {
	for _, ch := range c.changes {
		if !slices.Contains(files, ch.Path) {
			continue
		}
		was, is, err := c.texts(ctx, ch.Path)
		if err != nil {
			return nil, err
		}
		if !testdiff.Extends(testdiff.File{Path: ch.Path, Content: was}, testdiff.File{Path: ch.Path, Content: is}) {
			rewritten = append(rewritten, ch.Path)
		}
	}
	return rewritten, nil
}

// inSourceMarks returns texts that identify tests in a source file.
func inSourceMarks(file string) []string {
	switch path.Ext(file) {
	case ".rs":
		return []string{"#[cfg(test)]", "#[test]", "/// ```", "//! ```"}
	case ".py":
		return []string{">>> "}
	case ".ex":
		return []string{"iex> "}
	case ".zig":
		return []string{"\ntest \""}
	}
	return nil
}

// inspectSource records what a claim did to tests in a source file, and returns these before and
// now.
func (c *claim) inspectSource(ctx context.Context, ch git.Change, t *testChanges) (was, is []string) {
	before, now, err := c.texts(ctx, ch.Path)
	if err != nil {
		t.inlineChanged, t.oldInlineChanged = true, true
		return nil, nil
	}
	was, is = testdiff.InlineTests(ch.Path, before), testdiff.InlineTests(ch.Path, now)
	marked := slices.ContainsFunc(inSourceMarks(ch.Path), func(mark string) bool { return bytes.Contains(now, []byte(mark)) })
	t.inlineChanged = t.inlineChanged || (len(was) > 0 || marked) && !slices.Equal(was, is)
	t.inlineMoved = t.inlineMoved || len(was) > 0 && !testdiff.OnlyAddsTests(was, is)
	return was, is
}

// isProgramChange reports whether a file that only a gate's command names as a test is also a
// program with unchanged tests. Then its change since a tree is work.
func (c *claim) isProgramChange(ctx context.Context, ch git.Change, since string) bool {
	if IsTest(nil, ch.Path) {
		return false
	}
	was, is, err := c.textsSince(ctx, since, ch.Path)
	if err != nil || len(testdiff.InlineTests(ch.Path, was)) == 0 || !testdiff.OnlyAddsInlineTests(ch.Path, was, is) {
		return false
	}
	entries, err := c.Repo.Entries(ctx, c.Tree)
	return err == nil && !testdiff.TestsAnotherFile(ch.Path, is, func(module string) bool {
		for file := range entries {
			dir, base := path.Split(file)
			if base == module+".py" || path.Base(dir) == module || strings.HasPrefix(file, module+"/") {
				return true
			}
		}
		return false
	})
}
