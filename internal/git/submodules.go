package git

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// IsSubmodule reports whether the entry is a commit of another repository.
func (e Entry) IsSubmodule() bool { return e.Mode == modeSubmodule }

// Submodules opens the checked-out submodules among the entries of a tree, by path, without nested
// ones.
func (r *Repo) Submodules(ctx context.Context, entries map[string]Entry) (map[string]*Repo, error) {
	subs := map[string]*Repo{}
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		if !entries[path].IsSubmodule() {
			continue
		}
		sub, err := r.submodule(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("open submodule %s: %w", path, err)
		}
		if sub != nil {
			subs[path] = sub
		}
	}
	return subs, nil
}

// submodule opens a submodule. It returns nil if it is not checked out or git rejects it.
func (r *Repo) submodule(ctx context.Context, path string) (*Repo, error) {
	if info, err := os.Stat(r.path(path)); isAbsent(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	sub, err := Reopen(ctx, r.path(path))
	switch {
	case err != nil && failure.CodeOf(err) == failure.Usage:
		return nil, nil
	case err != nil:
		return nil, err
	case samePath(sub.root, r.root): // it is part of this repository
		return nil, nil
	}
	if has, err := sub.HasCommit(ctx); err != nil || !has {
		return nil, err
	}
	sub, err = sub.Inert(ctx) // its settings may be the agent's
	if failure.CodeOf(err) == failure.Usage {
		return nil, nil
	}
	return sub, err
}

// addInnerChanges adds the uncommitted changes inside of submodules to a report of some paths, or all.
// Git would run the programs that each submodule's settings name, and an agent can create such a
// repository: it would leave its sandbox by them. So Pawl looks inside itself, with filters off, and
// only in submodules that .gitmodules declares.
func (r *Repo) addInnerChanges(ctx context.Context, report *statusReport, paths []string) error {
	if r.inert != nil {
		return nil
	}
	names, err := r.declaredSubmodules(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if len(paths) > 0 && !slices.Contains(paths, name) {
			continue
		}
		i := slices.IndexFunc(report.files, func(f statusFile) bool { return strings.TrimSuffix(f.path, "/") == name })
		if i >= 0 && (report.files[i].staged == '?' || !strings.HasPrefix(report.files[i].sub, "S")) {
			continue // it is no submodule
		}
		changed, err := r.hasChangesInside(ctx, name)
		switch {
		case err != nil:
			return err
		case !changed:
		case i < 0:
			report.files = append(report.files, statusFile{staged: '.', unstaged: 'M', sub: "S.M.", path: name})
		default:
			report.files[i].sub = report.files[i].sub[:2] + "M."
		}
	}
	return nil
}

// declaredSubmodules returns the checked-out submodules that .gitmodules names.
func (r *Repo) declaredSubmodules(ctx context.Context) ([]string, error) {
	if info, err := workfile.Lstat(r.root, modulesFile); err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // git reads no submodule from such a file either
	}
	out, err := r.run(ctx, call{args: []string{"config", "-z", "-f", modulesFile, "--get-regexp", `^submodule\..*\.path$`}})
	if err != nil {
		return nil, ctx.Err() // git can read none from a file with errors
	}
	var names []string
	for _, setting := range splitNul(out) {
		_, name, _ := strings.Cut(setting, "\n")
		if !fs.ValidPath(name) || workfile.Check(r.root, name) != nil {
			continue
		}
		if _, err := workfile.Lstat(r.root, name+"/.git"); err == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// modulesFile declares the submodules of a work tree.
const modulesFile = ".gitmodules"

// hasChangesInside reports whether a submodule has uncommitted changes.
func (r *Repo) hasChangesInside(ctx context.Context, name string) (bool, error) {
	sub, err := r.submodule(ctx, name)
	if err != nil || sub == nil {
		return false, err
	}
	s, err := sub.Status(ctx)
	return len(s.Dirty)+len(s.Untracked) > 0, err
}
