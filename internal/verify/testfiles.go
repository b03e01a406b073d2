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
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/work"
)

// DefaultTests are the globs of what a test file is, fixtures included: what a
// test reads belongs to it. A language that testdiff reads has its names in it
// without being named here.
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

// sources are the extensions of source files, as a part of a glob.
func sources() string {
	return "{" + strings.Join(testdiff.Extensions(), ",") + ",sh,bash,zsh,fish,ps1,lua,zig,jl,r,R,erl,ml,hs,clj}"
}

// isTest reports whether a path, relative to the repository with slashes, is a
// test file. Globs that cannot be read match nothing.
func (v *Verifier) isTest(file string) bool { return v.testGlobs.Match(file) }

// IsTest is the same for globs, nil = DefaultTests.
func IsTest(globs []string, file string) bool {
	if globs == nil {
		return defaultTests().Match(file)
	}
	return work.Matches(globs, file)
}

var defaultTests = sync.OnceValue(func() work.Globs { return work.NewGlobs(DefaultTests()) })

// WithNamed are DefaultTests, the files that gates name to their test runners beside
// these, those that they run to check, and what links of the root that are tests lead
// to; nil if there are none such. A file that is named need not be there yet.
func WithNamed(gates []gate.Gate, root string) []string {
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
	for _, file := range checksOf(gate.Commands(gates), root) {
		if !IsTest(globs, file) {
			globs = append(globs, file)
		}
	}
	globs = append(globs, linked(globs, root)...)
	if len(globs) == known {
		return nil
	}
	return globs
}

// linked are globs of what lies behind a link that has the name of tests: git knows
// the files by their own paths alone.
func linked(globs []string, root string) []string {
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
	old           []string // gate inputs, tests among them, that were changed or deleted; or added, but for tests
	fresh         []string // added or changed since the task began: to lay over the tree of before
	cases         []string // new data beside old, where there is no fresh test
	fromProtected []string // old ones of which the judge has a copy
	fromBase      []string // all else that differs from the task's start
	withheld      []string // of fromProtected, the test files of earlier tasks that the judge has no copy of
	inputs        []string // gate inputs that are not tests, changed since the task began
	inSource      bool     // source files that hold tests differ
	testsLost     bool     // of those, one has more that differs than new tests
	moved         bool     // tests went from one to another, or are lost
}

// maxInspected bounds the changed source files that are searched for tests.
const maxInspected = 100

// sound refuses to judge by trees and tests of which git does not have what their
// names say: the comparison of forged ones would show no change.
func (v *Verifier) sound(ctx context.Context, r Request) error {
	trees := []string{r.Base, r.ProtectedTree, r.Tree}
	if err := v.Repo.VerifyObjects(ctx, trees); err != nil {
		return err
	}
	var blobs []string
	for _, from := range trees[:2] {
		diff, err := v.Repo.Diff(ctx, from, r.Tree)
		if err != nil {
			return err
		}
		for _, ch := range diff {
			for _, e := range []git.Entry{ch.From, ch.To} {
				if e.IsFile() && v.isTest(ch.Path) {
					blobs = append(blobs, e.ID)
				}
			}
		}
	}
	_, err := v.Repo.Blobs(ctx, blobs)
	return err
}

// compareTests finds what a claim did to tests.
func (v *Verifier) compareTests(ctx context.Context, r Request) (testChanges, error) {
	var c testChanges
	var err error
	if c.fromProtected, err = v.changedProtected(ctx, r); err != nil {
		return c, err
	}
	within, err := v.changedWithin(ctx, r)
	if err != nil {
		return c, err
	}
	c.old = slices.Concat(c.fromProtected, within)
	task, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return c, err
	}
	looked := 0
	var was, is []string // tests in source files
	for _, ch := range task {
		if v.isTest(ch.Path) && v.onlyProgram(ctx, ch, r.Base, r.Tree) {
			continue
		}
		shapes := slices.Contains(c.fromProtected, ch.Path) || slices.Contains(r.Pending, ch.Path)
		if !v.isTest(ch.Path) && !shapes {
			if len(inSourceMarks(ch.Path)) > 0 && looked < maxInspected {
				looked++
				before, now := c.inspectSource(ctx, v, ch, r)
				was, is = append(was, before...), append(is, now...)
			}
			continue
		}
		if !v.isTest(ch.Path) {
			c.inputs = append(c.inputs, ch.Path)
		} else if ch.Status != 'D' {
			c.fresh = append(c.fresh, ch.Path)
		}
		if !slices.Contains(c.fromProtected, ch.Path) {
			c.fromBase = append(c.fromBase, ch.Path)
			if ch.Status != 'A' {
				c.old = append(c.old, ch.Path)
			}
		}
	}
	if c.withheld, err = v.withheld(ctx, r, c.fromProtected, task); err != nil {
		return c, err
	}
	if len(c.fresh) == 0 {
		if c.cases, err = v.cases(ctx, r.Base, task); err != nil {
			return c, err
		}
	}
	c.testsLost = c.testsLost || c.moved && !testdiff.Adds(was, is)
	c.withoutApproved(mayNotChange(r))
	return c, nil
}

