//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A tool that a checkout lacks is not installed from the network to judge with. In the
// work tree, by the set-up and by a gate that installs things itself it is as ever.
func TestCheckoutRunsOffline(t *testing.T) {
	t.Parallel()
	const show = `echo "ok 1 - yes=$npm_config_yes npm=$npm_config_offline pnpm=$pnpm_config_offline bun=$BUN_CONFIG_REGISTRY yarn=$YARN_ENABLE_NETWORK uv=$UV_OFFLINE ` +
		`pip=$PIP_NO_INDEX cargo=$CARGO_NET_OFFLINE go=$GOPROXY"; echo 1..1`
	const none = "yes= npm= pnpm= bun= yarn= uv= pip= cargo= go=direct"
	const off = "yes=false npm=true pnpm=true bun=http://127.0.0.1:9/ yarn=0 uv=1 pip=1 cargo=true go=off"
	for name, c := range map[string]struct {
		gate gate.Gate
		set  []string
		want string
	}{
		"in a checkout":             {gate.Gate{Command: show, Pristine: true}, nil, off},
		"in the work tree":          {gate.Gate{Command: show}, nil, none},
		"a gate that installs":      {gate.Gate{Command: "true npm ci; " + show, Pristine: true}, nil, none},
		"as the user set for gates": {gate.Gate{Command: show, Pristine: true}, []string{"UV_OFFLINE=0"}, strings.Replace(off, "uv=1", "uv=0", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"a": "a"}, func(o *verify.Options) {
				o.Env, o.UserEnv = []string{"PATH=" + pathOf(o.Env), "GOPROXY=direct"}, c.set
				o.Setup = []string{`test -z "$UV_OFFLINE$npm_config_yes" || test "$UV_OFFLINE" = 0`}
			})
			c.gate.Name, c.gate.Report = "a", "tap"
			results, err := b.Baseline(t.Context(), b.tree(), []gate.Gate{c.gate}, "")
			if err != nil || results[0].Tests[c.want] != gate.Pass {
				t.Errorf("%+v, %v", results, err)
			}
		})
	}
}

func pathOf(env []string) string {
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			return path
		}
	}
	return ""
}

// That a tool is missing there says nothing of the work.
func TestMissingToolInTheCheckoutIsUnknown(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`npm error npx canceled due to missing packages and no YES option: ["jest@29.7.0"]`,
		" ERR_PNPM_NO_OFFLINE_META  Failed to resolve jest@latest in package mirror",
		"  ╰─▶ Failed to resolve the latest version of jest: Failed to resolve",
		"➤ YN0080: │ jest@npm:29.7.0: Request to 'https://registry.example/jest' has been blocked because of your configuration settings",
		"➤ YN0001: Error: Assertion failed: Expected an error to have been set",
		"error: ConnectionRefused downloading package manifest cowsay",
		"YN0081: Network access has been disabled by configuration (GET https://registry.example/jest)",
		"hint: Packages were unavailable because the network was disabled.",
		"ERROR: No matching distribution found for pytest",
		"As a reminder, you're using offline mode (--offline) which can sometimes cause surprising resolution failures",
		"go: example.org/tool@latest: module lookup disabled by GOPROXY=off",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"a": "a", "said": line + "\n"}, nil)
			g := gate.Gate{Name: "a", Command: "cat said; exit 1", Pristine: true}
			here := gate.Gate{Name: "here", Command: "cat said; exit 1"}
			results, err := b.Run(t.Context(), []gate.Gate{g, here}, "")
			if err != nil || results[0].Status != gate.Unknown || results[1].Status != gate.Fail {
				t.Fatalf("%+v, %v", results, err)
			}
			if why := results[0].Reason; !strings.Contains(why, strings.TrimSpace(line)) || !strings.Contains(why, "[worktree] setup") {
				t.Errorf("reason %q", why)
			}
		})
	}
}
