package verify

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/regex"
)

// In a checkout of Pawl's own tools that a gate needs may be missing. Runners such as npx
// or uvx would install them from the network then: of another version, and with code that
// nobody has seen.

// nowhere is a registry that refuses connections, for tools without an offline setting.
const nowhere = "http://127.0.0.1:9/"

// offline are the variables that keep tools from fetching: they use what they have in a
// cache.
var offline = []string{
	"npm_config_yes=false", "npm_config_offline=true", "pnpm_config_offline=true", "BUN_CONFIG_REGISTRY=" + nowhere, "YARN_ENABLE_NETWORK=0",
	"UV_OFFLINE=1", "PIP_NO_INDEX=1", "CARGO_NET_OFFLINE=true", "GOPROXY=off",
}

// unfetched is the line that npx, pnpm, bun, yarn, uv, pip, cargo or go print when they
// would have to fetch.
var unfetched = regex.New(`(?m)^.*(npx canceled due to missing packages|ENOTCACHED` +
	`|ERR_PNPM_NO_OFFLINE_|Failed to resolve .* in package mirror|Failed to resolve the latest version of ` +
	`|ConnectionRefused downloading (package manifest|tarball)` +
	`|Network access has been disabled by configuration|blocked because of your configuration settings|Expected an error to have been set` +
	`|network was disabled|[Nn]etwork connectivity is disabled|No matching distribution found for ` +
	`|offline mode \(.*--offline|but --offline was specified|disabled by GOPROXY=off).*$`)

// missing says what a gate that failed in a checkout had to do without there, "" for
// nothing that is known.
func (v *Verifier) missing(r gate.Result) string {
	if line := strings.TrimSpace(unfetched.FindString(r.Tail + "\n" + r.Head)); line != "" {
		return "a tool is missing in the checkout, and none is fetched there: " + line + "; commands in [worktree] setup in pawl.toml install it there"
	}
	if v.place == nil {
		return ""
	}
	return v.place.lacks
}

// noFetch are the variables that keep a gate's tools from fetching in a checkout of
// Pawl's own. A gate that installs what it needs itself does so there too, and variables
// that the user set for gates stay.
func (v *Verifier) noFetch(g gate.Gate) []string {
	if deps.Installs(g) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(offline), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(v.Set, func(set string) bool { return strings.HasPrefix(set, name+"=") })
	})
}
