package verify

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// keeps matches tasks that want something removed from one place only, or under one name.
var keeps = regex.New(`(?i)\b(?:renam|mov|extract|inlin|privat|internal|keep|convert|turn|merg|split|replac)\w*\b|\binstead\b|\bin favou?r\b`)

// keptRemovals returns the functions that the task asks to remove and that have another name now.
func (c *claim) keptRemovals(ctx context.Context) (found []string, err error) {
	if keeps.MatchString(c.Asked) || len(c.changes) > maxChangedFiles {
		return nil, nil
	}
	changed, err := c.deletedPrograms(ctx, c.Base, c.work)
	if err != nil {
		return nil, err
	}
	texts := map[string][2][]byte{}
	for file, text := range changed {
		texts[file] = [2][]byte{text, nil}
	}
	err = eachText(ctx, c.Repo, programsIn(c.work), func(ch git.Change, was, is []byte) error {
		texts[ch.Path] = [2][]byte{was, is}
		return nil
	})
	for _, r := range mutant.Renames(texts) {
		if testdiff.AsksToRemove(c.Asked, mutant.BareName(r.Old)) {
			found = append(found, fmt.Sprintf("%s is still there: %s:%d %s has its text", r.Old, r.Path, r.Line, r.New))
		}
	}
	return found, err
}
