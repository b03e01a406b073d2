package verify

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/work"
)

// A tree contains only the commit ID of a submodule, but tests in it are tests like any. So their
// content is recorded before the first turn, and later changes that are not work count as changed
// gate inputs. There are no protected copies, so a run with the originals is impossible.

// submoduleState is a submodule's tree and git settings at one time.
type submoduleState struct {
	Tree       string            `json:"tree"`
	Committed  string            `json:"committed"` // tree of its HEAD
	Converters map[string]string `json:"converters,omitempty"`
}

func (v *Verifier) submodulesFile() string { return filepath.Join(v.Dir, "submodules.json") }

// recordSubmodules records the submodules before the first turn.
func (v *Verifier) recordSubmodules(ctx context.Context) error {
	tree, err := v.Repo.TreeOf(ctx, "HEAD")
	if err != nil {
		return err
	}
	now, err := v.submoduleStates(ctx, tree)
	if err != nil {
		return err
	}
	return checkout.WriteRecord(v.submodulesFile(), now)
}

// submoduleStates returns the current state of a tree's submodules.
func (v *Verifier) submoduleStates(ctx context.Context, tree string) (map[string]submoduleState, error) {
	modules, err := v.Repo.Select(ctx, tree, v.files.submodules)
	if err != nil {
		return nil, err
	}
	subs, err := v.Repo.Submodules(ctx, modules)
	if err != nil {
		return nil, err
	}
	all := map[string]submoduleState{}
	for path, sub := range subs {
		if known := v.subs[path]; known != nil && known.GitDir() == sub.GitDir() {
			sub = known // it knows which index it kept
		}
		v.subs[path] = sub
		var w submoduleState
		if w.Converters, err = sub.Converters(ctx); err == nil {
			w.Tree, _, err = sub.Snapshot(ctx)
		}
		if err == nil {
			w.Committed, err = sub.TreeOf(ctx, "HEAD")
		}
		if err != nil {
			return nil, fmt.Errorf("look into submodule %s: %w", path, err)
		}
		all[path] = w
	}
	return all, nil
}

// changedSubmodules returns the submodules before the first turn and now, or nil if there were
// none.
func (v *Verifier) changedSubmodules(ctx context.Context, tree string) (was, now map[string]submoduleState, err error) {
	if _, err = checkout.ReadRecord(v.submodulesFile(), &was); err == nil && len(was) > 0 {
		now, err = v.submoduleStates(ctx, tree)
	}
	return was, now, err
}

// uncommittedSubmodules returns the submodules with uncommitted work of the loop: no commit of the
// loop can contain it.
func (v *Verifier) uncommittedSubmodules(ctx context.Context, tree string) ([]string, error) {
	was, now, err := v.changedSubmodules(ctx, tree)
	var paths []string
	for path, w := range now {
		if w.Tree != w.Committed && w.Tree != was[path].Tree {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, err
}

// changedSubmoduleInputs returns the changed gate inputs in submodules, tests included: by path, or
// the submodule if unknown.
func (c *claim) changedSubmoduleInputs(ctx context.Context) ([]string, error) {
	was, now, err := c.changedSubmodules(ctx, c.Tree)
	if err != nil || len(was) == 0 {
		return nil, err
	}
	rules, err := c.rules()
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, path := range slices.Sorted(maps.Keys(was)) {
		before, after := was[path], now[path]
		if after.Tree == "" || !maps.Equal(before.Converters, after.Converters) {
			changed = append(changed, path)
			continue
		}
		diff, err := c.subs[path].Diff(ctx, before.Tree, after.Tree)
		if err != nil {
			return nil, err
		}
		for _, ch := range diff {
			file, added := path+"/"+ch.Path, ch.Status == 'A'
			input := !added || matchesAny(testShaperGlobs, ch.Path)
			if !c.isTest(file) {
				input = !rules.IsWork(work.Change{Path: file, Added: added, Executable: ch.To.IsExecutable()})
			}
			if input {
				changed = append(changed, file)
			}
		}
	}
	return changed, nil
}

// inSubmodule returns the paths that are in a submodule, or are one.
func (v *Verifier) inSubmodule(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(file string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(v.subs)), func(sub string) bool {
			return file == sub || strings.HasPrefix(file, sub+"/")
		})
	})
}
