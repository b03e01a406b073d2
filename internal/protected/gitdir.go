package protected

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
)

// Git's configuration affects which content git sees in the work tree: a filter can show
// git the old test while the new one runs. So these settings, and the hooks that check a
// commit, are protected too. Their paths begin with .git/ as in a plain repository, wherever
// the git directory is. Other settings (branches, remotes, user) are not protected.

// gitPrefix begins the names of protected files that are in the git directory.
const gitPrefix = ".git/"

// protectedGitFiles are protected even if they do not exist at the start. The hooks are those that
// Pawl runs.
const protectedGitFiles = "config config.worktree info/attributes info/grafts hooks/pre-commit hooks/prepare-commit-msg hooks/commit-msg"

// InGitDir reports whether a protected file is in the git directory. Such a file must be
// restored before git reads the work tree again.
func InGitDir(path string) bool { return strings.HasPrefix(path, gitPrefix) }

// AbsPath returns the absolute path of a protected file.
func (f *Files) AbsPath(path string) string {
	root, name := f.place(path)
	return filepath.Join(root, filepath.FromSlash(name))
}

// place returns the folder that contains a file, and the file's path in it. An agent may write in
// that folder, but cannot replace it.
func (f *Files) place(path string) (root, name string) {
	name, inGit := strings.CutPrefix(path, gitPrefix)
	switch {
	case !inGit || f.options.CommonDir == "":
		return f.options.Root, path
	case name == "config.worktree": // the others are shared by all worktrees
		return f.options.GitDir, name
	}
	if hook, ok := strings.CutPrefix(name, hooksFolder+"/"); ok {
		if link := f.copies[gitPrefix+hooksFolder].Link; link != "" { // the user's
			if !filepath.IsAbs(link) {
				link = filepath.Join(f.options.CommonDir, link)
			}
			return link, hook
		}
	}
	return f.options.CommonDir, name
}

// hooksFolder is a folder of the git directory. If it is a link, the link itself is protected, and the
// files where it leads to.
const hooksFolder = "hooks"

// scanGitDir adds the files of the git directory, including all hooks, since hooks may run
// each other, and the files in the work tree that git's configuration includes.
func (f *Files) scanGitDir(ctx context.Context) error {
	if f.options.CommonDir == "" {
		return nil
	}
	if hooks, err := f.readCurrent(gitPrefix + hooksFolder); err == nil && hooks.Link != "" {
		f.copies[gitPrefix+hooksFolder] = hooks
	}
	names := strings.Fields(protectedGitFiles)
	hooks, err := os.ReadDir(filepath.Join(f.options.CommonDir, hooksFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, hook := range hooks {
		if info, err := hook.Info(); err == nil && !hook.IsDir() && info.Size() <= MaxFileBytes && !strings.HasSuffix(hook.Name(), ".sample") {
			names = append(names, hooksFolder+"/"+hook.Name())
		}
	}
	for _, name := range names {
		file, err := f.readCurrent(gitPrefix + name)
		if err != nil {
			return err
		}
		f.copies[gitPrefix+name] = file
	}
	settings, err := git.Settings(ctx, f.copies[gitPrefix+"config"].Content)
	if err != nil {
		return err
	}
	for _, s := range settings {
		if section, _, _ := strings.Cut(s.Key, "."); section != "include" && section != "includeif" || filepath.IsAbs(s.Value) {
			continue
		}
		rel, err := filepath.Rel(git.RealPath(f.options.Root), filepath.Join(git.RealPath(f.options.CommonDir), filepath.FromSlash(s.Value)))
		if err == nil && filepath.IsLocal(rel) {
			if err := f.addFile(filepath.ToSlash(rel)); err != nil {
				return err
			}
		}
	}
	return nil
}

func isGitConfig(file string) bool {
	return file == gitPrefix+"config" || file == gitPrefix+"config.worktree"
}

// treeSettings affect git's view of a work tree, or name a program that git runs there. A
// name that ends with a dot is a whole section.
const treeSettings = `
	filter. include. includeif. diff. gpg. extensions. commit.gpgsign status.showuntrackedfiles
	core.attributesfile core.excludesfile core.fsmonitor core.hookspath core.worktree core.bare core.autocrlf core.eol
	core.filemode core.symlinks core.ignorecase core.precomposeunicode core.checkstat core.trustctime core.untrackedcache
	core.sparsecheckout core.sparsecheckoutcone core.alternaterefscommand core.sshcommand core.gitproxy`

func isTreeSetting(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	names := strings.Fields(treeSettings)
	return slices.Contains(names, section+".") || slices.Contains(names, key)
}

// readTreeSettings returns the tree settings of a configuration in their order, which
// matters. ok is false if git cannot parse the configuration.
func readTreeSettings(ctx context.Context, config []byte) (settings []git.Setting, ok bool, err error) {
	settings, err = git.Settings(ctx, config)
	if ctx.Err() != nil {
		return nil, false, err
	}
	return slices.DeleteFunc(settings, func(s git.Setting) bool { return !isTreeSetting(s.Key) }), err == nil, nil
}

// hasSameTreeSettings reports whether a configuration of git's has the tree settings of the copy.
func (f *Files) hasSameTreeSettings(ctx context.Context, path string, now []byte) (bool, error) {
	before, readable, err := readTreeSettings(ctx, f.copies[path].Content)
	if err != nil || !readable {
		return false, err
	}
	after, readable, err := readTreeSettings(ctx, now)
	return err == nil && readable && slices.Equal(before, after), err
}

// restoreTreeSettings returns the current configuration with the saved tree settings, or the
// whole saved configuration if git cannot write these settings into the current one.
func restoreTreeSettings(ctx context.Context, was, now []byte) ([]byte, error) {
	before, readable, err := readTreeSettings(ctx, was)
	if err != nil || !readable {
		return was, err
	}
	restored, err := git.Replace(ctx, now, isTreeSetting, before)
	if err != nil {
		return was, ctx.Err()
	}
	if after, _, err := readTreeSettings(ctx, restored); err != nil || !slices.Equal(before, after) {
		return was, err
	}
	return restored, nil
}
