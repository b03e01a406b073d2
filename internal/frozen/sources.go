package frozen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/shell"
)

// RunnerFiles configure test runners.
const RunnerFiles = `
	jest.config.{js,ts,mjs,cjs,json} vitest.{config,workspace}.{js,ts,mjs,cjs,mts,cts} playwright.config.{js,ts,mjs,cjs}
	.mocharc* ava.config.{js,mjs,cjs} karma.conf.{js,ts} cypress.config.{js,ts,mjs,cjs} bunfig.toml .taprc
	pytest.ini .pytest.ini tox.ini phpunit.xml phpunit.xml.dist .rspec package.json pyproject.toml setup.cfg`

// ciFiles say what the project's own machines check.
const ciFiles = `
	.github/workflows/** .gitlab-ci.yml .circleci/** .buildkite/** .woodpecker/** .woodpecker.{yml,yaml} .drone.yml .travis.yml
	azure-pipelines.{yml,yaml} bitbucket-pipelines.yml Jenkinsfile`

// toolFiles count where a gate uses the tool that reads them.
const toolFiles = `
	make:Makefile make:makefile make:GNUmakefile just:justfile just:.justfile just:Justfile task:Taskfile.yml task:Taskfile.yaml
	rake:Rakefile nox:noxfile.py cargo:.cargo/config.toml eslint:.eslintrc* eslint:eslint.config.* biome:biome.json* prettier:.prettierrc*
	ruff:ruff.toml ruff:.ruff.toml mypy:mypy.ini mypy:.mypy.ini flake8:.flake8 pylint:.pylintrc pylint:pylintrc
	eslint:.eslintignore prettier:.prettierignore stylelint:.stylelintrc* stylelint:stylelint.config.* cargo:clippy.toml cargo:.clippy.toml
	pyright:pyrightconfig.json pytest:.coveragerc pre-commit:.pre-commit-config.yaml
	npm:.npmrc golangci-lint:.golangci.* rubocop:.rubocop.yml phpstan:phpstan.neon* nyc:.nycrc* c8:.c8rc* coverage:.coveragerc`

// binDirs are the folders in a work tree to which dependencies bring programs.
const binDirs = "node_modules/.bin venv/bin .venv/bin vendor/bin"

// find takes what there is to freeze. What gates lead to may lead further.
func (f *Files) find() error {
	const depth = 4
	for range depth {
		known := len(f.files)
		found, err := f.found()
		if err != nil {
			return err
		}
		for _, file := range found {
			if err := f.take(file, ""); err != nil {
				return err
			}
		}
		if len(f.files) == known {
			break
		}
	}
	if err := f.findPrograms(); err != nil {
		return err
	}
	if err := f.findInGit(); err != nil {
		return err
	}
	file, err := f.read("pawl.toml")
	f.files["pawl.toml"] = file
	return err
}

// take freezes a file, if it is there.
func (f *Files) take(rel, deps string) error {
	info, err := os.Lstat(f.Where(rel))
	if _, known := f.files[rel]; known || err != nil || info.Size() > MaxSize {
		return nil //nolint:nilerr // it is not there: nothing to take
	}
	if !info.Mode().IsRegular() && (deps == "" || info.Mode()&fs.ModeSymlink == 0) {
		return nil
	}
	file, err := f.read(rel)
	file.Deps = deps
	f.files[rel] = file
	return err
}

