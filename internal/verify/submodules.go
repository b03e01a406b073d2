package verify

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/work"
)

// Of a submodule a tree holds no more than the name of a commit, and its tests are
// tests like any. So what each of them held is kept from before the first turn, and
// what of it changed since and is not work counts as a change of gate inputs. The judge has no
// copies to lay back there: what the originals say stays open.

// within is one submodule at a time: the tree that it holds, and what its git is told.
type within struct {
	Tree       string            `json:"tree"`
	Committed  string            `json:"committed"` // tree of its HEAD
	Converters map[string]string `json:"converters,omitempty"`
}

func (v *Verifier) submodulesFile() string { return filepath.Join(v.Dir, "submodules.json") }

// inspectSubmodules keeps what the submodules hold before the first turn.
func (v *Verifier) inspectSubmodules(ctx context.Context) error {
	tree, err := v.Repo.TreeOf(ctx, "HEAD")
	if err != nil {
		return err
	}
	now, err := v.withins(ctx, tree)
	if err != nil {
		return err
	}
	return writeState(v.submodulesFile(), now)
}

// withins looks into the submodules of a tree.
func (v *Verifier) withins(ctx context.Context, tree string) (map[string]within, error) {
	modules, err := v.Repo.Select(ctx, tree, v.files.submodules)
	if err != nil {
		return nil, err
	}
	subs, err := v.Repo.Submodules(ctx, modules)
	if err != nil {
		return nil, err
	}
	all := map[string]within{}
	for path, sub := range subs {
		if known := v.subs[path]; known != nil && known.GitDir() == sub.GitDir() {
			sub = known // it knows which index it kept
		}
		v.subs[path] = sub
		var w within
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

// changedSubmodules is what the submodules held before the first turn, and what they hold
// now; nothing where there was none.
func (v *Verifier) changedSubmodules(ctx context.Context, tree string) (was, now map[string]within, err error) {
	if _, err = readState(v.submodulesFile(), &was); err == nil && len(was) > 0 {
		now, err = v.withins(ctx, tree)
	}
	return was, now, err
}

// uncommittedWithin are the submodules in which the loop's work is not committed: no
// commit of the loop's can hold it.
func (v *Verifier) uncommittedWithin(ctx context.Context, tree string) ([]string, error) {
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

// changedWithin are the gate inputs in submodules that are not what they were, old tests
// among them: by path, or the submodule itself where that cannot be told.
func (v *Verifier) changedWithin(ctx context.Context, r Request) ([]string, error) {
	was, now, err := v.changedSubmodules(ctx, r.Tree)
	if err != nil || len(was) == 0 {
		return nil, err
	}
	rules, err := v.workRules(ctx, r)
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
		diff, err := v.subs[path].Diff(ctx, before.Tree, after.Tree)
		if err != nil {
			return nil, err
		}
		for _, ch := range diff {
			file, added := path+"/"+ch.Path, ch.Status == 'A'
			input := !added || matchesAny(shapers, ch.Path)
			if !v.isTest(file) {
				input = !rules.Is(work.Change{Path: file, Added: added, Executable: ch.To.IsExecutable()})
			}
			if input {
				changed = append(changed, file)
			}
		}
	}
	return changed, nil
}

// inSubmodule are those of the paths that lie in a submodule, or are one.
func (v *Verifier) inSubmodule(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(file string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(v.subs)), func(sub string) bool {
			return file == sub || strings.HasPrefix(file, sub+"/")
		})
	})
}
