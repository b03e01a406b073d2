package frozen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What git is told decides what a tree shows of the work tree: a filter can lay
// the old test before git while the new one runs. So the settings that shape what
// git sees, and the hooks that judge a commit, are frozen too. They are named as
// in a plain repository, ".git/config", wherever the git directory is. All other
// settings (branches, remotes, who the user is) are anyone's.

// gitPrefix begins the names of frozen files that lie in the git directory.
const gitPrefix = ".git/"

// gitFiles judge, whether they are there at the start or come to be; the hooks
// are those that Pawl runs.
const gitFiles = "config config.worktree info/attributes info/grafts hooks/pre-commit hooks/commit-msg"

// InGitDir reports whether a frozen file lies in the git directory: it is to be
// put back before git next looks at the work tree.
func InGitDir(path string) bool { return strings.HasPrefix(path, gitPrefix) }

// Where is the absolute path of a file that is named relative to the root.
func (f *Files) Where(path string) string {
	name, inGit := strings.CutPrefix(path, gitPrefix)
	switch {
	case !inGit || f.o.CommonDir == "":
		return filepath.Join(f.o.Root, filepath.FromSlash(path))
	case name == "config.worktree": // the others are shared by all worktrees
		return filepath.Join(f.o.GitDir, name)
	}
	return filepath.Join(f.o.CommonDir, filepath.FromSlash(name))
}

// findInGit takes what judges in the git directory, also what other hooks may run.
func (f *Files) findInGit() error {
	if f.o.CommonDir == "" {
		return nil
	}
	names := strings.Fields(gitFiles)
	hooks, err := os.ReadDir(filepath.Join(f.o.CommonDir, "hooks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, hook := range hooks {
		if info, err := hook.Info(); err == nil && !hook.IsDir() && info.Size() <= MaxSize && !strings.HasSuffix(hook.Name(), ".sample") {
			names = append(names, "hooks/"+hook.Name())
		}
	}
	for _, name := range names {
		file, err := f.read(gitPrefix + name)
		if err != nil {
			return err
		}
		f.files[gitPrefix+name] = file
	}
	return f.takeIncluded(f.files[gitPrefix+"config"].Content)
}

// takeIncluded takes the files in the work tree that a configuration includes.
func (f *Files) takeIncluded(config []byte) error {
	settings, _, _ := gitSettings(string(config))
	for _, s := range settings {
		if section, _, _ := strings.Cut(s.key, "."); section != "include" && section != "includeif" || filepath.IsAbs(s.value) {
			continue
		}
		rel, err := filepath.Rel(resolved(f.o.Root), filepath.Join(resolved(f.o.CommonDir), filepath.FromSlash(s.value)))
		if err == nil && filepath.IsLocal(rel) {
			if err := f.take(filepath.ToSlash(rel), ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// gitJudges are the settings that shape what git sees of a work tree, or name a
// program that it runs there; a section with a dot at its end judges as a whole.
const gitJudges = `
	filter. include. includeif. diff. gpg. extensions. commit.gpgsign status.showuntrackedfiles
	core.attributesfile core.excludesfile core.fsmonitor core.hookspath core.worktree core.bare core.autocrlf core.eol
	core.filemode core.symlinks core.ignorecase core.precomposeunicode core.checkstat core.trustctime core.untrackedcache
	core.sparsecheckout core.sparsecheckoutcone core.alternaterefscommand core.sshcommand core.gitproxy`

func gitSettingJudges(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	judges := strings.Fields(gitJudges)
	return slices.Contains(judges, section+".") || slices.Contains(judges, key)
}

// gitPieces divides a configuration of git into its sections. One that git would
// not read is one piece, and cannot be mended by pieces.
func gitPieces(data []byte) []piece {
	settings, heads, ok := gitSettings(string(data))
	if !ok {
		return []piece{{text: string(data)}}
	}
	heads = append(heads, len(data))
	pieces := []piece{{text: string(data[:heads[0]])}}
	for i, end := range heads[1:] {
		pieces = append(pieces, piece{
			text:   string(data[heads[i]:end]),
			judges: slices.ContainsFunc(settings, func(s gitSetting) bool { return s.section == i && gitSettingJudges(s.key) }),
		})
	}
	return pieces
}

// sameGitSettings compares the settings that judge, in their order: of some the
// last one counts, of others all.
func sameGitSettings(was, now []byte) bool {
	before, _, okBefore := gitSettings(string(was))
	after, _, okAfter := gitSettings(string(now))
	if !okBefore || !okAfter {
		return string(was) == string(now)
	}
	harmless := func(s gitSetting) bool { return !gitSettingJudges(s.key) }
	return slices.EqualFunc(slices.DeleteFunc(before, harmless), slices.DeleteFunc(after, harmless), func(a, b gitSetting) bool {
		return a.key == b.key && a.value == b.value
	})
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
