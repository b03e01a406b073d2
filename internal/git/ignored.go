package git

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Unstaged returns the files that git neither tracks nor ignores, and those that differ from the
// user's index, including deleted ones. It creates no tree, so it is cheaper than a snapshot. It
// also returns the state of that index, from which a caller can see whether git tracks the same
// files as before.
func (r *Repo) Unstaged(ctx context.Context) (untracked, modified []string, index string, err error) {
	index, err = indexStamp(filepath.Join(r.gitDir, "index"))
	if err != nil {
		return nil, nil, "", fmt.Errorf("read the user's index: %w", err)
	}
	out, err := r.run(ctx, call{args: []string{"ls-files", "-t", "--others", "--modified", "--exclude-standard", "-z"}})
	if err != nil {
		return nil, nil, "", fmt.Errorf("list changed files: %w", err)
	}
	for _, line := range splitNul(out) {
		switch tag, file, _ := strings.Cut(line, " "); {
		case tag != "?":
			modified = append(modified, file)
		case !r.isByproduct(file, true):
			untracked = append(untracked, file)
		}
	}
	return untracked, slices.Compact(modified), index, nil
}

// Ignored returns the ignored files and folders of the work tree. Folders end with a /, and their
// content is not listed. Folders of installed packages count as ignored.
func (r *Repo) Ignored(ctx context.Context) ([]string, error) {
	list := []string{"ls-files", "--others", "--exclude-standard", "--directory", "-z"}
	out, err := r.run(ctx, call{args: append(list, "--ignored")})
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	found := splitNul(out)
	unlisted := slices.DeleteFunc(r.installations(), func(dir string) bool { return slices.Contains(found, dir+"/") })
	if len(unlisted) == 0 { // usually, git need not be asked again
		return found, nil
	}
	others, err := r.run(ctx, call{args: list})
	if err != nil {
		return nil, fmt.Errorf("list untracked folders: %w", err)
	}
	for _, name := range splitNul(others) {
		if dir, isFolder := strings.CutSuffix(name, "/"); isFolder && r.isInstallation(dir) {
			found = append(found, name)
		}
	}
	return found, nil
}

// Ignores reports whether ignore rules match a path, relative to the root with slashes.
// The path need not exist.
func (r *Repo) Ignores(ctx context.Context, path string) (bool, error) {
	found, err := r.ignored(ctx, []string{path})
	if err != nil {
		return false, fmt.Errorf("check ignore rules of %s: %w", path, err)
	}
	return len(found) > 0, nil
}

// ignored returns the paths that ignore rules match.
func (r *Repo) ignored(ctx context.Context, paths []string, flags ...string) ([]string, error) {
	dotted := make([]string, len(paths))
	for i, p := range paths {
		dotted[i] = "./" + p // otherwise a leading colon would be a pathspec
	}
	args := append(append([]string{"check-ignore"}, flags...), "-z", "--stdin")
	out, err := r.run(ctx, call{args: args, stdin: joinNul(dotted)})
	if isExitOne(err) {
		return nil, nil
	}
	found := splitNul(out)
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], "./")
	}
	return found, err
}

// notIgnored caches paths that no ignore rule matched, with fingerprints of the files with the
// rules.
type notIgnored struct {
	paths map[string]bool
	rules map[string]string
}

// ignoresAny reports whether ignore rules match one of the paths, whether it is in the index or
// not. It only asks git about new paths, or after a rule changed.
func (r *Repo) ignoresAny(ctx context.Context, paths []string) (bool, error) {
	rules, err := r.ignoreRules(ctx, paths)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	known := r.unignored
	r.mu.Unlock()
	same := known.paths != nil
	for file, print := range rules {
		same = same && known.rules[file] == print
	}
	for _, path := range paths {
		same = same && known.paths[path]
	}
	if same {
		return false, nil
	}
	found, err := r.ignored(ctx, paths, "--no-index")
	if err != nil || len(found) > 0 {
		return len(found) > 0, err
	}
	known = notIgnored{map[string]bool{}, rules}
	for _, path := range paths {
		known.paths[path] = true
	}
	r.mu.Lock()
	r.unignored = known
	r.mu.Unlock()
	return false, nil
}

// keepUnignored caches paths that a status found untracked, so no rule matches them, unless rules
// have changed since the status began.
func (r *Repo) keepUnignored(ctx context.Context, paths []string, began time.Time) error {
	if len(paths) == 0 {
		return nil
	}
	rules, err := r.ignoreRules(ctx, paths)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for file, print := range rules {
		info, err := os.Stat(file)
		if before, known := r.unignored.rules[file]; known && before != print || err == nil && !info.ModTime().Before(began) {
			return nil
		}
	}
	known := notIgnored{maps.Clone(r.unignored.paths), maps.Clone(r.unignored.rules)}
	if known.paths == nil {
		known = notIgnored{map[string]bool{}, map[string]string{}}
	}
	maps.Copy(known.rules, rules)
	for _, path := range paths {
		known.paths[path] = true
	}
	r.unignored = known
	return nil
}

// ignoreRules returns fingerprints of the files that may have rules about the paths.
func (r *Repo) ignoreRules(ctx context.Context, paths []string) (map[string]string, error) {
	users, set, err := r.setting(ctx, "core.excludesfile")
	if err != nil {
		return nil, err
	}
	if set {
		users = includedFile(users, r.root)
	} else if dir, err := os.UserConfigDir(); err == nil {
		users = filepath.Join(dir, "git", "ignore")
	}
	rules := map[string]string{}
	add := func(file string) {
		if rules[file] == "" {
			rules[file] = atomicfile.Fingerprint(file, maxConfigBytes)
		}
	}
	add(users)
	add(filepath.Join(r.commonDir, "info", "exclude"))
	for _, name := range paths {
		for dir := name; dir != "."; {
			dir = path.Dir(dir)
			add(r.path(path.Join(dir, ".gitignore")))
		}
	}
	return rules, nil
}
