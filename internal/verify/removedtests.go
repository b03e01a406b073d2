package verify

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

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
		all = append(all, changesInFile(where, file.Content, now.Content)...)
	}
	return all, nil
}
