package checkout

import (
	"iter"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/environment"
)

// homeEntry is a path below the user's home that a gate may need.
type homeEntry struct {
	path    string // relative to the home, with slashes; .config, .cache and .local/share follow XDG's variables
	movedBy string // variables that can name another path
	set     string // the variable to set for tools that ignore HOME

	link     []string // below it: toolchains and download caches
	copy     []string // below it: settings before the first turn; "" = the entry itself
	packages string   // glob below it: packages, linked while unchanged

	writable  bool // tools write there while they run
	setupOnly bool // only for [worktree] setup
}

var whole = []string{""}

// homeEntries lists everything that an isolated home contains. Tools find nothing else there, as on
// a new machine: no linter and test caches, histories or credentials.
var homeEntries = []homeEntry{
	{path: ".ssh", link: whole, setupOnly: true},
	{path: ".netrc", link: whole, setupOnly: true},
	{path: ".git-credentials", link: whole, setupOnly: true},

	{path: ".gitconfig", copy: whole},
	{path: ".config/git", copy: []string{"config", "ignore", "attributes"}},
	{path: ".docker", link: []string{"cli-plugins", "contexts"}, copy: []string{"config.json"}},

	{path: "go", movedBy: "GOPATH", link: []string{"pkg/mod", "pkg/sumdb", "bin"}},
	{path: ".config/go/env", movedBy: "GOENV", copy: whole},
	{path: ".cache/go-build", movedBy: "GOCACHE", link: whole, writable: true},
	{path: "Library/Application Support/go/env", copy: whole},
	{path: "Library/Caches/go-build", link: whole, writable: true},

	{path: ".cargo", movedBy: "CARGO_HOME", link: []string{"bin", "registry", "git"}, copy: []string{"config.toml", "config"}, writable: true},
	{path: ".rustup", movedBy: "RUSTUP_HOME", link: whole},

	{path: ".npmrc", movedBy: "npm_config_userconfig NPM_CONFIG_USERCONFIG", copy: whole},
	{path: ".npm", movedBy: "npm_config_cache NPM_CONFIG_CACHE", link: []string{"_cacache"}, writable: true},
	{path: ".yarnrc", copy: whole},
	{path: ".yarnrc.yml", copy: whole},
	{path: ".yarn/berry", link: []string{"cache"}, writable: true},
	{path: ".cache/yarn", link: whole, writable: true},
	{path: ".config/pnpm", copy: []string{"rc"}},
	{path: ".local/share/pnpm", movedBy: "PNPM_HOME", link: whole, writable: true},
	{path: ".cache/pnpm", link: whole, writable: true},
	{path: ".cache/node/corepack", movedBy: "COREPACK_HOME", link: whole, writable: true},
	{path: ".nvm", movedBy: "NVM_DIR", link: whole},
	{path: ".local/share/fnm", link: whole},
	{path: ".volta", movedBy: "VOLTA_HOME", link: whole},
	{path: ".bun", movedBy: "BUN_INSTALL", link: []string{"bin", "install"}, writable: true},
	{path: ".deno", link: whole, writable: true},
	{path: ".cache/deno", movedBy: "DENO_DIR", link: whole, writable: true},
	{path: ".cache/ms-playwright", link: whole},
	{path: ".cache/puppeteer", link: whole},
	{path: ".cache/Cypress", link: whole},

	{path: ".pyenv", movedBy: "PYENV_ROOT", link: whole},
	{path: ".local", movedBy: "PYTHONUSERBASE", packages: "lib/python3*/site-packages"},
	{path: "Library/Python", packages: "3*/lib/python/site-packages"},
	{path: ".config/pip", copy: []string{"pip.conf"}},
	{path: ".pip", copy: []string{"pip.conf"}},
	{path: ".cache/pip", movedBy: "PIP_CACHE_DIR", link: whole, writable: true},
	{path: ".config/uv", copy: []string{"uv.toml"}},
	{path: ".local/share/uv", link: whole},
	{path: ".cache/uv", movedBy: "UV_CACHE_DIR", link: whole, writable: true},
	{path: ".config/pypoetry", copy: []string{"config.toml"}},
	{path: ".cache/pypoetry", movedBy: "POETRY_CACHE_DIR", link: whole, writable: true},
	{path: ".local/share/virtualenvs", link: whole},
	{path: ".local/share/pipx", link: whole},
	{path: ".virtualenvs", link: whole},
	{path: ".condarc", copy: whole},
	{path: "miniconda3", link: whole},
	{path: "anaconda3", link: whole},
	{path: "miniforge3", link: whole},

	{path: ".m2", link: []string{"repository", "wrapper"}, copy: []string{"settings.xml", "settings-security.xml", "toolchains.xml"}, writable: true},
	{path: ".gradle", movedBy: "GRADLE_USER_HOME", set: "GRADLE_USER_HOME", link: []string{"caches", "wrapper", "jdks"}, copy: []string{"gradle.properties"}, writable: true},
	{path: ".sdkman", movedBy: "SDKMAN_DIR", link: whole},
	{path: ".ivy2", link: []string{"cache"}, writable: true},
	{path: ".sbt", link: []string{"boot"}, writable: true},
	{path: ".cache/coursier", link: whole, writable: true},
	{path: ".konan", link: whole},
	{path: "Android", link: whole},

	{path: ".nuget/packages", movedBy: "NUGET_PACKAGES", link: whole, writable: true},
	{path: ".nuget/NuGet", copy: []string{"NuGet.Config"}},
	{path: ".dotnet", link: whole},

	{path: ".gem", movedBy: "GEM_HOME", link: whole},
	{path: ".gemrc", copy: whole},
	{path: ".local/share/gem", link: whole},
	{path: ".bundle", link: []string{"cache"}, copy: []string{"config"}},
	{path: ".rbenv", movedBy: "RBENV_ROOT", link: whole},
	{path: ".rvm", link: whole},

	{path: ".config/composer", movedBy: "COMPOSER_HOME", link: []string{"vendor"}, copy: []string{"composer.json", "config.json"}},
	{path: ".cache/composer", movedBy: "COMPOSER_CACHE_DIR", link: whole, writable: true},
	{path: ".mix", movedBy: "MIX_HOME", link: whole, writable: true},
	{path: ".hex", movedBy: "HEX_HOME", link: whole, writable: true},
	{path: ".pub-cache", link: whole, writable: true},
	{path: ".ghcup", link: whole},
	{path: ".cabal", link: []string{"packages", "store", "bin"}, copy: []string{"config"}, writable: true},
	{path: ".stack", link: whole, writable: true},
	{path: ".opam", link: whole},
	{path: ".elan", link: whole},

	{path: ".asdf", link: whole},
	{path: ".tool-versions", copy: whole},
	{path: ".local/share/mise", link: whole},
	{path: ".config/mise", copy: []string{"config.toml"}},
	{path: ".nix-profile", link: whole},
}

