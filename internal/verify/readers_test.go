package verify_test

import (
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// What reads the source of the work gets along with whatever people write: here a sample of
// the libraries of Go and Python, all of it with PAWL_EVERY_STEP.
func TestReadersAcceptRealSource(t *testing.T) {
	t.Parallel()
	oneIn := uint32(400)
	if os.Getenv("PAWL_EVERY_STEP") != "" {
		oneIn = 1
	}
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, root := range []string{filepath.Join(strings.TrimSpace(string(goroot)), "src"), "/usr/lib/python3"} {
		_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			h := fnv.New32a()
			_, _ = h.Write([]byte(file))
			if ext := filepath.Ext(file); err != nil || !d.Type().IsRegular() || ext != ".go" && ext != ".py" && ext != ".c" || h.Sum32()%oneIn != 0 {
				return nil //nolint:nilerr // Python may not be there
			}
			content, err := os.ReadFile(file) //nolint:gosec // of the libraries
			if err != nil || len(content) > 1<<16 {
				return nil //nolint:nilerr // it is another user's
			}
			read++
			readsAll(file, content)
			return nil
		})
	}
	if read < 10 {
		t.Errorf("%d files were read", read)
	}
}

// readsAll has each reader look at a file as if the work had added its middle.
func readsAll(file string, content []byte) {
	before, all := slices.Concat(content[:len(content)/3], content[2*len(content)/3:]), string(content)
	change := sign.NewChange(file, before, content)
	change.Signs()
	change.Neutralize(nil)
	change.UnreadValues(all)
	change.WeakTestSigns([]string{"parse"})
	sign.NewTests(map[string][]byte{file: content}, all).AnswerTables(change)
	testdiff.Compare(file, before, content)
	testdiff.Program(file, content)
	mutant.Changed(file, before, content)
	mutant.Lines(file, before, content)
	mutant.UnreadParameters(file, before, content, all)
	mutant.UncallableOld(file, before, content, all)
	values := mutant.Values(file, content, nil, nil)
	mutant.Apply(content, values.Expected...)
	mutant.Apply(content, values.Inputs...)
}
