package verify

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
)

// moves is what a change only moved to another file.
type moves struct {
	functions map[string]bool // "file name"
	lines     map[string]bool // of files that are deleted, without white space around them
}

// has reports whether a line was moved.
func (m moves) has(l changedLine) bool {
	return m.lines[l.Text] || l.Function != "" && m.functions[l.file+" "+l.Function]
}

// findMoves returns what changes since a tree only moved.
func (v *Verifier) findMoves(ctx context.Context, before string, changes []git.Change) (m moves, err error) {
	gone, err := v.deletedPrograms(ctx, before, changes)
	if err != nil {
		return m, err
	}
	m.lines = map[string]bool{}
	for _, text := range gone {
		for line := range strings.Lines(string(text)) {
			m.lines[strings.TrimSpace(line)] = true
		}
	}
	changed := map[string][2][]byte{}
	err = eachText(ctx, v.Repo, programsIn(v.workIn(changes)), func(ch git.Change, was, is []byte) error {
		changed[ch.Path] = [2][]byte{was, is}
		return nil
	})
	m.functions = movedFunctions(changed, gone)
	return m, err
}

// deletedPrograms returns the texts that deleted program files had, by file.
func (v *Verifier) deletedPrograms(ctx context.Context, before string, changes []git.Change) (map[string][]byte, error) {
	gone := map[string][]byte{}
	for _, c := range changes {
		if c.Status == 'D' && isFile(c.From) && mutant.Knows(c.Path) {
			var err error
			if gone[c.Path], err = v.fileContent(ctx, before, c.Path); err != nil {
				return nil, err
			}
		}
	}
	return gone, nil
}

// movedFunctions returns "file name" of functions that moved here from another file: they are not
// the work's. Both maps contain texts by file; gone are removed files.
func movedFunctions(changed map[string][2][]byte, gone map[string][]byte) map[string]bool {
	moved := map[string]bool{}
	for file, text := range changed {
		for _, f := range mutant.Changed(file, text[0], text[1]) {
			for other, texts := range changed {
				moved[file+" "+f.Name] = moved[file+" "+f.Name] || f.New && other != file && f.MovedFrom(other, texts[0])
			}
			for other, text := range gone {
				moved[file+" "+f.Name] = moved[file+" "+f.Name] || f.New && f.MovedFrom(other, text)
			}
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
