package place

import (
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/environment"
)

// Project is where a session works, and what decides where the loops of other
// tools that it may follow have their files (package statefile). These paths are
// here because the program that starts at every event looks for them; each is
// absolute, or "" where there can be none.
type Project struct {
	Root         string // its folder, absolute
	Plugin       string // $CLAUDE_PLUGIN_ROOT
	RalphLoopDir string // $RALPH_LOOP_DIR
	ThLoopAgent  string // $TH_LOOP_AGENT
	Home         string // the user's home folder, "" if there is none: settings of their client lie there
}

// At is the project in a folder, as the environment has it.
func At(root string, env environment.Environment) Project {
	return Project{Root: root, Plugin: env.Session.Plugin, RalphLoopDir: env.RalphLoopDir, ThLoopAgent: env.ThLoopAgent, Home: env.Home}
}

// RalphLoop is the state file of the official ralph-loop plugin.
func (p Project) RalphLoop() string { return p.in(".claude", "ralph-loop.local.md") }

// ThLoop is the state file of th-loop: each of its agents has its own.
func (p Project) ThLoop() string {
	switch {
	case p.ThLoopAgent == "":
		return p.in(".claude", "th-loop.local.md")
	case strings.ContainsAny(p.ThLoopAgent, "/\\\x00"):
		return ""
	}
	return p.in(".claude", "th-loop-"+p.ThLoopAgent+".local.md")
}

// RalphLoops is the folder that holds the folders of feature-list loops, current
// and named ones, where $RALPH_LOOP_DIR names none.
func (p Project) RalphLoops() string { return p.in(".claude", "data", "ralph-loops") }

// FeatureLoop is the folder that $RALPH_LOOP_DIR names.
func (p Project) FeatureLoop() string {
	switch {
	case p.RalphLoopDir == "":
		return ""
	case filepath.IsAbs(p.RalphLoopDir):
		return filepath.Clean(p.RalphLoopDir)
	}
	return p.in(p.RalphLoopDir)
}

// VerifyActive are the state files of a verify loop, the plugin's first: of each
// folder the file, and the one that newer versions have in its place. Their server
// writes below the folder that it was started in.
func (p Project) VerifyActive() []string {
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

func (p Project) in(names ...string) string {
	if p.Root == "" {
		return ""
	}
	return filepath.Join(append([]string{p.Root}, names...)...)
}

// Loops tells, by a few looks at the disk, whether a loop of another tool may be
// there. Each folder is asked for before the files in it: most projects have none.
func (p Project) Loops() bool {
	if p.RalphLoopDir != "" {
		return true // what is wrong with it is worth saying
	}
	paths := append(p.VerifyActive(), p.RalphLoop(), p.ThLoop(), p.RalphLoops())
	folder, missing := "", ""
	for _, path := range paths {
		if path == "" || missing != "" && strings.HasPrefix(path, missing) {
			continue
		}
		if dir := filepath.Dir(path); dir != folder {
			if folder = dir; !there(dir) {
				missing = dir + string(filepath.Separator)
				continue
			}
		}
		if there(path) {
			return true
		}
	}
	return false
}
