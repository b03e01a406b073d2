package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

const (
	maxFiles   = 50  // changed test files that are read
	maxChanges = 100 // that are returned
)

// listTestChanges returns what a claim did to old tests, by their structure.
func (v *Verifier) listTestChanges(ctx context.Context, r Request) ([]loop.TestChange, error) {
	c, err := v.compareTests(ctx, r)
	if err != nil {
		return nil, err
	}
	var all []loop.TestChange
	for _, file := range c.old[:min(len(c.old), maxFiles)] {
		from := r.Base
		if slices.Contains(c.protected, file) {
			from = r.ProtectedTree
		}
		before, err := v.fileContent(ctx, from, file)
		if err != nil {
			return nil, err
		}
		after, err := v.fileContent(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		switch {
		case len(v.inSubmodule([]string{file})) > 0:
			all = append(all, loop.TestChange{Path: file, Kind: string(testdiff.Changed), Name: "in a submodule", Input: !v.isTest(file)})
		case before == nil: // see inputClassifier
			all = append(all, loop.TestChange{Path: file, Kind: loop.FileAdded, Input: !v.isTest(file)})
		case !v.isTest(file) && after != nil:
			all = append(all, loop.TestChange{Path: file, Kind: string(testdiff.Changed), Input: true})
		case !v.isTest(file):
			all = append(all, loop.TestChange{Path: file, Kind: string(testdiff.Deleted), Input: true})
		case after == nil:
			gone, err := v.traceRemovedFile(ctx, r, testdiff.File{Path: file, Content: before})
			if err != nil {
				return nil, err
			}
			all = append(all, gone...)
		default:
			all = append(all, changesInFile(file, before, after)...)
			begun, err := v.fileContent(ctx, r.Base, file)
			if err != nil {
				return nil, err
			}
			if begun != nil && from == r.ProtectedTree { // the protected copy may be older
				all = append(all, slices.DeleteFunc(changesInFile(file, begun, after), func(c loop.TestChange) bool { return slices.Contains(all, c) })...)
			}
		}
	}
	return all[:min(len(all), maxChanges)], nil
}

// filesWithRemovedTests returns test files with tests that no file contains now. A renamed test
// counts as another test unless it asserts all that the old one did.
func (v *Verifier) filesWithRemovedTests(ctx context.Context, r Request, old []string) ([]string, error) {
	var files []string
	for _, file := range old {
		if !v.isTest(file) {
			continue
		}
		was, err := v.fileContent(ctx, r.Base, file)
		if err != nil {
			return nil, err
		}
		is, err := v.fileContent(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		var changes []loop.TestChange
		switch {
		case was == nil:
			continue
		case is == nil:
			changes, err = v.traceRemovedFile(ctx, r, testdiff.File{Path: file, Content: was})
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

// testChangesWithRequests returns the changes of old tests, each marked if the task asks for it.
func (v *Verifier) testChangesWithRequests(ctx context.Context, r Request, adapted []testdiff.Adapted) ([]loop.TestChange, error) {
	changes, err := v.listTestChanges(ctx, r)
	if err != nil {
		return nil, err
	}
	return changes, v.markRequested(ctx, r, changes, adapted)
}

// markRequested marks the changes that the adapted tests contain too: the task asks for these.
func (v *Verifier) markRequested(ctx context.Context, r Request, changes []loop.TestChange, adapted []testdiff.Adapted) error {
	for _, a := range adapted {
		now, err := v.fileContent(ctx, r.Tree, a.Path)
		if err != nil {
			return err
		}
		more := changesInFile(a.Path, a.Content, now)
		for i, c := range changes {
			beside := slices.ContainsFunc(more, func(m loop.TestChange) bool { return m.Kind == c.Kind && m.Name == c.Name })
			if c.Path == a.Was || c.Path == a.Path {
				changes[i].Asked = !beside
			}
		}
	}
	return nil
}

// protectedTexts returns old texts of tests that were weakened, or the text that the task asks for.
// Later claims use these. nil means without the file: a new file that changes old tests.
func (v *Verifier) protectedTexts(ctx context.Context, r Request, old []string, adapted []testdiff.Adapted) (map[string][]byte, error) {
	should := map[string][]byte{}
	for _, file := range old {
		was, err := v.fileContent(ctx, r.ProtectedTree, file)
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
		is, err := v.fileContent(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		needed := was == nil && (len(testdiff.Added(file, nil, is)) == 0 || matchesAny(testShaperGlobs, file)) // by new tests, perhaps
		if is == nil || !v.isTest(file) || needed || testdiff.Extends(testdiff.File{Path: file, Content: was}, testdiff.File{Path: file, Content: is}) {
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

// traceRemovedFile says whether a removed test file was renamed, moved to where no runner looks, or
// deleted.
func (v *Verifier) traceRemovedFile(ctx context.Context, r Request, file testdiff.File) ([]loop.TestChange, error) {
	diff, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return nil, err
	}
	var fresh []testdiff.File
	for _, ch := range diff {
		if ch.Status != 'A' || len(fresh) == maxFiles {
			continue
		}
		content, err := v.fileContent(ctx, r.Tree, ch.Path)
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
	if v.isTest(where) {
		kind = testdiff.Renamed
	}
	all := []loop.TestChange{{Path: file.Path, Kind: string(kind), Name: "→ " + where}}
	now := fresh[slices.IndexFunc(fresh, func(f testdiff.File) bool { return f.Path == where })]
	if testdiff.Knows(where) || !bytes.Equal(file.Content, now.Content) {
		all = append(all, changesInFile(where, file.Content, now.Content)...)
	}
	return all, nil
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
