package verify

import (
	"context"
	"path"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/work"
)

// newDataFiles returns new data files beside others of their kind. A test that reads the whole
// folder reads them too. They count as new tests if there are no others and nothing failed before.
func (v *Verifier) newDataFiles(ctx context.Context, before string, task []git.Change) ([]string, error) {
	var found []string
	kinds := map[string]bool{}
	for _, ch := range task {
		if ch.Status != 'A' || !ch.To.IsFile() || !work.IsData(ch.Path) || v.isTest(ch.Path) || v.isMark(ch.Path) {
			continue
		}
		if len(kinds) == 0 {
			entries, err := v.Repo.Entries(ctx, before)
			if err != nil {
				return nil, err
			}
			for file := range entries {
				kinds[path.Dir(file)+"/*"+path.Ext(file)] = true
			}
		}
		if kinds[path.Dir(ch.Path)+"/*"+path.Ext(ch.Path)] {
			found = append(found, ch.Path)
		}
	}
	return found, nil
}
