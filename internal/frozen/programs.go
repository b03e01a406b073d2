package frozen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// Command is what a gate runs, as a shell reads it.
func Command(g gate.Gate) string {
	if len(g.Argv) > 0 {
		return shell.Quoted(g.Argv)
	}
	return g.Command
}

// Reach returns the commands that gates come to, and the files that lead there, relative
// to the root, which read is relative to as well.
func Reach(gates []gate.Gate, read func(path string) ([]byte, error)) (steps []testrun.Step, through []string) {
	for _, g := range gates {
		dir := filepath.ToSlash(g.Dir)
		found, files := testreport.Reach(Command(g), func(file string) ([]byte, error) { return read(path.Join(dir, file)) })
		for _, s := range found {
			s.Dir = path.Join(dir, s.Dir)
			steps = append(steps, s)
		}
		for _, file := range files {
			through = append(through, path.Join(dir, file))
		}
	}
	return steps, through
}

func (f *Files) reach() (steps []testrun.Step, through []string) {
	return Reach(f.o.Gates, testreport.FilesIn(f.o.Root))
}

// binDirs are the folders in a work tree to which dependencies bring programs.
const binDirs = "node_modules/.bin venv/bin .venv/bin vendor/bin"

// findPrograms takes the programs that gates start and git ignores: no tree shows
// another. Those that dependencies brought, and what a PATH that leads into the work
// tree names. What such a program loads in turn is not held.
func (f *Files) findPrograms() error {
	steps, _ := f.reach()
	deps := f.deps(steps)
	dirs := strings.Fields(binDirs)
	for _, dir := range filepath.SplitList(f.o.Path) {
		if rel, err := filepath.Rel(f.o.Root, dir); err == nil && filepath.IsLocal(rel) {
			dirs = append(dirs, filepath.ToSlash(rel))
		}
	}
	for _, step := range steps {
		for _, word := range step.Words {
			if word == "" || strings.ContainsAny(word, `\*`) || strings.HasPrefix(word, "-") {
				continue
			}
			for _, dir := range dirs {
				program := path.Join(dir, word)
				if strings.Contains(word, "/") { // by its path, as from that folder
					if program = path.Clean(word); path.Dir(program) != dir && !strings.HasSuffix(path.Dir(program), "/"+dir) {
						continue
					}
				}
				for _, below := range []string{"", step.Dir} {
					if err := f.takeProgram(path.Join(below, program), deps); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// takeProgram takes a program, and where it is a link what that leads to.
func (f *Files) takeProgram(rel, deps string) error {
	info, err := os.Stat(f.Where(rel))
	if err != nil || !info.Mode().IsRegular() || !filepath.IsLocal(rel) {
		return nil //nolint:nilerr // there is no such program here
	}
	if err := f.takeIgnored(rel, deps); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(f.Where(rel))
	if err != nil {
		return nil //nolint:nilerr // a link that leads nowhere runs nothing
	}
	target, err := filepath.Rel(resolved(f.o.Root), real)
	if err != nil || !filepath.IsLocal(target) {
		return nil //nolint:nilerr // it lies outside of the work tree
	}
	return f.takeIgnored(filepath.ToSlash(target), deps)
}

// takeIgnored takes a file that git ignores.
func (f *Files) takeIgnored(rel, deps string) error {
	if _, known := f.files[rel]; known {
		return nil
	}
	if f.o.Ignores != nil {
		if ignored, err := f.o.Ignores(rel); err != nil || !ignored {
			return err
		}
	}
	return f.take(rel, deps)
}

// lockFiles say which dependencies a work tree has.
const lockFiles = `
	package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb
	poetry.lock uv.lock pdm.lock Pipfile.lock requirements*.txt Gemfile.lock composer.lock`

// maxLockFile is more than any lock file has in bytes.
const maxLockFile = 256 << 20

// deps is a fingerprint of what the work tree depends on where steps run; it is never
// empty.
func (f *Files) deps(steps []testrun.Step) string {
	found := map[string]bool{}
	dirs := []string{""}
	for _, step := range steps {
		dirs = append(dirs, step.Dir)
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		for glob := range strings.FieldsSeq(lockFiles) {
			_ = f.match(found, path.Join(dir, glob)) // a folder that is no pattern has none
		}
	}
	sum := sha256.New()
	for _, file := range slices.Sorted(maps.Keys(found)) {
		content, err := atomicfile.Read(f.Where(file), maxLockFile) // of what cannot be read: none
		if err == nil && path.Base(file) == "package.json" {
			content = dependencies(content)
		}
		fmt.Fprintf(sum, "%q %x\n", file, sha256.Sum256(content))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// dependencies are the members of a package.json that say what it depends on.
func dependencies(data []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return data
	}
	var out []byte
	for key := range strings.FieldsSeq("dependencies devDependencies optionalDependencies peerDependencies overrides resolutions workspaces") {
		out = append(append(out, all[key]...), '\n')
	}
	return out
}
