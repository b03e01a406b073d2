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
func (v *Verifier) isTest(file string) bool { return v.testGlobs.Match(file) }

// IsTest reports the same for globs, nil = DefaultTests.
func IsTest(globs []string, file string) bool {
	if globs == nil {
		return defaultTests().Match(file)
	}
	return work.Matches(globs, file)
}

var defaultTests = sync.OnceValue(func() work.Globs { return work.NewGlobs(DefaultTests()) })

// TestsOfGates returns DefaultTests, the test files that gates name to runners, the check scripts
// that they run, and targets of test links in the root. It returns nil if there are only
// DefaultTests. A named file need not exist yet.
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
	for _, file := range checkScripts(gate.Commands(gates), root) {
		if !IsTest(globs, file) {
			globs = append(globs, file)
		}
	}
	globs = append(globs, linkTargets(globs, root)...)
	if len(globs) == known {
		return nil
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
	newOrChanged     []string // tests added or changed since the task began, for the overlay
	cases            []string // new data beside old, if newOrChanged is empty
	protected        []string // those of old with a protected copy
	sinceBase        []string // all else that differs from the task's start
	withheld         []string // those of protected that are test files of earlier tasks without a protected copy
	inputs           []string // gate inputs, no tests, changed since the task began
	inlineChanged    bool     // source files that contain tests differ
	oldInlineChanged bool     // one of those differs in more than new tests
	inlineMoved      bool     // inline tests moved to another file, or are lost
}

// maxInspected bounds the changed source files searched for tests.
const maxInspected = 100

// verifyObjects fails if git's trees or tests do not match their hashes: forged ones would show no
// change.
func (v *Verifier) verifyObjects(ctx context.Context, r Request) error {
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

// compareTests returns what a claim did to tests.
func (v *Verifier) compareTests(ctx context.Context, r Request) (testChanges, error) {
	var c testChanges
	var err error
	if c.protected, err = v.changedProtected(ctx, r); err != nil {
		return c, err
	}
	within, err := v.changedSubmoduleInputs(ctx, r)
	if err != nil {
		return c, err
	}
	c.old = slices.Concat(c.protected, within)
	task, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return c, err
	}
	looked := 0
	var was, is []string // tests in source files
	for _, ch := range task {
		if v.isTest(ch.Path) && v.isProgramChange(ctx, ch, r.Base, r.Tree) {
			continue
		}
		shapes := slices.Contains(c.protected, ch.Path) || slices.Contains(r.Pending, ch.Path)
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
			c.newOrChanged = append(c.newOrChanged, ch.Path)
		}
		if !slices.Contains(c.protected, ch.Path) {
			c.sinceBase = append(c.sinceBase, ch.Path)
			if ch.Status != 'A' {
				c.old = append(c.old, ch.Path)
			}
		}
	}
	if c.withheld, err = v.withheldTests(ctx, r, c.protected, task); err != nil {
		return c, err
	}
	if len(c.newOrChanged) == 0 {
		if c.cases, err = v.newDataFiles(ctx, r.Base, task); err != nil {
			return c, err
		}
	}
	c.oldInlineChanged = c.oldInlineChanged || c.inlineMoved && !testdiff.OnlyAddsTests(was, is)
	c.withoutApproved(mayNotChange(r))
	return c, nil
}

// changedProtected returns the gate inputs that differ from the protected tree: old tests, and
// whatever else is not work.
func (v *Verifier) changedProtected(ctx context.Context, r Request) ([]string, error) {
	since, err := v.Repo.Diff(ctx, r.ProtectedTree, r.Tree)
	if err != nil {
		return nil, err
	}
	in := v.classifyInputs(ctx, r)
	var changed []string
	for _, ch := range since {
		if slices.Contains(r.Pending, ch.Path) {
			continue
		}
		counts := v.isTest(ch.Path) && ch.Status != 'A' && !v.isProgramChange(ctx, ch, r.ProtectedTree, r.Tree)
		if !counts {
			if counts, err = in.isGateInput(ctx, ch); err != nil {
				return nil, err
			}
		}
		if counts {
			changed = append(changed, ch.Path)
		}
	}
	return changed, nil
}

