package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/proc"
)

// What git ignores is in no tree: a conftest.py or a GNUmakefile that the ignore rules
// name does its work in the work tree alone. A clean checkout has it not, so it proves
// nothing. The names, sizes and times of what there was before the first turn are kept, so
// that what came or changed since can be named.

// RecordBeside keeps the state of what git ignores, and what submodules, dependency folders
// and the home hold, as it is before the first turn. What was kept before stays.
func (v *Verifier) RecordBeside(ctx context.Context) error {
	if _, err := os.Lstat(v.besideFile()); err == nil {
		return nil
	}
	for _, keep := range []func(context.Context) error{v.inspectSubmodules, v.keepDependencies, v.keepHome, v.KeepIgnored} {
		if err := keep(ctx); err != nil {
			return fmt.Errorf("record the state before the first turn: %w", err)
		}
	}
	return nil
}

// KeepIgnored records the state of what git ignores, over what was recorded before. It is
// called once more when the gates have run before the first turn: what they made (caches,
// reports) is not a change of the agent's.
func (v *Verifier) KeepIgnored(ctx context.Context) error {
	ignored, err := v.ignoredFiles(ctx)
	if err != nil {
		return err
	}
	return writeState(v.besideFile(), ignored)
}

// ForgetBeside has RecordBeside look anew. Only a loop of which no turn has begun may.
func (v *Verifier) ForgetBeside() error {
	for _, file := range []string{v.besideFile(), v.dependencyFile(), v.byFolderFile(), v.shownFile()} {
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

// stamp is what tells two states of a file that git ignores apart.
type stamp struct {
	Size int64 `json:"size"`
	Time int64 `json:"time"` // of its last change, in nanoseconds
}

// maxBeside bounds the files of one ignored folder that are looked at.
const maxBeside = 2000

// ignoredFiles are the files that git ignores, with their state; of a folder its own
// name too.
func (v *Verifier) ignoredFiles(ctx context.Context) (map[string]stamp, error) {
	names, err := v.Repo.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	files := map[string]stamp{}
	for _, name := range names {
		left := maxBeside
		// What cannot be read is left out: it is named only, and decides nothing.
		_ = filepath.WalkDir(filepath.Join(v.Repo.Root(), filepath.FromSlash(name)), func(file string, e fs.DirEntry, err error) error {
			if left--; err != nil || left < 0 {
				return fs.SkipAll
			}
			if e.IsDir() {
				files[v.ignoredName(file)+"/"] = stamp{}
				return nil
			}
			if info, err := e.Info(); err == nil {
				files[v.ignoredName(file)] = stamp{info.Size(), info.ModTime().UnixNano()}
			}
			return nil
		})
	}
	return files, nil
}

// ignoredName is the name of a file from the repository's top, with slashes.
func (v *Verifier) ignoredName(file string) string {
	rel, err := filepath.Rel(v.Repo.Root(), file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// ChangedBeside returns what git ignores and came or changed since the first turn, the
// oldest change first; nothing where the state of then was not kept. Of a folder that
// came, what lies in it is left out. What changed around the work tree comes first.
func (v *Verifier) ChangedBeside(ctx context.Context) ([]string, error) {
	var was map[string]stamp
	if found, err := readState(v.besideFile(), &was); err != nil || !found {
		return nil, err
	}
	now, err := v.ignoredFiles(ctx)
	if err != nil {
		return nil, err
	}
	came := func(name string) bool { _, known := was[name]; return !known }
	inNew := func(folder string) bool { _, stands := now[folder]; return stands && came(folder) }
	var names []string
	for name, state := range now {
		if above := path.Dir(strings.TrimSuffix(name, "/")) + "/"; (came(name) || was[name] != state) && !inNew(above) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(now[a].Time, now[b].Time), cmp.Compare(a, b)) })
	if v.recordHome(ctx) == nil {
		names = slices.Concat(v.homeNow.changed, names)
	}
	return names, nil
}

// forgetCompiled removes what Python keeps of sources beside them: it believes such a
// file by the time and size that stand in it, and not by the source.
func (v *Verifier) forgetCompiled(ctx context.Context, tree string) error {
	if sources, err := v.Repo.Select(ctx, tree, v.files.python); err != nil || len(sources) == 0 {
		return err
	}
	ignored, err := v.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	for _, name := range ignored {
		if path.Base(name) != "__pycache__" {
			continue
		}
		if err := proc.RemoveAll(filepath.Join(v.Repo.Root(), filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("forget what was compiled: %w", err)
		}
	}
	return nil
}
