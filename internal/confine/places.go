package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cacheVars name caches that lie elsewhere.
const cacheVars = `
	XDG_CACHE_HOME GOCACHE GOMODCACHE npm_config_cache NPM_CONFIG_CACHE YARN_CACHE_FOLDER
	PIP_CACHE_DIR UV_CACHE_DIR POETRY_CACHE_DIR PRE_COMMIT_HOME NUGET_PACKAGES
	DENO_DIR BUN_INSTALL_CACHE_DIR CCACHE_DIR SCCACHE_DIR COMPOSER_CACHE_DIR`

// movedBy name the variables by which a folder of the home lies elsewhere, caches
// and all else that is in it.
const movedBy = `.gradle GRADLE_USER_HOME .pub-cache PUB_CACHE`

// clientKeeps are the folders in Claude Code's own that it must find again:
// transcripts and what belongs to them. All else there (settings, hooks, plugins,
// commands, agents) it only reads: a loop's agent must leave nothing that a later
// session would run.
const clientKeeps = `projects file-history todos tasks plans`

// clientScratch are those that a session needs while it lives. Names in them are
// process ids, which mean nothing outside a process table of its own.
const clientScratch = `sessions session-env shell-snapshots backups`

// doors are sockets, and folders of them, behind which something runs outside the
// wall that does what it is told.
const doors = `
	.docker/desktop .docker/run .colima .lima .orbstack .rd .1password
	/var/snap/lxd/common/lxd /var/lib/lxd /var/lib/incus`

// doorVars lead to such sockets.
const doorVars = `
	SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS
	DOCKER_HOST CONTAINER_HOST XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY XAUTHORITY TMUX TMUX_PANE STY
	VSCODE_IPC_HOOK_CLI VSCODE_GIT_IPC_HANDLE SWAYSOCK I3SOCK HYPRLAND_INSTANCE_SIGNATURE`

// clientCredentials are Claude Code's own: it cannot do without them, a gate can.
const clientCredentials = `.credentials.json .claude.json`

// below joins each word to a folder; words that are absolute stay as they are.
func below(dir, words string) []string {
	var out []string
	for w := range strings.FieldsSeq(words) {
		if !filepath.IsAbs(w) {
			if dir == "" {
				continue
			}
			w = filepath.Join(dir, filepath.FromSlash(w))
		}
		out = append(out, w)
	}
	return out
}

// real resolves an absolute path that is there.
func real(path string) (string, bool) {
	if !filepath.IsAbs(path) { // "" would be the current folder
		return "", false
	}
	p, err := filepath.EvalSymlinks(path)
	return p, err == nil
}

// resolve keeps the paths that are there, without symbolic links.
func resolve(paths []string) []string {
	var out []string
	for _, path := range paths {
		if p, ok := real(path); ok {
			out = append(out, p)
		}
	}
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// inside reports whether a path is a folder, or below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// insideAny reports whether a path is one of the folders, or below one.
func insideAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return inside(path, dir) })
}

// makeDir makes a folder that is to be found inside the wall.
func makeDir(path string) error { return os.MkdirAll(path, 0o700) }
