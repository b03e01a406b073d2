package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cacheVars are variables that name caches in other folders.
const cacheVars = `
	XDG_CACHE_HOME GOCACHE GOMODCACHE npm_config_cache NPM_CONFIG_CACHE YARN_CACHE_FOLDER
	PIP_CACHE_DIR UV_CACHE_DIR POETRY_CACHE_DIR PRE_COMMIT_HOME NUGET_PACKAGES
	DENO_DIR BUN_INSTALL_CACHE_DIR CCACHE_DIR SCCACHE_DIR COMPOSER_CACHE_DIR`

// movedFolderVars pairs a folder of the home with the variable that moves it, including its
// caches.
const movedFolderVars = `.gradle GRADLE_USER_HOME .pub-cache PUB_CACHE`

// clientWritable are the folders of Claude Code that must remain between sessions: transcripts and
// related files. The rest (settings, hooks, plugins, commands, agents) is read-only: a loop's
// agent must leave nothing there that a later session would run.
const clientWritable = `projects file-history todos tasks plans`

// clientScratch are folders of Claude Code that a session needs while it runs. File names in them
// are process ids, which mean nothing outside the private process table.
const clientScratch = `sessions session-env shell-snapshots backups`

// controlSockets are sockets, and folders of sockets, by which a command could control a program
// outside the sandbox.
const controlSockets = `
	.docker/desktop .docker/run .colima .lima .orbstack .rd .1password
	/var/snap/lxd/common/lxd /var/lib/lxd /var/lib/incus`

// controlVars are variables that lead to such sockets.
const controlVars = `
	SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS
	DOCKER_HOST CONTAINER_HOST XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY XAUTHORITY TMUX TMUX_PANE STY
	VSCODE_IPC_HOOK_CLI VSCODE_GIT_IPC_HANDLE SWAYSOCK I3SOCK HYPRLAND_INSTANCE_SIGNATURE`

// clientCredentials are the credentials of Claude Code. The client needs them; gates do not.
const clientCredentials = `.credentials.json .claude.json`

// joinEach joins each word to a folder. Absolute words stay unchanged.
func joinEach(dir, words string) []string {
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

// realPath resolves the symbolic links of an absolute path. It returns false if the path does not
// exist.
func realPath(path string) (string, bool) {
	if !filepath.IsAbs(path) { // "" would be the current folder
		return "", false
	}
	p, err := filepath.EvalSymlinks(path)
	return p, err == nil
}

// resolve returns the existing paths, without symbolic links.
func resolve(paths []string) []string {
	var out []string
	for _, path := range paths {
		if p, ok := realPath(path); ok {
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

// isInside reports whether a path is a folder or below it.
func isInside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// isInsideAny reports whether a path is one of the folders or below one.
func isInsideAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return isInside(path, dir) })
}

// makeDir creates a folder that must exist in the sandbox.
func makeDir(path string) error { return os.MkdirAll(path, 0o700) }
