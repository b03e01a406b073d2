package launch

import (
	"context"
	"maps"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// useFeatureFolder turns a request that names a folder of the feature-list controller into one
// for what its files ask for, and returns the folder, or nil for any other request. Options on
// the command line override the files.
func (q *Request) useFeatureFolder(ctx context.Context, root string) (*statefile.FeatureFolder, error) {
	path := q.featureFolderPath(root)
	if path == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	f, err := statefile.NamedFeatureFolder(path, statefile.Place{Root: root, ClientConfig: q.Env.ClientConfig()}, trackedBy(ctx))
	if f == nil {
		return nil, err
	}
	if q.Flags = maps.Clone(q.Flags); q.Flags == nil {
		q.Flags = map[string]any{}
	}
	q.Words, q.Text, q.Flags["plan"] = nil, f.Prompt, f.Plan
	q.setFlag("max_iterations", f.MaxIterations, f.MaxGiven && !f.New)
	return f, nil
}

// featureFolderPath returns the path in the single word of a request or, without words, the folder
// of the plan that is found. It returns "" if that cannot be such a folder.
func (q *Request) featureFolderPath(root string) string {
	_, planned := q.Flags["plan"]
	switch {
	case q.Text != "" || planned || len(q.Words) > 1:
		return ""
	case len(q.Words) == 1 && q.Words[0] != "":
		return AbsPath(q.Dir, q.Words[0])
	case len(q.Words) == 1:
		return ""
	}
	list, err := findPlan(root, q.Dir) // reading the plan reports the error
	if err != nil || !statefile.HasControllerPrompt(list) {
		return ""
	}
	return filepath.Dir(list)
}

// setFeatureFolder lets a loop of the runner keep the folder's progress.txt up to date: the
// user's file, even if the loop has its own worktree.
func (p *Prepared) setFeatureFolder() {
	if p.featureFolder == nil {
		return
	}
	p.Spec.Policy.IterationsBefore = p.featureFolder.CountedIterations
	p.setStateFile(p.featureFolder.File, statefile.FeatureListName)
	if p.Spec.UsesWorktree {
		p.Spec.CompatFile = filepath.ToSlash(record.ResolvePath(p.featureFolder.File))
	}
}
