package verify

import (
	"context"
	"path"

	"github.com/pawl-dev/pawl/internal/work"
)

// newDataFiles returns new data files beside others of their kind. A test that reads the whole
// folder reads them too. They count as new tests if there are no others and nothing failed before.
func (c *claim) newDataFiles(ctx context.Context) ([]string, error) {
	var found []string
	kinds := map[string]bool{}
	for _, ch := range c.work {
		if ch.Status != 'A' || !ch.To.IsFile() || !work.IsData(ch.Path) {
			continue
		}
		if len(kinds) == 0 {
			entries, err := c.Repo.Entries(ctx, c.Base)
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