// withheldTests returns the changed protected files that are test files of earlier tasks without a
// protected copy. changes are those of this task.
func (v *Verifier) withheldTests(ctx context.Context, r Request, protected []string, changes []git.Change) ([]string, error) {
	since, err := v.Repo.Diff(ctx, r.ProtectedTree, r.Tree)
	var files []string
	for _, ch := range since {
		isNew := slices.ContainsFunc(changes, func(c git.Change) bool { return c.Path == ch.Path && c.Status == 'A' })
		if ch.Status == 'A' && !isNew && v.isTest(ch.Path) && slices.Contains(protected, ch.Path) {
			files = append(files, ch.Path)
		}
	}
	return files, err
}

// withoutApproved removes approved changes if another is not approved.
func (c *testChanges) withoutApproved(mayNotChange func(string) bool) {
	if !slices.ContainsFunc(c.old, mayNotChange) {
		return
	}
	may := func(file string) bool { return !mayNotChange(file) }
	c.old, c.protected = slices.DeleteFunc(c.old, may), slices.DeleteFunc(c.protected, may)
	c.sinceBase = slices.DeleteFunc(c.sinceBase, may)
}

// mayNotChange returns whether nobody approved a change of a gate input.
func mayNotChange(r Request) func(file string) bool {
	return func(file string) bool {
		return !r.AllowTestChanges && (r.MayChange == nil || !r.MayChange(file))
	}
}

// originals returns the current tree with the old test files.
func (v *Verifier) originals(ctx context.Context, r Request) (string, error) {
	c, err := v.compareTests(ctx, r)
	if err != nil {
		return "", err
	}
	tree, err := v.withFilesOf(ctx, r.Tree, r.Base, c.sinceBase)
	if err != nil {
		return "", err
	}
	if tree, err = v.withFilesOf(ctx, tree, r.ProtectedTree, c.protected); err != nil {
		return "", err
	}
	return v.withAdapted(ctx, tree, r.adapted)
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
func (c *testChanges) inspectSource(ctx context.Context, v *Verifier, ch git.Change, r Request) (was, is []string) {
	before, err := v.fileContent(ctx, r.Base, ch.Path)
	now, readErr := v.fileContent(ctx, r.Tree, ch.Path)
	if err != nil || readErr != nil {
		c.inlineChanged, c.oldInlineChanged = true, true
		return nil, nil
	}
	was, is = testdiff.InlineTests(ch.Path, before), testdiff.InlineTests(ch.Path, now)
	marked := slices.ContainsFunc(inSourceMarks(ch.Path), func(mark string) bool { return bytes.Contains(now, []byte(mark)) })
	c.inlineChanged = c.inlineChanged || (len(was) > 0 || marked) && !slices.Equal(was, is)
	c.inlineMoved = c.inlineMoved || len(was) > 0 && !testdiff.OnlyAddsTests(was, is)
	return was, is
}

// overlay returns the baseline tree with current tests and other gate inputs. It lacks only the
// work.
func (v *Verifier) overlay(ctx context.Context, r Request, tests []string) (string, error) {
	c, err := v.compareTests(ctx, r)
	if err != nil {
		return "", err
	}
	return v.Repo.Overlay(ctx, r.Base, r.Tree, slices.Concat(tests, c.inputs))
}

// compareInline compares a source file's tests: whether it had some, has the same, and at most
// added some.
func (v *Verifier) compareInline(ctx context.Context, ch git.Change, before, now string) (held, same, adds bool, err error) {
	was, err := v.fileContent(ctx, before, ch.Path)
	if err != nil {
		return false, false, false, err
	}
	is, err := v.fileContent(ctx, now, ch.Path)
	tests := testdiff.InlineTests(ch.Path, was)
	return len(tests) > 0, slices.Equal(tests, testdiff.InlineTests(ch.Path, is)), testdiff.OnlyAddsInlineTests(ch.Path, was, is), err
}

// isProgramChange reports whether a file that only a gate's command names as a test is also a
// program with unchanged tests. Then its change is work.
func (v *Verifier) isProgramChange(ctx context.Context, ch git.Change, before, now string) bool {
	if IsTest(nil, ch.Path) {
		return false
	}
	held, _, adds, err := v.compareInline(ctx, ch, before, now)
	is, readErr := v.fileContent(ctx, now, ch.Path)
	if err != nil || readErr != nil || !held || !adds {
		return false
	}
	entries, err := v.Repo.Entries(ctx, now)
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
