package verify

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// A program can change its tests, or the script that runs them, while they run, and put
// them back before it ends. Times
// of the last change tell, which no ordinary program can set.

// maxTestFiles bounds the test files that are looked at before and after a run.
const maxTestFiles = 20_000

// fileState tells two states of a file apart.
type fileState struct{ size, content, attributes int64 }

// testFiles are the states of the test files, and of the scripts by which a gate runs,
// where it is to run; nil where no tree says
// which there are.
func (v *Verifier) testFiles(ctx context.Context, g gate.Gate, w runTarget) map[string]fileState {
	if v.Repo == nil || w.tree == "" {
		return nil
	}
	tests, err := v.Repo.Select(ctx, w.tree, v.files.tests)
	if err != nil {
		return nil // the run itself will say what is wrong
	}
	_, names := testreport.Reach([]gate.Gate{g}, testreport.FilesIn(v.Root))
	scripts, err := v.Repo.EntriesAt(ctx, w.tree, names)
	if err != nil {
		return nil
	}
	var marks []string
	if v.Marks != nil {
		marks = v.Marks()
	}
	states := map[string]fileState{}
	for _, entries := range []map[string]git.Entry{tests, scripts} {
		for file, e := range entries {
			if e.IsFile() && !slices.Contains(marks, file) && len(states) < maxTestFiles {
				states[file] = stateOf(filepath.Join(v.checkout(w), filepath.FromSlash(file)))
			}
		}
	}
	return states
}

func stateOf(path string) fileState {
	info, err := os.Lstat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime().UnixNano(), deps.ChangeTime(info)}
}

// checkout is the top of the repository where gates run.
func (v *Verifier) checkout(w runTarget) string {
	if w.place != "" {
		return v.place.tree.Root()
	}
	return v.Repo.Root()
}

// written are the test files that a run wrote, and whether each is as it was; before are
// their states before the run.
func (v *Verifier) written(ctx context.Context, w runTarget, before map[string]fileState) map[string]bool {
	var wrote map[string]bool
	for file, was := range before {
		path := filepath.Join(v.checkout(w), filepath.FromSlash(file))
		if stateOf(path) == was {
			continue
		}
		if wrote == nil {
			wrote = map[string]bool{}
		}
		old, err := v.Repo.Show(ctx, w.tree, file)
		now, errNow := atomicfile.Read(path, int64(len(old))+1)
		wrote[file] = err == nil && errNow == nil && bytes.Equal(old, now)
	}
	return wrote
}
