//go:build unix

package protected_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/protected"
)

const gitConfig = "[core]\n\tbare = false\n\tfilemode = true\n[user]\n\tname = Ann\n[include]\n\tpath = ../shared.gitconfig\n"

// What git is told decides what it sees of the work tree: that is the user's, and
// the rest is anyone's.
func TestGitSettingsAreFrozen(t *testing.T) {
	t.Parallel()
	add := func(s string) files { return files{".git/config": gitConfig + s} }
	cases := []struct {
		name  string
		write files
		want  []string // changed
		after string   // .git/config, when that is put back
	}{
		{"a branch and a remote", add("[branch \"x\"]\n\tmerge = refs/heads/x\n[remote \"o\"]\n\turl = y\n"), nil, ""},
		{"a name for commits", files{".git/config": strings.Replace(gitConfig, "Ann", "Bob", 1)}, nil, ""},
		{"an editor", files{".git/config": strings.Replace(gitConfig, "bare", "editor = vi\n\tbare", 1)}, nil, ""},
		{"a filter", add("[branch \"x\"]\n\tmerge = y\n[filter \"same\"]\n\tclean = cat old\n"), []string{".git/config"}, gitConfig + "[branch \"x\"]\n\tmerge = y\n"},
		{"a filter in the old way", add("[Filter.same]\n\tclean = cat old\n"), []string{".git/config"}, gitConfig},
		{"a filter in one line, behind a name", add("[user] name = x\\\n#[a]\n[filter \"a\\\"]\"] clean=cat"), []string{".git/config"}, gitConfig + "[user] name = x\\\n#[a]\n"},
		{"hooks elsewhere", files{".git/config": strings.Replace(gitConfig, "bare", "hooksPath = /dev/null\n\tbare", 1)}, []string{".git/config"}, gitConfig},
		{"an inclusion", add("[includeIf \"onbranch:x\"]\n\tpath = y\n"), []string{".git/config"}, gitConfig},
		{"a setting lost", files{".git/config": strings.Replace(gitConfig, "\tfilemode = true\n", "", 1)}, []string{".git/config"}, gitConfig},
		{"what git cannot read", add("[filter\n"), []string{".git/config"}, gitConfig},
		{"what is included", files{"shared.gitconfig": "[filter \"a\"]\n\tclean = x\n"}, []string{"shared.gitconfig"}, ""},
		{"attributes", files{".git/info/attributes": "a filter=x\n"}, []string{".git/info/attributes"}, ""},
		{"grafts", files{".git/info/grafts": "x\n"}, []string{".git/info/grafts"}, ""},
		{"a setting of the worktree", files{".git/config.worktree": "[core]\n\tbare = true\n"}, []string{".git/config.worktree"}, ""},
		{"a new hook", files{".git/hooks/pre-commit": "exit 1\n"}, []string{".git/hooks/pre-commit"}, ""},
		{"what a hook runs", files{".git/hooks/old": "exit 0\n"}, []string{".git/hooks/old"}, ""},
		{"a sample and what is ignored", files{".git/hooks/x.sample": "x\n", ".git/info/exclude": "x\n"}, nil, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			put(t, root, files{".git/config": gitConfig, ".git/hooks/old": "exit 1\n", "shared.gitconfig": "x\n"})
			before := tree(t, root)
			git := filepath.Join(root, ".git")
			f, err := protected.Freeze(context.Background(), protected.Options{Root: root, Store: t.TempDir(), GitDir: git, CommonDir: git})
			if err != nil {
				t.Fatal(err)
			}
			put(t, root, c.write)
			changed, err := f.Changes(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, changed); diff != "" {
				t.Fatal(diff)
			}
			if err := f.Restore(context.Background(), changed); err != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				return
			}
			if c.after != "" {
				before[".git/config"] = c.after
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A linked worktree has its git directory elsewhere, and shares most of it.
func TestGitSettingsOfALinkedWorktreeAreFrozen(t *testing.T) {
	t.Parallel()
	root, common := t.TempDir(), t.TempDir()
	own := filepath.Join(common, "worktrees", "a")
	put(t, root, files{".git": "gitdir: " + own + "\n"})
	put(t, common, files{"config": gitConfig, "worktrees/a/HEAD": "x\n"})
	f, err := protected.Freeze(context.Background(), protected.Options{Root: root, Store: t.TempDir(), GitDir: own, CommonDir: common})
	if err != nil {
		t.Fatal(err)
	}
	put(t, common, files{"config": gitConfig + "[gpg]\n\tprogram = x\n", "worktrees/a/config.worktree": "[core]\n\teol = crlf\n"})
	changed, err := f.Changes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".git/config", ".git/config.worktree"}, changed); diff != "" {
		t.Error(diff)
	}
	if err := f.Restore(context.Background(), changed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"config": gitConfig, "worktrees/a/HEAD": "x\n"}, tree(t, common)); diff != "" {
		t.Error(diff)
	}
}

func put(t *testing.T, dir string, all files) {
	t.Helper()
	for name, content := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		b, err := os.ReadFile(path)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
