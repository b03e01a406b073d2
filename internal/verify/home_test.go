//go:build unix

package verify_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// homeBench is a bench whose gates have a home of their own, with these files in it.
func homeBench(t *testing.T, start, home files, change func(*verify.Options)) (*bench, func(files)) {
	t.Helper()
	dir := t.TempDir()
	put := func(fs files) {
		t.Helper()
		for name, content := range fs {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(home)
	b := newBench(t, start, func(o *verify.Options) {
		o.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "GOENV=", "PYTHONUSERBASE=",
			"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		if change != nil {
			change(o)
		}
	})
	if err := b.RecordStart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b, put
}

// What an agent puts into the user's home turns a gate green there, and proves nothing.
func TestChangesInTheHomeProveNothing(t *testing.T) {
	t.Parallel()
	for name, file := range agenttest.Some(map[string]string{
		"settings of npm":       ".npmrc",
		"settings of Go":        ".config/go/env",
		"settings of git":       ".gitconfig",
		"settings of cargo":     ".cargo/config.toml",
		"what nobody knows":     ".config/runner.toml",
		"code of Python's":      ".local/lib/python3.11/site-packages/usercustomize.py",
		"a cache of a linter":   ".cache/linter/results",
		"what the shell begins": ".profile",
	}, 3) {
		inEachMode(t, name, func(t *testing.T, byFolder bool) {
			b, put := homeBench(t, files{"run": "grep -qs green \"$HOME/" + file + "\"\n", "lib": "1\n"}, files{".npmrc": "as it was\n"}, func(o *verify.Options) { o.NoNamespace = byFolder })
			gates := gates("sh ./run")
			r := verify.Request{Gates: gates, Base: b.tree()}
			if _, err := b.Baseline(t.Context(), r.Base, gates, ""); err != nil {
				t.Fatal(err)
			}
			b.write(files{"lib": "2\n"})
			put(files{file: "green\n"})
			r.Tree = b.tree()
			f, err := b.Claim(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if v := f.Verdict; v.Evidence == gate.Proven || !strings.Contains(v.Reason, "passes in the work tree and fails in a clean checkout") {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// Settings that came or changed since the first turn are named, each once.
func TestChangedSettingsAreNamedOnce(t *testing.T) {
	t.Parallel()
	b, put := homeBench(t, files{"a": "1\n"}, files{".npmrc": "then\n", ".condarc": "then\n", ".profile": "then\n"}, nil)
	for _, step := range []struct{ now, want files }{
		{nil, nil},
		{files{".npmrc": "now\n", ".profile": "now\n"}, files{".npmrc": ""}},
		{files{".npmrc": "once more\n", ".cargo/config.toml": "came\n"}, files{".cargo/config.toml": ""}},
	} {
		put(step.now)
		got := b.ChangedSettings()
		if len(got) != len(step.want) || len(got) > 0 && !strings.HasSuffix(got[0], slices.Collect(maps.Keys(step.want))[0]) {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}

// A program of the work itself, which the dependencies only link to, is no setting. One of the
// dependencies is.
func TestProgramsOfTheWorkAreNoSettings(t *testing.T) {
	t.Parallel()
	b, _ := homeBench(t, files{".gitignore": "node_modules\n", "packages/shop/cli.js": "1\n"}, nil, nil)
	sh(t, b.root, "sh", "-c", `
		mkdir -p node_modules/.bin node_modules/pkg && echo 1 >node_modules/pkg/tool
		ln -s ../packages/shop node_modules/shop
		ln -s ../shop/cli.js node_modules/.bin/shop && ln -s ../pkg/tool node_modules/.bin/tool`)
	if err := b.ForgetStart(); err != nil {
		t.Fatal(err)
	}
	if err := b.RecordStart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.ChangedSettings(); len(got) > 0 {
		t.Errorf("before the work: %q", got)
	}
	b.write(files{"packages/shop/cli.js": "2\n", "node_modules/pkg/tool": "2\n"})
	if got := b.ChangedSettings(); len(got) != 1 || !strings.HasSuffix(got[0], filepath.Join(".bin", "tool")) {
		t.Errorf("%q", got)
	}
}

// A run in a checkout has settings as they were, what was fetched, and packages that are
// as they were; and a temporary folder that nobody wrote into.
func TestRunHasItsOwnHome(t *testing.T) {
	t.Parallel()
	const site = ".local/lib/python3.11/site-packages/"
	start := files{"a": "1\n"}
	home := files{
		".npmrc": "then\n", ".npm/_cacache/x": "1", ".npm/_npx/y": "1", ".cargo/config.toml": "then\n", ".cargo/registry/r": "1",
		site + "m.py": "1", "bin/tool": "#!/bin/sh\nfalse\n", "bin/kept": "#!/bin/sh\ntrue\n", "moved/registry/r": "1", "moved/config.toml": "then\n",
	}
	now := files{".npmrc": "now\n", ".cargo/config.toml": "now\n", "moved/config.toml": "now\n"}
	for name, c := range agenttest.Some(map[string]struct {
		also  files // written while the agent works
		set   []string
		setUp []string
		gate  string
	}{
		"settings":               {nil, nil, nil, `[ "$(cat ~/.npmrc ~/.cargo/config.toml)" = "then` + "\n" + `then" ]`},
		"what was fetched":       {nil, nil, nil, `[ -e ~/.npm/_cacache/x ] && [ -e ~/.cargo/registry/r ] && [ ! -e ~/.npm/_npx ]`},
		"packages":               {nil, nil, nil, `[ -e ~/` + site + `m.py ]`},
		"changed packages":       {files{site + "usercustomize.py": "x"}, nil, nil, `[ ! -e ~/` + site + ` ]`},
		"a file beside them":     {files{".hidden": "x"}, nil, nil, `[ ! -e ~/.hidden ]`},
		"a program on the PATH":  {files{"bin/tool": "#!/bin/sh\ntrue\n", "bin/other": "#!/bin/sh\n"}, nil, nil, `! tool && ! other && kept`},
		"its temporary folder":   {nil, nil, nil, `[ -z "$(ls "$TMPDIR")" ] && touch "$TMPDIR/x" ~/y`},
		"a moved folder":         {nil, []string{"CARGO_HOME=moved"}, nil, `[ -e "$CARGO_HOME/registry/r" ] && [ "$(cat "$CARGO_HOME/config.toml")" = then ]`},
		"a variable of gates'":   {nil, []string{"!CARGO_HOME=/x"}, nil, `[ "$CARGO_HOME" = /x ]`},
		"what the set-up left":   {nil, nil, []string{"mkdir -p ~/.local/bin && echo 1 >~/.local/bin/tool && [ -e ~/.npmrc ]"}, `[ -e ~/.local/bin/tool ]`},
		"what it is called here": {nil, nil, nil, `! echo "see $HOME/x"`},
	}, 2) {
		inEachMode(t, name, func(t *testing.T, byFolder bool) {
			b, put := homeBench(t, start, home, func(o *verify.Options) {
				o.Setup, o.NoNamespace = c.setUp, byFolder
				for _, kv := range c.set {
					if own, ok := strings.CutPrefix(kv, "!"); ok {
						o.UserEnv = append(o.UserEnv, own)
						continue
					}
					name, value, _ := strings.Cut(kv, "=")
					for _, e := range o.Env {
						if dir, ok := strings.CutPrefix(e, "HOME="); ok {
							kv = name + "=" + filepath.Join(dir, value)
						}
					}
					o.Env = append(o.Env, kv)
				}
			})
			put(now)
			put(maps.Clone(c.also))
			for range 2 { // nothing of a run is there in the next
				r, err := b.RunInCheckout(t.Context(), b.tree(), gates(c.gate), "")
				if err != nil {
					t.Fatal(err)
				}
				if name == "what it is called here" {
					if r[0].Status != gate.Fail || strings.Contains(r[0].Tail, "pawl-") {
						t.Errorf("%s: %q", r[0].Status, r[0].Tail)
					}
					continue
				}
				if r[0].Status != gate.Pass {
					t.Errorf("%s: %s\n%s", r[0].Status, r[0].Reason, r[0].Tail)
				}
				b.write(files{"a": "2\n"})
			}
		})
	}
}
