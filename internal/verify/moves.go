package verify

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
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
