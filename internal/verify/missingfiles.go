package verify

import (
	"context"
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/work"
)

// filePath matches a path with a folder in a text.
var filePath = regex.New(`(?:^|[^\w/.:*@-])((?:[\w-]+/)+[\w.-]*\w\.\w+)\b`)

// maxFilePaths bounds the paths of a text that are looked for.
const maxFilePaths = 20

// missingFiles returns the source files that the task names and that do not exist, now or before the
// work, although their folder does. Without the folder, the path may be an example.
func (c *claim) missingFiles(ctx context.Context) (missing []string, err error) {
	named := map[string]bool{}
	for _, m := range filePath.FindAllStringSubmatch(c.Asked, maxFilePaths) {
		file := m[1]
		if named[file] || !work.IsSource(file) || c.isTest(file) || c.isInWorkTree(file) {
			continue
		}
		named[file] = true
		isFile := func(p string) bool { return p == file || strings.HasSuffix(p, "/"+file) }
		inFolder := func(p string) bool { return strings.Contains("/"+p, "/"+path.Dir(file)+"/") }
		exists := false
		for _, tree := range []string{c.Tree, c.Base, c.ProtectedTree} {
			if exists || err != nil {
				break
			}
			exists, err = c.Repo.HasAny(ctx, tree, isFile)
		}
		hasFolder := false
		if err == nil && !exists {
			hasFolder, err = c.Repo.HasAny(ctx, c.Tree, inFolder)
		}
		if err != nil {
			return nil, err
		}
		if hasFolder {
			missing = append(missing, "there is no "+file+", which the task names")
		}
	}
	return missing, nil
}
