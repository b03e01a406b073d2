package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/regex"
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

// A checkout may lack tools that a gate needs. Runners such as npx or uvx would then install them
// from the network: another version, with unknown code.

// unreachableRegistry refuses connections, for tools without an offline setting.
const unreachableRegistry = "http://127.0.0.1:9/"

// offlineVariables prevent tools from downloading; tools use their caches.
var offlineVariables = []string{
	"npm_config_yes=false", "npm_config_offline=true", "pnpm_config_offline=true", "BUN_CONFIG_REGISTRY=" + unreachableRegistry, "YARN_ENABLE_NETWORK=0",
	"UV_OFFLINE=1", "PIP_NO_INDEX=1", "CARGO_NET_OFFLINE=true", "GOPROXY=off",
}

// fetchRefused matches the messages of npx, pnpm, bun, yarn, uv, pip, cargo and go about a refused
// download.
var fetchRefused = regex.New(`(?m)^.*(npx canceled due to missing packages|ENOTCACHED` +
	`|ERR_PNPM_NO_OFFLINE_|Failed to resolve .* in package mirror|Failed to resolve the latest version of ` +
	`|ConnectionRefused downloading (package manifest|tarball)` +
	`|Network access has been disabled by configuration|blocked because of your configuration settings|Expected an error to have been set` +
	`|network was disabled|[Nn]etwork connectivity is disabled|No matching distribution found for ` +
	`|offline mode \(.*--offline|but --offline was specified|disabled by GOPROXY=off).*$`)

// MissingTool returns what a gate with this output lacked in a checkout, or "".
func (k *Checkout) MissingTool(output string) string {
	if line := strings.TrimSpace(fetchRefused.FindString(output)); line != "" {
		return "a tool is missing in the checkout, and downloads are off there: " + line + "; commands in [worktree] setup in pawl.toml install it there"
	}
	if k.current == nil {
		return ""
	}
	return k.current.missing
}

// GateEnv returns the variables that a gate in the checkout gets in addition to its environment. If
// clean is true, Go compiles everything again.
func (k *Checkout) GateEnv(ctx context.Context, g gate.Gate, clean bool) []string {
	return slices.Concat(k.goBuildEnv(ctx, clean), k.offlineEnv(g))
}

// offlineEnv returns the variables that keep a gate's tools offline in a checkout. Gates that
// install their tools, and the user's own settings, are exempt.
func (k *Checkout) offlineEnv(g gate.Gate) []string {
	if deps.Installs(g) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(offlineVariables), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return environment.HasVariable(k.UserEnv, name)
	})
}
