package place

import (
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/environment"
)

// Project is the folder that a session works in, with what decides where other tools keep
// the state files of their loops (package statefile). The paths are in this package since
// the client shim looks for them. Each is absolute, or "" if there can be none.
type Project struct {
	Root         string // absolute
	Plugin       string // $CLAUDE_PLUGIN_ROOT
	RalphLoopDir string // $RALPH_LOOP_DIR
	ThLoopAgent  string // $TH_LOOP_AGENT
	ClientConfig string // the folder with the user's settings of the client; "" if there is none
}

// At returns the project in a folder, with the variables of env.
func At(root string, env environment.Environment) Project {
	return Project{Root: root, Plugin: env.Session.Plugin, RalphLoopDir: env.RalphLoopDir, ThLoopAgent: env.ThLoopAgent, ClientConfig: env.ClientConfig()}
}

// RalphLoopPath returns the state file of the official ralph-loop plugin.
func (p Project) RalphLoopPath() string { return p.path(".claude", "ralph-loop.local.md") }

// ThLoopPath returns the state file of th-loop, of which each agent has one.
func (p Project) ThLoopPath() string {
	switch {
	case p.ThLoopAgent == "":
		return p.path(".claude", "th-loop.local.md")
	case strings.ContainsAny(p.ThLoopAgent, "/\\\x00"):
		return ""
	}
	return p.path(".claude", "th-loop-"+p.ThLoopAgent+".local.md")
}

// FeatureLoopsDir returns the folder that contains the folders of feature-list loops,
// current and named ones, if $RALPH_LOOP_DIR is not set.
func (p Project) FeatureLoopsDir() string { return p.path(".claude", "data", "ralph-loops") }

// FeatureLoopDir returns the folder that $RALPH_LOOP_DIR names.
func (p Project) FeatureLoopDir() string {
	switch {
	case p.RalphLoopDir == "":
		return ""
	case filepath.IsAbs(p.RalphLoopDir):
		return filepath.Clean(p.RalphLoopDir)
	}
	return p.path(p.RalphLoopDir)
}

// VerifyActivePaths returns the state files of a verify loop, the plugin's first. Each
// folder may have the file of older versions or the database of newer ones. The plugin's
// server writes below the folder that it was started in.
func (p Project) VerifyActivePaths() []string {
	var paths []string
	for _, below := range []string{"", "server"} {
		for _, root := range []string{p.Plugin, p.Root} {
			if filepath.IsAbs(root) {
				dir := filepath.Join(root, below, "runtime-state")
				paths = append(paths, filepath.Join(dir, "verify-active.json"), filepath.Join(dir, "verify-state.db"))
			}
		}
	}
	return paths
}

// path joins names to the root, or returns "" without a root.
func (p Project) path(names ...string) string {
	if p.Root == "" {
		return ""
	}
	return filepath.Join(append([]string{p.Root}, names...)...)
}

// MayHaveLoop reports whether a loop of another tool may be there. Each folder is looked
// up before its files, since most projects have none of them.
func (p Project) MayHaveLoop() bool {
	if p.RalphLoopDir != "" {
		return true // if the folder is wrong the user should be told
	}
	paths := append(p.VerifyActivePaths(), p.RalphLoopPath(), p.ThLoopPath(), p.FeatureLoopsDir())
	folder, missing := "", ""
	for _, path := range paths {
		if path == "" || missing != "" && strings.HasPrefix(path, missing) {
			continue
		}
		if dir := filepath.Dir(path); dir != folder {
			if folder = dir; !exists(dir) {
				missing = dir + string(filepath.Separator)
				continue
			}
		}
		if exists(path) {
			return true
		}
	}
	return false
}
