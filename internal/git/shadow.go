package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// shadowBranch is the branch of a shadow repository.
const shadowBranch = "pawl"

// Shadow opens Pawl's repository for a folder without git, and creates it with one empty commit if
// needed. Its git directory is gitDir, its work tree is root, both absolute; nothing is written to
// root. It ignores files of tools (node_modules, .env …) and those in a .gitignore.
//
// It returns an error if root contains gitDir, because such a folder is a home rather than a
// project.
func Shadow(ctx context.Context, root, gitDir string) (*Repo, error) {
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	if err != nil {
		return nil, failure.New(failure.Usage, "", "open %s: %w", root, err)
	}
	root = RealPath(root)
	gitDir = filepath.Join(RealPath(filepath.Dir(gitDir)), filepath.Base(gitDir))
	if rel, err := filepath.Rel(root, gitDir); err == nil && filepath.IsLocal(rel) {
		return nil, failure.New(failure.Usage, "start it in a project folder", "%s holds Pawl's own folder too", root)
	}
	r := &Repo{root: root, gitDir: gitDir, commonDir: gitDir, lockWait: lockWait}
	made, err := r.shadowExists(ctx)
	if err == nil && !made {
		err = r.initShadow(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("create repository for %s: %w", root, err)
	}
	return r, nil
}

// shadowExists reports whether the repository is complete. Its branch is created last.
func (r *Repo) shadowExists(ctx context.Context) (bool, error) {
	made, err := r.HasCommit(ctx)
	if stderrContains(err, "not a git repository") {
		if _, missing := os.Lstat(filepath.Join(r.gitDir, headsRef+shadowBranch)); errors.Is(missing, fs.ErrNotExist) {
			return false, nil
		}
	}
	return made, err
}

// initShadow creates the repository, or completes it.
func (r *Repo) initShadow(ctx context.Context) error {
	// No template: it might bring hooks.
	if err := r.write(ctx, "init", "--quiet", "--initial-branch="+shadowBranch, "--template="); err != nil {
		return err
	}
	for _, set := range [][2]string{
		{"core.worktree", r.root},
		{"core.hooksPath", os.DevNull},
		{"core.autocrlf", "false"}, // a restore must not change any byte
		{"core.attributesFile", os.DevNull},
		{"user.name", "Pawl"},
		{"user.email", "pawl@localhost"},
		{"commit.gpgsign", "false"},
		{"gc.auto", "0"}, // its objects are deleted with the loop
	} {
		if err := r.write(ctx, "config", set[0], set[1]); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(r.gitDir, "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.gitDir, "info", "exclude"), []byte(r.shadowExcludes()), 0o600); err != nil {
		return err
	}
	if err := r.write(ctx, "read-tree", "--empty"); err != nil {
		return err
	}
	tree, _, err := r.Snapshot(ctx)
	if err != nil {
		return err
	}
	if err := r.write(ctx, "read-tree", tree); err != nil {
		return err
	}
	commit, err := r.ownCommit(ctx, ownCommit{tree: tree, message: "before the loop\n", at: time.Now()})
	if err != nil {
		return err
	}
	return r.write(ctx, "update-ref", headsRef+shadowBranch, commit)
}

// shadowExcludes returns patterns that a project's .gitignore would contain, for files that are
// created by tools, large, or secret.
func (r *Repo) shadowExcludes() string {
	patterns := []string{"node_modules/", ".venv/", "venv/", "__pycache__/", ".DS_Store", ".env", ".env.*"}
	made := []struct{ by, folder string }{
		{"Cargo.toml", "target/"},
		{"pom.xml", "target/"},
		{"build.gradle", "build/"},
		{"build.gradle.kts", "build/"},
		{"package.json", "dist/"},
		{"mix.exs", "_build/"},
		{"mix.exs", "deps/"},
		{"composer.json", "vendor/"},
	}
	for _, m := range made {
		if _, err := os.Stat(filepath.Join(r.root, m.by)); !errors.Is(err, fs.ErrNotExist) {
			patterns = append(patterns, m.folder)
		}
	}
	return strings.Join(patterns, "\n") + "\n"
}
