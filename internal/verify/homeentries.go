package verify

import (
	"path/filepath"
	"strings"
)

// homeEntry is something below the user's home that a gate may need.
type homeEntry struct {
	path  string // relative to the home, with slashes; of .config, .cache and .local/share where XDG's variables say
	moved string // the variables that name it where it lies elsewhere
	set   string // the variable to set where it does not: for tools that do not ask HOME

	link []string // below it: toolchains, and caches of what was fetched
	copy []string // below it: settings, as they were before the first turn; "" = the entry itself
	same string   // glob below it: packages, linked while they are as they were

	written bool // tools write there while they run: a cache that cannot be read-only
	setUp   bool // for [worktree] setup alone
}

var whole = []string{""}

// homeEntries is all that an isolated home holds. What is not here a tool finds missing,
// as on a fresh machine: caches of linters and test runners, histories, credentials.
var homeEntries = []homeEntry{
	{path: ".ssh", link: whole, setUp: true},
	{path: ".netrc", link: whole, setUp: true},
	{path: ".git-credentials", link: whole, setUp: true},

	{path: ".gitconfig", copy: whole},
	{path: ".config/git", copy: []string{"config", "ignore", "attributes"}},
	{path: ".docker", link: []string{"cli-plugins", "contexts"}, copy: []string{"config.json"}},

	{path: "go", moved: "GOPATH", link: []string{"pkg/mod", "pkg/sumdb", "bin"}},
	{path: ".config/go/env", moved: "GOENV", copy: whole},
	{path: ".cache/go-build", moved: "GOCACHE", link: whole, written: true},
	{path: "Library/Application Support/go/env", copy: whole},
	{path: "Library/Caches/go-build", link: whole, written: true},

	{path: ".cargo", moved: "CARGO_HOME", link: []string{"bin", "registry", "git"}, copy: []string{"config.toml", "config"}, written: true},
	{path: ".rustup", moved: "RUSTUP_HOME", link: whole},

	{path: ".npmrc", moved: "npm_config_userconfig NPM_CONFIG_USERCONFIG", copy: whole},
	{path: ".npm", moved: "npm_config_cache NPM_CONFIG_CACHE", link: []string{"_cacache"}, written: true},
	{path: ".yarnrc", copy: whole},
	{path: ".yarnrc.yml", copy: whole},
	{path: ".yarn/berry", link: []string{"cache"}, written: true},
	{path: ".cache/yarn", link: whole, written: true},
	{path: ".config/pnpm", copy: []string{"rc"}},
	{path: ".local/share/pnpm", moved: "PNPM_HOME", link: whole, written: true},
	{path: ".cache/pnpm", link: whole, written: true},
	{path: ".cache/node/corepack", moved: "COREPACK_HOME", link: whole, written: true},
	{path: ".nvm", moved: "NVM_DIR", link: whole},
	{path: ".local/share/fnm", link: whole},
	{path: ".volta", moved: "VOLTA_HOME", link: whole},
	{path: ".bun", moved: "BUN_INSTALL", link: []string{"bin", "install"}, written: true},
	{path: ".deno", link: whole, written: true},
	{path: ".cache/deno", moved: "DENO_DIR", link: whole, written: true},
	{path: ".cache/ms-playwright", link: whole},
	{path: ".cache/puppeteer", link: whole},
	{path: ".cache/Cypress", link: whole},

	{path: ".pyenv", moved: "PYENV_ROOT", link: whole},
	{path: ".local", moved: "PYTHONUSERBASE", same: "lib/python3*/site-packages"},
	{path: "Library/Python", same: "3*/lib/python/site-packages"},
	{path: ".config/pip", copy: []string{"pip.conf"}},
	{path: ".pip", copy: []string{"pip.conf"}},
	{path: ".cache/pip", moved: "PIP_CACHE_DIR", link: whole, written: true},
	{path: ".config/uv", copy: []string{"uv.toml"}},
	{path: ".local/share/uv", link: whole},
	{path: ".cache/uv", moved: "UV_CACHE_DIR", link: whole, written: true},
	{path: ".config/pypoetry", copy: []string{"config.toml"}},
	{path: ".cache/pypoetry", moved: "POETRY_CACHE_DIR", link: whole, written: true},
	{path: ".local/share/virtualenvs", link: whole},
	{path: ".local/share/pipx", link: whole},
	{path: ".virtualenvs", link: whole},
	{path: ".condarc", copy: whole},
	{path: "miniconda3", link: whole},
	{path: "anaconda3", link: whole},
	{path: "miniforge3", link: whole},

	{path: ".m2", link: []string{"repository", "wrapper"}, copy: []string{"settings.xml", "settings-security.xml", "toolchains.xml"}, written: true},
	{path: ".gradle", moved: "GRADLE_USER_HOME", set: "GRADLE_USER_HOME", link: []string{"caches", "wrapper", "jdks"}, copy: []string{"gradle.properties"}, written: true},
	{path: ".sdkman", moved: "SDKMAN_DIR", link: whole},
	{path: ".ivy2", link: []string{"cache"}, written: true},
	{path: ".sbt", link: []string{"boot"}, written: true},
	{path: ".cache/coursier", link: whole, written: true},
	{path: ".konan", link: whole},
	{path: "Android", link: whole},

	{path: ".nuget/packages", moved: "NUGET_PACKAGES", link: whole, written: true},
	{path: ".nuget/NuGet", copy: []string{"NuGet.Config"}},
	{path: ".dotnet", link: whole},

	{path: ".gem", moved: "GEM_HOME", link: whole},
	{path: ".gemrc", copy: whole},
	{path: ".local/share/gem", link: whole},
	{path: ".bundle", link: []string{"cache"}, copy: []string{"config"}},
	{path: ".rbenv", moved: "RBENV_ROOT", link: whole},
	{path: ".rvm", link: whole},

	{path: ".config/composer", moved: "COMPOSER_HOME", link: []string{"vendor"}, copy: []string{"composer.json", "config.json"}},
	{path: ".cache/composer", moved: "COMPOSER_CACHE_DIR", link: whole, written: true},
	{path: ".mix", moved: "MIX_HOME", link: whole, written: true},
	{path: ".hex", moved: "HEX_HOME", link: whole, written: true},
	{path: ".pub-cache", link: whole, written: true},
	{path: ".ghcup", link: whole},
	{path: ".cabal", link: []string{"packages", "store", "bin"}, copy: []string{"config"}, written: true},
	{path: ".stack", link: whole, written: true},
	{path: ".opam", link: whole},
	{path: ".elan", link: whole},

	{path: ".asdf", link: whole},
	{path: ".tool-versions", copy: whole},
	{path: ".local/share/mise", link: whole},
	{path: ".config/mise", copy: []string{"config.toml"}},
	{path: ".nix-profile", link: whole},
}

// xdgFolders are the folders below the home that a variable may lead elsewhere.
var xdgFolders = []struct{ name, path string }{
	{"XDG_CONFIG_HOME", ".config"}, {"XDG_CACHE_HOME", ".cache"}, {"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"},
}

// source is where the entry lies for an environment, and the variable that says so. It is
// "" for one that a variable says more of than one folder, or no absolute one.
func (e homeEntry) source(env []string) (dir, movedBy string) {
	for name := range strings.FieldsSeq(e.moved) {
		if value := variable(env, name); value != "" {
			if !filepath.IsAbs(value) || strings.ContainsRune(value, filepath.ListSeparator) {
				return "", ""
			}
			return value, name
		}
	}
	home := variable(env, "HOME")
	for _, xdg := range xdgFolders {
		if below, ok := strings.CutPrefix(e.path, xdg.path+"/"); ok {
			if value := variable(env, xdg.name); filepath.IsAbs(value) {
				return filepath.Join(value, filepath.FromSlash(below)), ""
			}
		}
	}
	return filepath.Join(home, filepath.FromSlash(e.path)), ""
}
