package launch

import (
	"context"
	"maps"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// useFeatureFolder changes a request that names a folder of the feature-list controller
// into one for what its files ask for, and returns the folder; nil for any other request.
// What was typed holds against the files.
func (q *Request) useFeatureFolder(ctx context.Context, root string) (*statefile.FeatureFolder, error) {
	path := q.featureFolderPath(root)
	if path == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	tracked := func(path string) (bool, error) { return git.Tracks(ctx, filepath.Dir(path), filepath.Base(path)) }
	f, err := statefile.NamedFeatureFolder(path, statefile.Place{Root: root, Home: q.Env.Home}, tracked)
	if f == nil {
		return nil, err
	}
	if q.Flags = maps.Clone(q.Flags); q.Flags == nil {
		q.Flags = map[string]any{}
	}
	q.Words, q.Text, q.Flags["plan"] = nil, f.Prompt, f.Plan
	if _, typed := q.Flags["max_iterations"]; f.MaxGiven && !f.New && !typed {
		q.Flags["max_iterations"] = f.MaxIterations
	}
	return f, nil
}

// featureFolderPath returns the path that is the one word of a request or, without any,
// that of the list that is found; "" if no such folder can be meant.
func (q *Request) featureFolderPath(root string) string {
	_, planned := q.Flags["plan"]
	switch {
	case q.Text != "" || planned || len(q.Words) > 1:
		return ""
	case len(q.Words) == 1 && q.Words[0] != "":
		return absPath(q.Dir, q.Words[0])
	case len(q.Words) == 1:
		return ""
	}
	list, err := findPlan(root, q.Dir) // what is wrong is said where the plan is read
	if err != nil || !statefile.HasPrompt(list) {
		return ""
	}
	return filepath.Dir(list)
}

// setFeatureFolder has a loop that the runner drives keep the folder's progress.txt up to
// date. It stays where the user has it, also if the loop has a worktree of its own.
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
