package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

const (
	maxFiles   = 50  // changed test files that are read
	maxChanges = 100 // that are returned
)

// listTestChanges returns what a claim did to old tests, by their structure. A change that the
// adapted tests contain too is asked for by the task.
func (c *claim) listTestChanges(ctx context.Context, adapted []testdiff.Adapted) ([]loop.TestChange, error) {
	var all []loop.TestChange
	for _, file := range c.tests.old[:min(len(c.tests.old), maxFiles)] {
		found, err := c.changesOfOld(ctx, file)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	all = all[:min(len(all), maxChanges)]
	for _, a := range adapted {
		now, err := c.fileContent(ctx, c.Tree, a.Path)
		if err != nil {
			return nil, err
		}
		var more []loop.TestChange
		if !bytes.Equal(a.Content, now) { // in a language that is not known any change is one
			more = changesInFile(a.Path, a.Content, now)
		}
		for i, t := range all {
			beside := slices.ContainsFunc(more, func(m loop.TestChange) bool { return m.Kind == t.Kind && m.Name == t.Name })
			if t.Path == a.Was || t.Path == a.Path {
				all[i].Asked = !beside
			}
		}
	}
	return all, nil
}

// changesOfOld returns what a claim did to one old test or other gate input.
func (c *claim) changesOfOld(ctx context.Context, file string) ([]loop.TestChange, error) {
	from := c.Base
	if slices.Contains(c.tests.protected, file) {
		from = c.ProtectedTree
	}
	before, after, err := c.textsSince(ctx, from, file)
	if err != nil {
		return nil, err
	}
	one := loop.TestChange{Path: file, Kind: string(testdiff.Changed), Input: !c.isTest(file)}
	switch {
	case len(c.inSubmodule([]string{file})) > 0:
		one.Name = "in a submodule"
	case before == nil: // see isGateInput
		one.Kind = loop.FileAdded
	case one.Input && after == nil:
		one.Kind = string(testdiff.Deleted)
	case one.Input:
	case after == nil:
		return c.traceRemovedFile(ctx, testdiff.File{Path: file, Content: before})
	default:
		all := changesInFile(file, before, after)
		begun, err := c.fileContent(ctx, c.Base, file)
		if err != nil {
			return nil, err
		}
		if begun != nil && from == c.ProtectedTree { // the protected copy may be older
			all = append(all, slices.DeleteFunc(changesInFile(file, begun, after), func(t loop.TestChange) bool { return slices.Contains(all, t) })...)
		}
		return all, nil
	}
	return []loop.TestChange{one}, nil
}

// earlierChanges returns those of the changes that were made before the task began: to tests that
// differed from their protected copy then, and that the task did not change.
func (c *claim) earlierChanges(ctx context.Context, changes []loop.TestChange) (earlier []loop.TestChange, err error) {
	type test struct{ path, name string }
	oldTest := func(t loop.TestChange) test {
		name, _, _ := strings.Cut(t.Name, " → ")
		return test{t.Path, name}
	}
	before, own := map[test]bool{}, map[test]bool{}
	protected := fileSet(c.tests.protected)
	for _, file := range c.tests.old {
		if !protected[file] || !testdiff.Knows(file) {
			continue
		}
		var texts [3][]byte
		for i, tree := range []string{c.ProtectedTree, c.Base, c.Tree} {
			if texts[i], err = c.fileContent(ctx, tree, file); err != nil {
				return nil, err
			}
		}
		for _, t := range changesInFile(file, texts[0], texts[1]) {
			before[oldTest(t)] = true
		}
		for _, t := range changesInFile(file, texts[1], texts[2]) {
			own[oldTest(t)] = true
		}
	}
	for _, t := range changes {
		if before[oldTest(t)] && !own[oldTest(t)] {
			earlier = append(earlier, t)
		}
	}
	return earlier, nil
}

// protectedTexts returns old texts of tests that were weakened, or the text that the task asks for.
// Later claims use these. nil means without the file: a new file that changes old tests.
func (c *claim) protectedTexts(ctx context.Context, adapted []testdiff.Adapted) (map[string][]byte, error) {
	should := map[string][]byte{}
	for _, file := range c.seen.Inputs.Changed {
		was, err := c.fileContent(ctx, c.ProtectedTree, file)
		if err != nil {
			return nil, err
		}
		should[file] = was
	}
	for _, a := range adapted {
		delete(should, a.Was)
		if a.Content != nil {
			should[a.Path] = a.Content
		}
	}
	for file, was := range should {
		is, err := c.fileContent(ctx, c.Tree, file)
		if err != nil {
			return nil, err
		}
		needed := was == nil && (len(testdiff.Added(file, nil, is)) == 0 || matchesAny(testShaperGlobs, file)) // by new tests, perhaps
		if is == nil || !c.isTest(file) || needed || testdiff.Extends(testdiff.File{Path: file, Content: was}, testdiff.File{Path: file, Content: is}) {
			delete(should, file)
		}
	}
	return should, nil
}

// changesInFile returns the test changes in one file. In an unknown language it only says that the
// file changed.
func changesInFile(file string, before, after []byte) []loop.TestChange {
	if !testdiff.Knows(file) {
		return []loop.TestChange{{Path: file, Kind: string(testdiff.Changed)}}
	}
	var all []loop.TestChange
	for _, c := range testdiff.Compare(file, before, after) {
		all = append(all, loop.TestChange{Path: file, Line: c.Line, Kind: string(c.Kind), Name: c.Name})
	}
	return all
}

// fileContent returns a file of a tree, nil if it does not exist.
func (v *Verifier) fileContent(ctx context.Context, tree, file string) ([]byte, error) {
	b, err := v.Repo.Show(ctx, tree, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a test: %w", err)
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}

// filesWithRemovedTests returns test files with tests that no file contains now. A renamed test
// counts as another test unless it asserts all that the old one did.
func (c *claim) filesWithRemovedTests(ctx context.Context) ([]string, error) {
	var files []string
	for _, file := range c.tests.old {
		if !c.isTest(file) {
			continue
		}
		was, is, err := c.texts(ctx, file)
		if err != nil {
			return nil, err
		}
		var changes []loop.TestChange
		switch {
		case was == nil:
			continue
		case is == nil:
			changes, err = c.traceRemovedFile(ctx, testdiff.File{Path: file, Content: was})
		default:
			changes = changesInFile(file, was, is)
		}
		if err != nil {
			return nil, err
		}
		if losesTest(changes) {
			files = append(files, file)
		}
	}
	return files, nil
}

// losesTest reports whether the changes remove a test.
func losesTest(changes []loop.TestChange) bool {
	weaker := func(name string) bool {
		return slices.ContainsFunc(changes, func(c loop.TestChange) bool {
			return (c.Name == name || c.Path == name && c.Name == "") && c.Kind != string(testdiff.Renamed)
		})
	}
	return slices.ContainsFunc(changes, func(c loop.TestChange) bool {
		_, to, _ := strings.Cut(c.Name, "→ ")
		kind := testdiff.Kind(c.Kind)
		return kind == testdiff.Deleted || kind == testdiff.Moved || kind == testdiff.Renamed && weaker(to)
	})
}

// traceRemovedFile reports whether a removed test file was renamed, moved to where no runner looks, or
// deleted.
func (c *claim) traceRemovedFile(ctx context.Context, file testdiff.File) ([]loop.TestChange, error) {
	var fresh []testdiff.File
	for _, ch := range c.changes {
		if ch.Status != 'A' || len(fresh) == maxFiles {
			continue
		}
		content, err := c.fileContent(ctx, c.Tree, ch.Path)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, testdiff.File{Path: ch.Path, Content: content})
	}
	where := testdiff.FindMoved(file, fresh)
	if where == "" {
		names := testdiff.Compare(file.Path, file.Content, nil)
		if len(names) == 0 {
			return []loop.TestChange{{Path: file.Path, Kind: string(testdiff.Deleted)}}, nil
		}
		return changesInFile(file.Path, file.Content, nil), nil
	}
	kind := testdiff.Moved
	if c.isTest(where) {
		kind = testdiff.Renamed
	}
	all := []loop.TestChange{{Path: file.Path, Kind: string(kind), Name: "→ " + where}}
	now := fresh[slices.IndexFunc(fresh, func(f testdiff.File) bool { return f.Path == where })]
	if testdiff.Knows(where) || !bytes.Equal(file.Content, now.Content) {
		others := slices.DeleteFunc(slices.Clone(fresh), func(f testdiff.File) bool { return f.Path == where || !c.isTest(f.Path) || kind == testdiff.Moved })
		all = append(all, changesFrom(file, now, others)...)
	}
	return all, nil
}

// changesFrom returns the changes of a removed file's tests in the file that has most of them now, and others.
func changesFrom(gone, now testdiff.File, others []testdiff.File) (all []loop.TestChange) {
	if !testdiff.Knows(now.Path) || len(others) == 0 {
		return changesInFile(now.Path, gone.Content, now.Content)
	}
	for _, c := range testdiff.CompareSplit(gone, now, others) {
		all = append(all, loop.TestChange{Path: now.Path, Line: c.Line, Kind: string(c.Kind), Name: c.Name})
	}
	return all
}

// maxNamesRead bounds the files searched for the names of new tests.
const maxNamesRead = 1000

// addedTests returns the test names that the work added, by the gates that can run these alone. It
// omits names that any test had before: the runner would run those too.
func (c *claim) addedTests(ctx context.Context) (map[string][]string, error) {
	var names []string
	for _, file := range c.seen.Tests.New {
		before, after, err := c.texts(ctx, file)
		if err != nil {
			return nil, err
		}
		names = append(names, testdiff.Added(file, before, after)...)
	}
	if len(names) == 0 {
		return nil, nil
	}
	tests, err := c.Repo.Select(ctx, c.Base, c.files.tests)
	if err != nil {
		return nil, err
	}
	tests = maps.Clone(tests)
	maps.DeleteFunc(tests, func(file string, _ git.Entry) bool { return !testdiff.Knows(file) })
	old, err := c.Repo.Contents(ctx, tests, maxNamesRead, maxTextRead)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return wasTestName(name, old) })
	added := map[string][]string{}
	_, narrowed := narrowToTests(c.Root, c.Gates, names)
	for name := range narrowed {
		added[name] = names
	}
	return added, nil
}

// wasTestName reports whether a test in the files may have this name.
func wasTestName(name string, files map[string][]byte) bool {
	leaf := strings.TrimSpace(name[strings.LastIndexByte(name, '>')+1:])
	literal := gate.TitlePattern(leaf) == regexp.QuoteMeta(leaf)
	for file, text := range files {
		if mutant.Names(string(text), leaf) || !literal && slices.ContainsFunc(testdiff.Added(file, nil, text), func(old string) bool { return gate.MatchesTestName(old, name) }) {
			return true
		}
	}
	return false
}
