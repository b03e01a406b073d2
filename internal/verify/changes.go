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
	maxChanges = 100 // that are named
)

// changes names what a claim did to old tests, by their structure.
func (v *Verifier) changes(ctx context.Context, r Request) ([]loop.TestChange, error) {
	c, err := v.compareTests(ctx, r)
	if err != nil {
		return nil, err
	}
	var all []loop.TestChange
	for _, file := range c.old[:min(len(c.old), maxFiles)] {
		from := r.Base
		if slices.Contains(c.fromProtected, file) {
			from = r.ProtectedTree
		}
		before, err := v.content(ctx, from, file)
		if err != nil {
			return nil, err
		}
		after, err := v.content(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		switch {
		case len(v.inSubmodule([]string{file})) > 0:
			all = append(all, loop.TestChange{Path: file, Kind: string(testdiff.Changed), Name: "in a submodule", Input: !v.isTest(file)})
		case before == nil: // see inputs
			all = append(all, loop.TestChange{Path: file, Kind: loop.FileAdded, Input: !v.isTest(file)})
		case !v.isTest(file) && after != nil:
			all = append(all, loop.TestChange{Path: file, Kind: string(testdiff.Changed), Input: true})
		case !v.isTest(file):
			all = append(all, loop.TestChange{Path: file, Kind: string(testdiff.Deleted), Input: true})
		case after == nil:
			gone, err := v.gone(ctx, r, testdiff.File{Path: file, Content: before})
			if err != nil {
				return nil, err
			}
			all = append(all, gone...)
		default:
			all = append(all, changesOf(file, before, after)...)
			begun, err := v.content(ctx, r.Base, file)
			if err != nil {
				return nil, err
			}
			if begun != nil && from == r.ProtectedTree { // the judge's copy may be older
				all = append(all, slices.DeleteFunc(changesOf(file, begun, after), func(c loop.TestChange) bool { return slices.Contains(all, c) })...)
			}
		}
	}
	return all[:min(len(all), maxChanges)], nil
}

// goneTests are files of tests that the task found and that are nowhere any more: what has another name
// is another test if it does not assert all that the old one did.
func (v *Verifier) goneTests(ctx context.Context, r Request, old []string) ([]string, error) {
	var files []string
	for _, file := range old {
		if !v.isTest(file) {
			continue
		}
		was, err := v.content(ctx, r.Base, file)
		if err != nil {
			return nil, err
		}
		is, err := v.content(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		var changes []loop.TestChange
		switch {
		case was == nil:
			continue
		case is == nil:
			changes, err = v.gone(ctx, r, testdiff.File{Path: file, Content: was})
		default:
			changes = changesOf(file, was, is)
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

// losesTest reports whether a test of a file is in none any more.
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

// namedChanges are the changes of old tests, each marked whether the task asks for it.
func (v *Verifier) namedChanges(ctx context.Context, r Request, adapted []testdiff.Adapted) ([]loop.TestChange, error) {
	changes, err := v.changes(ctx, r)
	if err != nil {
		return nil, err
	}
	return changes, v.markAsked(ctx, r, changes, adapted)
}

// markAsked marks the changes of tests that the task asks for: those that are in what was adapted to it.
func (v *Verifier) markAsked(ctx context.Context, r Request, changes []loop.TestChange, adapted []testdiff.Adapted) error {
	for _, a := range adapted {
		now, err := v.content(ctx, r.Tree, a.Path)
		if err != nil {
			return err
		}
		more := changesOf(a.Path, a.Content, now)
		for i, c := range changes {
			beside := slices.ContainsFunc(more, func(m loop.TestChange) bool { return m.Kind == c.Kind && m.Name == c.Name })
			if c.Path == a.Was || c.Path == a.Path {
				changes[i].Asked = !beside
			}
		}
	}
	return nil
}

// judges are what stands for old tests whose text is not all there any more, in whatever was added: what they were, or
// what the task asks them to be. A new file that changes what others do is not there for them.
func (v *Verifier) judges(ctx context.Context, r Request, old []string, adapted []testdiff.Adapted) (map[string][]byte, error) {
	should := map[string][]byte{}
	for _, file := range old {
		was, err := v.content(ctx, r.ProtectedTree, file)
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
		is, err := v.content(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		needed := was == nil && (len(testdiff.Added(file, nil, is)) == 0 || matchesAny(shapers, file)) // by new tests, perhaps
		if is == nil || !v.isTest(file) || needed || testdiff.Extends(testdiff.File{Path: file, Content: was}, testdiff.File{Path: file, Content: is}) {
			delete(should, file)
		}
	}
	return should, nil
}

// changesOf are those in one file. Of a file in a language that is not known only
// that it changed can be told.
func changesOf(file string, before, after []byte) []loop.TestChange {
	if !testdiff.Knows(file) {
		return []loop.TestChange{{Path: file, Kind: string(testdiff.Changed)}}
	}
	var all []loop.TestChange
	for _, c := range testdiff.Compare(file, before, after) {
		all = append(all, loop.TestChange{Path: file, Line: c.Line, Kind: string(c.Kind), Name: c.Name})
	}
	return all
}

// gone tells what became of a test file that is not there: it was renamed, moved to
// where no runner looks, or deleted.
func (v *Verifier) gone(ctx context.Context, r Request, file testdiff.File) ([]loop.TestChange, error) {
	diff, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return nil, err
	}
	var fresh []testdiff.File
	for _, ch := range diff {
		if ch.Status != 'A' || len(fresh) == maxFiles {
			continue
		}
		content, err := v.content(ctx, r.Tree, ch.Path)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, testdiff.File{Path: ch.Path, Content: content})
	}
	where := testdiff.Where(file, fresh)
	if where == "" {
		names := testdiff.Compare(file.Path, file.Content, nil)
		if len(names) == 0 {
			return []loop.TestChange{{Path: file.Path, Kind: string(testdiff.Deleted)}}, nil
		}
		return changesOf(file.Path, file.Content, nil), nil
	}
	kind := testdiff.Moved
	if v.isTest(where) {
		kind = testdiff.Renamed
	}
	all := []loop.TestChange{{Path: file.Path, Kind: string(kind), Name: "→ " + where}}
	now := fresh[slices.IndexFunc(fresh, func(f testdiff.File) bool { return f.Path == where })]
	if testdiff.Knows(where) || !bytes.Equal(file.Content, now.Content) {
		all = append(all, changesOf(where, file.Content, now.Content)...)
	}
	return all, nil
}

// content is that of a file in a tree, nil if it is not there.
func (v *Verifier) content(ctx context.Context, tree, file string) ([]byte, error) {
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
