package verify

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/work"
)

// Changed files are read by blob ID, many at a time: a change may contain very many files.

// readTogether is how many files are in memory at once.
const readTogether = 64

// changedFile is a changed file with its texts; nil where a side is not a file.
type changedFile struct {
	git.Change
	before, after []byte
}

// eachText calls use with each changed file.
func eachText(ctx context.Context, repo *git.Repo, changes []git.Change, use func(changedFile) error) error {
	for some := range slices.Chunk(changes, readTogether) {
		var ids []string
		for _, c := range some {
			for _, e := range []git.Entry{c.From, c.To} {
				if isFile(e) {
					ids = append(ids, e.ID)
				}
			}
		}
		texts, err := repo.KnownBlobs(ctx, ids)
		if err != nil {
			return err
		}
		for _, c := range some {
			f := changedFile{Change: c}
			if isFile(c.From) {
				f.before = texts[c.From.ID]
			}
			if isFile(c.To) {
				f.after = texts[c.To.ID]
			}
			if err := use(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// readChanged reads all of the changed files.
func readChanged(ctx context.Context, repo *git.Repo, changes []git.Change) (files []changedFile, err error) {
	err = eachText(ctx, repo, changes, func(f changedFile) error {
		files = append(files, f)
		return nil
	})
	return files, err
}

// sides returns the file as package sign reads it.
func (f changedFile) sides() *sign.Change { return sign.NewChange(f.Path, f.before, f.after) }

// isDeletedProgram reports whether a file with known functions is gone.
func (f changedFile) isDeletedProgram() bool {
	return f.Status == 'D' && isFile(f.From) && mutant.Knows(f.Path)
}

// hasFunctions reports whether a file with known functions is there now.
func (f changedFile) hasFunctions() bool { return isFile(f.To) && mutant.Knows(f.Path) }

func isFile(e git.Entry) bool { return e.Mode == "100644" || e.Mode == "100755" }

// moves is what a change only moved to another file.
type moves struct {
	functions map[string]bool // "file name"
	lines     map[string]bool // of files that are deleted, without white space around them
}

// has reports whether a line was moved.
func (m moves) has(l changedLine) bool {
	return m.lines[l.Text] || l.Function != "" && m.functions[l.file+" "+l.Function]
}

// findMoves returns what changes of programs only moved. Functions are those of the work.
func (v *Verifier) findMoves(changed []changedFile) moves {
	m := moves{lines: map[string]bool{}}
	var work, gone []changedFile
	own := v.ownFiles()
	for _, f := range changed {
		switch {
		case f.isDeletedProgram():
			gone = append(gone, f)
			for line := range strings.Lines(string(f.before)) {
				m.lines[strings.TrimSpace(line)] = true
			}
		case f.hasFunctions() && !v.isTest(f.Path) && !slices.Contains(own, f.Path):
			work = append(work, f)
		}
	}
	m.functions = movedFunctions(work, gone)
	return m
}

// movedFunctions returns "file name" of functions that moved here from another file: they are not
// the work's. gone are removed files.
func movedFunctions(changed, gone []changedFile) map[string]bool {
	had, moved := mutant.Origins{}, map[string]bool{}
	for _, file := range slices.Concat(changed, gone) {
		had.Add(file.Path, file.before)
	}
	for _, file := range changed {
		for _, f := range mutant.Changed(file.Path, file.before, file.after) {
			moved[file.Path+" "+f.Name] = f.New && had.Moved(f)
		}
	}
	return moved
}

// maxMoved bounds the deleted files that new ones are compared with, and these.
const maxMoved = 50

// movedTexts returns the text that a new program file had in a deleted one, by its new path: most of
// its lines are from there. What moved is not added.
func movedTexts(ctx context.Context, repo *git.Repo, changes []git.Change) (map[string][]byte, error) {
	var deleted, added []git.Change
	var ids []string
	for _, c := range changes {
		switch {
		case !mutant.Knows(c.Path):
		case c.Status == 'D' && isFile(c.From) && len(deleted) < maxMoved:
			deleted, ids = append(deleted, c), append(ids, c.From.ID)
		case c.Status == 'A' && isFile(c.To) && len(added) < maxMoved:
			added, ids = append(added, c), append(ids, c.To.ID)
		}
	}
	if len(deleted) == 0 || len(added) == 0 {
		return nil, nil
	}
	texts, err := repo.KnownBlobs(ctx, ids)
	moved := map[string][]byte{}
	for _, a := range added {
		best := 0
		for _, d := range deleted {
			if n, all := commonLines(texts[d.From.ID], texts[a.To.ID]); n > best && 2*n > all {
				best, moved[a.Path] = n, texts[d.From.ID]
			}
		}
	}
	return moved, err
}

// commonLines returns how many lines of a text another has, and how many there are, without blank
// ones.
func commonLines(of, text []byte) (common, all int) {
	had := map[string]bool{}
	for line := range strings.Lines(string(of)) {
		had[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if all++; had[line] {
			common++
		}
	}
	return common, all
}

// selections are the files that each claim reads, in several trees.
type selections struct {
	isTest       func(file string) bool
	tests        *git.Selection
	mayHoldTests *git.Selection // tests, and sources that may contain tests
	documents    *git.Selection // without tests
	programs     *git.Selection // without tests
	sources      *git.Selection // source files and tests
	others       *git.Selection // neither tests nor documents
	python       *git.Selection

	submodules *git.Selection
}

func newSelections(isTest func(file string) bool) *selections {
	of := func(wanted func(file string) bool) *git.Selection {
		return git.NewSelection(func(file string, _ git.Entry) bool { return wanted(file) })
	}
	return &selections{
		isTest:       isTest,
		tests:        of(isTest),
		mayHoldTests: of(func(file string) bool { return path.Ext(file) == ".rs" || isTest(file) }),
		documents:    of(func(file string) bool { return isDocument(file) && !isTest(file) }),
		programs:     of(func(file string) bool { return sign.IsProgram(file) && !isTest(file) }),
		sources:      of(func(file string) bool { return work.IsSource(file) || isTest(file) }),
		others:       of(func(file string) bool { return !isDocument(file) && !isTest(file) }),
		python:       of(func(file string) bool { return path.Ext(file) == ".py" }),

		submodules: git.NewSelection(func(_ string, e git.Entry) bool { return e.IsSubmodule() }),
	}
}
