package checkout

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/regex"
)

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