// found lists the files that judge, as far as what is known of them leads.
func (f *Files) found() ([]string, error) {
	globs := strings.Fields(RunnerFiles)
	words := Words(f.commands())
	for pair := range strings.FieldsSeq(toolFiles) {
		if tool, file, _ := strings.Cut(pair, ":"); slices.Contains(words, tool) {
			globs = append(globs, file)
		}
	}
	found := map[string]bool{}
	dirs := f.dirs()
	for _, dir := range dirs {
		for _, glob := range globs {
			if err := f.match(found, dir+glob); err != nil {
				return nil, err
			}
		}
	}
	for _, script := range f.scripts(dirs) {
		if strings.ContainsAny(script, "*?[") {
			_ = f.match(found, script) // what is no pattern names nothing
		} else {
			found[script] = true
		}
	}
	for _, glob := range slices.Concat(strings.Fields(ciFiles), f.o.Protect) {
		if err := f.match(found, glob); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func (f *Files) match(found map[string]bool, glob string) error {
	matches, err := doublestar.Glob(os.DirFS(f.o.Root), strings.TrimPrefix(glob, "./"), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return fmt.Errorf("find protected files by %q: %w", glob, err)
	}
	for _, m := range matches {
		if m != ".git" && !strings.HasPrefix(m, ".git/") {
			found[m] = true
		}
	}
	return nil
}

// Command is what a gate runs, as a shell reads it.
func Command(g gate.Gate) string {
	if len(g.Argv) > 0 {
		return shell.Quoted(g.Argv)
	}
	return g.Command
}

func notInWord(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", r) }

// Words are those of some commands, whatever their quotes join.
func Words(commands []string) []string {
	var words []string
	for _, c := range commands {
		words = append(words, strings.FieldsFunc(c, notInWord)...)
	}
	return words
}

// commands are those of the gates, and those that they lead to by package.json
// and Makefile, as far as these are frozen.
func (f *Files) commands() []string {
	direct := f.beforeMake()
	words := f.makeWords()
	for _, content := range f.makefiles() {
		direct = append(direct, recipes(content, words)...)
	}
	return append(direct, f.npmScripts(Words(direct))...)
}

// beforeMake are the commands of the gates, and those of package.json that they
// lead to.
func (f *Files) beforeMake() []string {
	var all []string
	for _, g := range f.o.Gates {
		all = append(all, Command(g))
	}
	return append(all, f.npmScripts(Words(all))...)
}

func (f *Files) npmScripts(words []string) []string {
	var all []string
	for file, frozen := range f.files {
		if !isManifest(file) {
			continue
		}
		if m, ok := members(frozen.Content); ok {
			bodies := scripts(m)
			for _, name := range used(bodies, words) {
				all = append(all, bodies[name])
			}
		}
	}
	return all
}

// wordsFor are the words by which the part of a file that judges is found.
func (f *Files) wordsFor(file string) []string {
	if isMakefile(file) {
		return f.makeWords()
	}
	return Words(f.commands())
}

// findPrograms takes the programs in the work tree that gates run by name: those
// that dependencies brought, and what a PATH that leads into the work tree names.
// What such a program loads in turn is not held: that is what pristine gates are
// for, which install it anew, and confinement.
func (f *Files) findPrograms() error {
	deps := f.deps()
	dirs := strings.Fields(binDirs)
	for _, dir := range filepath.SplitList(f.o.Path) {
		if rel, err := filepath.Rel(f.o.Root, dir); err == nil && filepath.IsLocal(rel) {
			dirs = append(dirs, filepath.ToSlash(rel))
		}
	}
	folders := f.dirs()
	for _, word := range slices.Compact(slices.Sorted(slices.Values(Words(f.commands())))) {
		if strings.ContainsAny(word, `/\`) || strings.HasPrefix(word, "-") {
			continue
		}
		for _, below := range folders {
			for _, dir := range dirs {
				if err := f.takeProgram(path.Join(below, dir, word), deps); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// takeProgram takes a program, and where it is a link what that leads to.
func (f *Files) takeProgram(rel, deps string) error {
	info, err := os.Stat(f.Where(rel))
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // there is no such program here
	}
	if err := f.take(rel, deps); err != nil {
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
	return f.take(filepath.ToSlash(target), deps)
}

// lockFiles say which dependencies a work tree has.
const lockFiles = `
	package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb
	poetry.lock uv.lock pdm.lock Pipfile.lock requirements*.txt Gemfile.lock composer.lock`

// maxLockFile is more than any lock file has in bytes.
const maxLockFile = 256 << 20

// deps is a fingerprint of what the work tree depends on; it is never empty.
func (f *Files) deps() string {
	found := map[string]bool{}
	for _, dir := range f.dirs() {
		for glob := range strings.FieldsSeq(lockFiles) {
			_ = f.match(found, dir+glob) // the globs are ours
		}
	}
	sum := sha256.New()
	for _, file := range slices.Sorted(maps.Keys(found)) {
		content, err := atomicfile.Read(f.Where(file), maxLockFile) // of what cannot be read: none
		if isManifest(file) && err == nil {
			content = dependencies(content)
		}
		fmt.Fprintf(sum, "%q %x\n", file, sha256.Sum256(content))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
