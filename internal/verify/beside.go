package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/frozen"
)

// What git ignores is in no tree, and yet it lies beside the tests when they run: a
// conftest.py or a GNUmakefile that the ignore rules name would do its work unseen.
// So what there is of such names is kept from before the first turn, and what came
// or changed since counts as a change of old tests, like a file of that name that
// git shows: the gates run once more where it is not.

// shapersIgnored are names of files that shape what tests do, of which only their being
// there tells: where git ignores a file, most others are products of a run.
const shapersIgnored = shapers + `
	**/sitecustomize.py **/usercustomize.py **/*.pth **/setupTests.* **/setupJest.* **/jest.setup.*
	**/GNUmakefile **/makefile **/.npmrc **/vitest.setup.* **/*.{dist,egg}-info/entry_points.txt
	{unittest,pytest,_pytest,doctest,difflib,traceback,fnmatch,pprint,argparse,coverage,nose2,behave,mypy,ruff,flake8,pylint}{.py,/__init__.py,/__main__.py}`

// settings are the files by which runners and tools are told what to do, where git
// ignores them.
const settings = `
	jest.config.{js,ts,mjs,cjs,json} vitest.{config,workspace}.{js,ts,mjs,cjs,mts,cts} playwright.config.{js,ts,mjs,cjs}
	.mocharc* ava.config.{js,mjs,cjs} karma.conf.{js,ts} cypress.config.{js,ts,mjs,cjs} bunfig.toml .taprc
	pytest.ini .pytest.ini tox.ini phpunit.xml phpunit.xml.dist .rspec package.json pyproject.toml setup.cfg
	Makefile {,.}{j,J}ustfile Taskfile.{yml,yaml} Rakefile noxfile.py .eslintrc* .eslintignore eslint.config.* biome.json* .prettierrc* .prettierignore
	{,.}ruff.toml {,.}mypy.ini .flake8 {,.}pylintrc .stylelintrc* stylelint.config.* {,.}clippy.toml pyrightconfig.json .coveragerc
	.pre-commit-config.yaml .golangci.* .rubocop.yml phpstan.neon* .nycrc* .c8rc*`

// LookBeside keeps what git ignores and may shape what tests do, and what submodules
// hold, as it is before the first turn. What was kept before stays.
func (v *Verifier) LookBeside(ctx context.Context) error {
	if _, err := os.Lstat(v.besideFile()); err == nil {
		return nil
	}
	now, err := v.beside(ctx)
	if err != nil {
		return err
	}
	b, err := json.Marshal(now)
	if err == nil {
		err = os.MkdirAll(v.Dir, 0o700)
	}
	if err == nil {
		err = v.lookWithin(ctx)
	}
	if err == nil {
		err = v.keepDependencies(ctx)
	}
	if err == nil {
		err = v.keepHome(ctx)
	}
	if err == nil {
		err = atomicfile.Write(v.besideFile(), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what git ignores: %w", err)
	}
	return nil
}

// ForgetBeside has LookBeside look anew. Only a loop of which no turn has begun may.
func (v *Verifier) ForgetBeside() error {
	for _, file := range []string{v.besideFile(), v.dependencyFile()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what git ignored: %w", err)
		}
	}
	if err := errors.Join(v.Ended(), os.RemoveAll(filepath.Join(v.Dir, "home"))); err != nil {
		return fmt.Errorf("forget the settings in the home: %w", err)
	}
	return nil
}

func (v *Verifier) besideFile() string { return filepath.Join(v.Dir, "beside.json") }

// cameBeside are those files that were not there then, or were others; none where
// nothing was kept.
func (v *Verifier) cameBeside(ctx context.Context) ([]string, error) {
	b, err := atomicfile.Read(v.besideFile(), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var was map[string]string
	if err == nil {
		err = json.Unmarshal(b, &was)
	}
	if err != nil {
		return nil, fmt.Errorf("read what git ignored: %w", err)
	}
	now, err := v.beside(ctx)
	if err != nil {
		return nil, err
	}
	var came []string
	for file, state := range now {
		if was[file] != state {
			came = append(came, file)
		}
	}
	slices.Sort(came)
	return came, nil
}

// beside are the files, each with a fingerprint of its content.
func (v *Verifier) beside(ctx context.Context) (map[string]string, error) {
	ignored, err := v.Repo.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range ignored {
		file := strings.TrimSuffix(name, "/")
		// By its own name: a folder of tests may hold anything that is ignored.
		if base := path.Base(file); matchesAny(shapersIgnored, file) || v.isPackage(file) || matchesAny(settings, base) || v.isTest(base) {
			found[file] = v.fingerprint(file)
		}
	}
	return found, nil
}

// isPackage: an ignored folder that Python takes for one of the modules that shape
// tests. A coverage folder without code in it is what a gate has written there.
func (v *Verifier) isPackage(dir string) bool {
	if !matchesAny(shapersIgnored, dir+"/__init__.py") {
		return false
	}
	code, err := filepath.Glob(filepath.Join(v.Repo.Root(), filepath.FromSlash(dir), "__init__.*"))
	return err != nil || len(code) > 0
}

// fingerprint tells one state of a file from another; of what is large or no file,
// by what the folder says of it.
func (v *Verifier) fingerprint(file string) string {
	return atomicfile.Fingerprint(filepath.Join(v.Repo.Root(), filepath.FromSlash(file)), frozen.MaxSize)
}

// forgetCompiled removes what Python keeps of sources beside them: it believes such a
// file by the time and size that stand in it, and not by the source.
func (v *Verifier) forgetCompiled(ctx context.Context) error {
	ignored, err := v.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	for _, name := range ignored {
		if path.Base(name) != "__pycache__" {
			continue
		}
		dir := filepath.Join(v.Repo.Root(), filepath.FromSlash(name))
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it was removed meanwhile, or is no folder: nothing is read from it
		}
		for _, e := range entries {
			module, _, _ := strings.Cut(e.Name(), ".")
			if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), module+".py")); err != nil || path.Ext(e.Name()) != ".pyc" {
				continue
			}
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("forget what was compiled: %w", err)
			}
		}
	}
	return nil
}
