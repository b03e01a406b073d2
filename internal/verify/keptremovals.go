package verify

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// keeps matches tasks that want something removed from one place only, or under one name.
var keeps = regex.New(`(?i)\b(?:renam|mov|extract|inlin|privat|internal|keep|convert|turn|merg|split|replac)\w*\b|\binstead\b|\bin favou?r\b`)

// keptRemovals returns the functions that the task asks to remove and that have another name now.
func (c *claim) keptRemovals() (found []string) {
	if keeps.MatchString(c.Asked) || len(c.changes) > maxChangedFiles {
		return nil
	}
	texts := map[string][2][]byte{}
	for _, f := range c.signs.work() {
		if (f.hasFunctions() || f.isDeletedProgram()) && !slices.Contains(c.own, f.Path) {
			texts[f.Path] = [2][]byte{f.before, f.after}
		}
	}
	for _, r := range mutant.Renames(texts) {
		if testdiff.AsksToRemove(c.Asked, mutant.BareName(r.Old)) {
			found = append(found, fmt.Sprintf("%s is still there: %s:%d %s has its text", r.Old, r.Path, r.Line, r.New))
		}
	}
	return found
}
