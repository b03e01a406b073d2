package verify

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// A program can change its tests, or the script that runs them, during a run and restore them before
// it ends. Change times reveal that, since no ordinary program can set them.

// maxTestFiles bounds the test files compared before and after a run.
const maxTestFiles = 20_000

// fileState distinguishes two states of a file.
type fileState struct{ size, content, attributes int64 }

// hasSameContent reports whether only attributes of a file changed, as by chmod: or its times were set
// back after a change of its content.
func (s fileState) hasSameContent(was fileState) bool {
	return s.size == was.size && s.content == was.content
}

// testFileStates returns the states of the test files and gate scripts; nil without a tree.
func (v *Verifier) testFileStates(ctx context.Context, g gate.Gate, w runTarget) map[string]fileState {
	if v.Repo == nil || w.tree == "" {
		return nil
	}
	tests, err := v.Repo.Select(ctx, w.tree, v.files.tests)
	if err != nil {
		return nil // the run itself reports the error
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
				states[file] = stateOfFile(filepath.Join(v.repositoryRoot(w), filepath.FromSlash(file)))
			}
		}
	}
	return states
}

func stateOfFile(path string) fileState {
	info, err := os.Lstat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime().UnixNano(), deps.ChangeTime(info)}
}

// repositoryRoot is the top of the repository where gates run.
func (v *Verifier) repositoryRoot(w runTarget) string {
	if w.checkout != "" {
		return v.Checkout.Top()
	}
	return v.Repo.Root()
}

// writtenTests maps the test files that a run wrote to whether their content is as before.
func (v *Verifier) writtenTests(ctx context.Context, w runTarget, before map[string]fileState) map[string]bool {
	var wrote map[string]bool
	setsModes := sync.OnceValue(func() bool { return v.testsSetModes(ctx, w.tree) })
	for file, was := range before {
		path := filepath.Join(v.repositoryRoot(w), filepath.FromSlash(file))
		if is := stateOfFile(path); is == was || is.hasSameContent(was) && setsModes() {
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

// testsSetModes reports whether a test sets modes of files, as of the fake programs beside it.
func (v *Verifier) testsSetModes(ctx context.Context, tree string) bool {
	tests, err := contentsOf(ctx, v.Repo, tree, v.files.tests, maxTestsRead)
	return err == nil && slices.ContainsFunc(slices.Collect(maps.Values(tests)), func(text []byte) bool { return bytes.Contains(text, []byte("chmod")) })
}
