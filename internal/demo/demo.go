// Package demo runs a whole loop with git and a shell only: a small repository, a plan
// of three tasks, and a scripted agent that makes the mistakes that agents make.
//
// Only the agent is scripted. The command performs `pawl run` with a real repository,
// tests, gates and commits. The mistakes that Pawl caught are read from the loop's
// journal afterwards (catch.go).
//
// Files: shop.txtar is the repository, script.txtar the script of the agent.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/failure"
)

//go:embed shop.txtar
var shop []byte

//go:embed script.txtar
var script []byte

// What the demo's loop is asked.
const (
	Plan      = "plan.md"
	Gate      = "sh test.sh"
	Protected = "tests/total.sh" // the user's test: not the agent's to change
)

// Place is the folder of a demo.
type Place struct {
	Dir    string // temporary folder that holds everything, absolute
	Repo   string // the repository in it
	Script string // what the scripted agent plays
	Config string // an empty folder in place of the user's own configuration
}

// Make creates a demo in a new folder below dir; "" means the system's temporary folder. env is the
// environment of git.
func Make(ctx context.Context, dir string, env []string) (Place, error) {
	if err := checkTools(); err != nil {
		return Place{}, err
	}
	dir, err := os.MkdirTemp(dir, "pawl-demo-")
	if err != nil {
		return Place{}, fmt.Errorf("make a folder for the demo: %w", err)
	}
	p := Place{
		Dir: dir, Repo: filepath.Join(dir, "cart"), Script: filepath.Join(dir, "script.txtar"), Config: filepath.Join(dir, "config"),
	}
	if err := p.writeFiles(ctx, env); err != nil {
		return Place{}, errors.Join(fmt.Errorf("make the demo's repository: %w", err), os.RemoveAll(dir))
	}
	return p, nil
}

// checkTools returns an error that names the programs that the demo needs and that are missing.
func checkTools() error {
	var missing []string
	for _, tool := range []string{"git", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	verb := "is"
	if len(missing) > 1 {
		verb = "are"
	}
	return failure.New(failure.Error, "install it, then  pawl demo  again; it needs nothing else",
		"the demo needs %s, which %s not on your PATH", strings.Join(missing, " and "), verb)
}

// writeFiles writes the files and makes the first commit.
func (p Place) writeFiles(ctx context.Context, env []string) error {
	for _, dir := range []string{p.Repo, p.Config} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(p.Script, script, 0o644); err != nil {
		return err
	}
	for _, f := range txtar.Parse(shop).Files {
		path := filepath.Join(p.Repo, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template="},
		{"symbolic-ref", "HEAD", "refs/heads/main"},
		// The user's own settings stay out of it: their name, keys, hooks and
		// line ends.
		{"config", "user.name", "Pawl Demo"},
		{"config", "user.email", "demo@pawl.invalid"},
		{"config", "commit.gpgSign", "false"},
		{"config", "core.hooksPath", filepath.Join(p.Repo, ".git", "hooks")},
		{"config", "core.autocrlf", "false"},
		{"add", "--all"},
		{"commit", "--quiet", "--message", "Begin a shopping cart"},
	} {
		if err := p.git(ctx, env, args); err != nil {
			return err
		}
	}
	return nil
}

func (p Place) git(ctx context.Context, env, args []string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = p.Repo
	for _, kv := range env {
		if !strings.HasPrefix(kv, "GIT_") { // GIT_DIR and its like lead elsewhere
			cmd.Env = append(cmd.Env, kv)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}