// xdgFolders lists folders below the home that a variable can move.
var xdgFolders = []struct{ name, path string }{
	{"XDG_CONFIG_HOME", ".config"}, {"XDG_CACHE_HOME", ".cache"}, {"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"},
}

// homeSources yields the entries with their paths in the gates' environment, without unknown ones.
func (k *Checkout) homeSources() iter.Seq2[homeEntry, string] {
	return func(yield func(homeEntry, string) bool) {
		for _, e := range homeEntries {
			if from, _ := e.source(k.Env); from != "" && !yield(e, from) {
				return
			}
		}
	}
}

// source returns the entry's path in an environment, and the variable that names it. It returns ""
// if the variable lists several folders or a relative one.
func (e homeEntry) source(env []string) (dir, movedBy string) {
	for name := range strings.FieldsSeq(e.movedBy) {
		if value := environment.Variable(env, name); value != "" {
			if !filepath.IsAbs(value) || strings.ContainsRune(value, filepath.ListSeparator) {
				return "", ""
			}
			return value, name
		}
	}
	home := environment.Variable(env, "HOME")
	for _, xdg := range xdgFolders {
		if below, ok := strings.CutPrefix(e.path, xdg.path+"/"); ok {
			if value := environment.Variable(env, xdg.name); filepath.IsAbs(value) {
				return filepath.Join(value, filepath.FromSlash(below)), ""
			}
		}
	}
	return filepath.Join(home, filepath.FromSlash(e.path)), ""
}