// changedProtected lists the gate inputs that are other than in the judge's tree: tests
// that were there, and whatever else is not work.
func (v *Verifier) changedProtected(ctx context.Context, r Request) ([]string, error) {
	since, err := v.Repo.Diff(ctx, r.ProtectedTree, r.Tree)
	if err != nil {
		return nil, err
	}
	in := v.inputsOf(ctx, r)
	var changed []string
	for _, ch := range since {
		if slices.Contains(r.Pending, ch.Path) {
			continue
		}
		counts := v.isTest(ch.Path) && ch.Status != 'A' && !v.onlyProgram(ctx, ch, r.ProtectedTree, r.Tree)
		if !counts {
			if counts, err = in.changed(ctx, ch); err != nil {
				return nil, err
			}
		}
		if counts {
			changed = append(changed, ch.Path)
		}
	}
	return changed, nil
}

// withheld lists, among the gate inputs that differ from the judge's tree, the test files of earlier tasks that the
// judge has no copy of. changes are those of this task.
func (v *Verifier) withheld(ctx context.Context, r Request, fromProtected []string, changes []git.Change) ([]string, error) {
	since, err := v.Repo.Diff(ctx, r.ProtectedTree, r.Tree)
	var files []string
	for _, ch := range since {
		isNew := slices.ContainsFunc(changes, func(c git.Change) bool { return c.Path == ch.Path && c.Status == 'A' })
		if ch.Status == 'A' && !isNew && v.isTest(ch.Path) && slices.Contains(fromProtected, ch.Path) {
			files = append(files, ch.Path)
		}
	}
	return files, err
}

// withoutApproved leaves out gate inputs of which a change is approved, if another's is
// not: those are as they should be.
func (c *testChanges) withoutApproved(mayNotChange func(string) bool) {
	if !slices.ContainsFunc(c.old, mayNotChange) {
		return
	}
	may := func(file string) bool { return !mayNotChange(file) }
	c.old, c.fromProtected = slices.DeleteFunc(c.old, may), slices.DeleteFunc(c.fromProtected, may)
	c.fromBase = slices.DeleteFunc(c.fromBase, may)
}

// mayNotChange tells of a gate input whether nobody approved a change of it.
func mayNotChange(r Request) func(file string) bool {
	return func(file string) bool {
		return !r.AllowTestChanges && (r.MayChange == nil || !r.MayChange(file))
	}
}

// originals is the tree of now with the test files of before.
func (v *Verifier) originals(ctx context.Context, r Request) (string, error) {
	c, err := v.compareTests(ctx, r)
	if err != nil {
		return "", err
	}
	tree, err := v.asIn(ctx, r.Tree, r.Base, c.fromBase)
	if err != nil {
		return "", err
	}
	if tree, err = v.asIn(ctx, tree, r.ProtectedTree, c.fromProtected); err != nil {
		return "", err
	}
	return v.withAdapted(ctx, tree, r.adapted)
}

// inSourceMarks tell a source file that holds tests.
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

// inspectSource finds what a claim did to tests in a source file.
func (c *testChanges) inspectSource(ctx context.Context, v *Verifier, ch git.Change, r Request) (was, is []string) {
	before, err := v.content(ctx, r.Base, ch.Path)
	now, readErr := v.content(ctx, r.Tree, ch.Path)
	if err != nil || readErr != nil {
		c.inSource, c.testsLost = true, true
		return nil, nil
	}
	was, is = testdiff.Embedded(ch.Path, before), testdiff.Embedded(ch.Path, now)
	marked := slices.ContainsFunc(inSourceMarks(ch.Path), func(mark string) bool { return bytes.Contains(now, []byte(mark)) })
	c.inSource = c.inSource || (len(was) > 0 || marked) && !slices.Equal(was, is)
	c.moved = c.moved || len(was) > 0 && !testdiff.Adds(was, is)
	return was, is
}

// overlay is the tree of before with tests and other gate inputs as they are now. What
// differs from now is the work.
func (v *Verifier) overlay(ctx context.Context, r Request, tests []string) (string, error) {
	c, err := v.compareTests(ctx, r)
	if err != nil {
		return "", err
	}
	return v.Repo.Overlay(ctx, r.Base, r.Tree, slices.Concat(tests, c.inputs))
}

// embedded compares the tests that a source file holds: whether it held some, whether they
// are the same now, and whether new ones were added at most.
func (v *Verifier) embedded(ctx context.Context, ch git.Change, before, now string) (held, same, adds bool, err error) {
	was, err := v.content(ctx, before, ch.Path)
	if err != nil {
		return false, false, false, err
	}
	is, err := v.content(ctx, now, ch.Path)
	tests := testdiff.Embedded(ch.Path, was)
	return len(tests) > 0, slices.Equal(tests, testdiff.Embedded(ch.Path, is)), testdiff.AddsTests(ch.Path, was, is), err
}

// onlyProgram reports whether a file that only a gate's command names as a test is a
// program as well, of which the tests are as they were: then its change is work.
func (v *Verifier) onlyProgram(ctx context.Context, ch git.Change, before, now string) bool {
	if IsTest(nil, ch.Path) {
		return false
	}
	held, _, adds, err := v.embedded(ctx, ch, before, now)
	is, readErr := v.content(ctx, now, ch.Path)
	if err != nil || readErr != nil || !held || !adds {
		return false
	}
	entries, err := v.Repo.Entries(ctx, now)
	return err == nil && !testdiff.Apart(ch.Path, is, func(module string) bool {
		for file := range entries {
			dir, base := path.Split(file)
			if base == module+".py" || path.Base(dir) == module || strings.HasPrefix(file, module+"/") {
				return true
			}
		}
		return false
	})
}
