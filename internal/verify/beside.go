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
)

// What git ignores is in no tree: a conftest.py or a GNUmakefile that the ignore rules
// name does its work in the work tree alone. A clean checkout has it not, so it proves
// nothing. The names of what there was before the first turn are kept, so that what came
// since can be named.

// LookBeside keeps the names of what git ignores, and what submodules, dependency folders
// and the home hold, as it is before the first turn. What was kept before stays.
func (v *Verifier) LookBeside(ctx context.Context) error {
	if _, err := os.Lstat(v.besideFile()); err == nil {
		return nil
	}
	ignored, err := v.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	b, err := json.Marshal(ignored)
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
	for _, file := range []string{v.besideFile(), v.dependencyFile(), v.byFolderFile()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what git ignored: %w", err)
		}
	}
	if err := errors.Join(v.Ended(), os.RemoveAll(filepath.Join(v.Dir, "home"))); err != nil {
		return fmt.Errorf("forget the settings in the home: %w", err)
	}
	return nil
}

func (v *Verifier) besideFile() string { return filepath.Join(v.Dir, "ignored.json") }

// cameBeside returns what git ignores and was not there before the first turn; nothing
// where the names of then were not kept.
func (v *Verifier) cameBeside(ctx context.Context) ([]string, error) {
	b, err := atomicfile.Read(v.besideFile(), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var was []string
	if err == nil {
		err = json.Unmarshal(b, &was)
	}
	if err != nil {
		return nil, fmt.Errorf("read what git ignored: %w", err)
	}
	now, err := v.Repo.Ignored(ctx)
	return slices.DeleteFunc(now, func(name string) bool { return slices.Contains(was, name) }), err
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
