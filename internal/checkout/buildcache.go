package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/environment"
)

// Compilers reuse the result of other sources that look the same to them.

// GoEnv returns the variable that makes Go run each test. Go would answer from its cache if the
// test's own package did not change, although a program that the test builds or starts did.
func (k *Checkout) GoEnv() []string { return []string{"GOFLAGS=" + k.goFlags()} }

func (k *Checkout) goFlags() string {
	flags := environment.Variable(k.Env, "GOFLAGS")
	for _, home := range []string{k.homeRecordDir(), environment.Variable(k.Env, "HOME")} {
		for _, dir := range []string{".config", "Library/Application Support"} {
			if flags == "" { // the variable takes the place of the setting
				flags = settingInFile(filepath.Join(home, filepath.FromSlash(dir), "go", "env"), "GOFLAGS")
			}
		}
	}
	if strings.Contains(flags, "-count=") {
		return flags
	}
	return strings.TrimSpace(flags + " -count=1")
}

// goBuildEnv makes Go compile the work's packages for this checkout only, so that packages compiled
// by the agent do not count. Another path suffices, unless -trimpath removes paths. In a namespace
// the path is the same, so an unused compiler flag names the checkout.
func (k *Checkout) goBuildEnv(ctx context.Context, clean bool) []string {
	flags := k.goFlags()
	switch {
	case k.InNamespace(ctx):
		return []string{"GOFLAGS=" + flags + " -gcflags=-D=" + filepath.Base(k.current.tree.Root())}
	case clean && strings.Contains(flags, "-trimpath"):
		return []string{"GOFLAGS=" + flags + " -trimpath=false"}
	}
	return nil
}

// settingInFile returns a variable's value from a file of NAME=VALUE lines.
func settingInFile(file, name string) string {
	data, err := atomicfile.Read(file, maxSettings)
	if err != nil {
		return ""
	}
	return environment.Variable(strings.Split(string(data), "\n"), name)
}

// removeCompiled removes Python's bytecode of the files that changed in a reset to a tree. Python
// considers bytecode current if a file has the same size and was changed in the same second
// (https://docs.python.org/3/reference/import.html#pyc-invalidation). That is often true for a
// mutant.
func (k *Checkout) removeCompiled(ctx context.Context, tree string) error {
	changes, err := k.Repo.Diff(ctx, k.current.checkedOut, tree)
	if err != nil {
		return fmt.Errorf("find what changed in a checkout: %w", err)
	}
	k.current.checkedOut = tree
	for _, c := range changes {
		module, isPython := strings.CutSuffix(filepath.Join(k.current.tree.Root(), filepath.FromSlash(c.Path)), ".py")
		if !isPython {
			continue
		}
		caches := filepath.Join(filepath.Dir(module), "__pycache__")
		compiled, err := os.ReadDir(caches)
		if err != nil { // usually there is none
			continue
		}
		for _, e := range compiled {
			if strings.HasPrefix(e.Name(), filepath.Base(module)+".") {
				if err := os.Remove(filepath.Join(caches, e.Name())); err != nil {
					return fmt.Errorf("forget what was compiled: %w", err)
				}
			}
		}
	}
	return nil
}

// ChangedFiles returns the tracked files that differ in the checkout from the tree that it was made of.
func (k *Checkout) ChangedFiles(ctx context.Context) ([]string, error) {
	_, modified, _, err := k.current.tree.Unstaged(ctx)
	if err != nil {
		return nil, fmt.Errorf("find what changed in the checkout: %w", err)
	}
	return modified, nil
}

// IgnoredFiles returns size and time of the ignored files in the clean checkout, and false if
// unknown. A run that changes them could influence the next run.
func (k *Checkout) IgnoredFiles(ctx context.Context) (map[string]string, bool) {
	left := map[string]string{}
	if k.current.pristine {
		return left, true
	}
	ignored, err := k.current.tree.Ignored(ctx)
	for _, name := range ignored {
		left[name] = "gone"
		if info, err := os.Lstat(filepath.Join(k.current.tree.Root(), filepath.FromSlash(name))); err == nil {
			left[name] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	return left, err == nil
}
