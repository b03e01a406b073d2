package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
)

const maxGlobalFile = 16 << 20

// startFiles are files that the client reads when it starts, and not again after /clear
// (measured with 2.1.332), and git's HEAD, of whose change it may hear late. Instructions,
// skills and settings it reads again, and its shell begins anew in the work folder.
func startFiles(workDir, configDir string) []string {
	below := func(dir string, names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
		}
		return paths
	}
	return slices.Concat(below(workDir, ".claude/agents", ".claude/commands", ".mcp.json", ".git/HEAD"),
		below(configDir, "agents", "commands", "plugins/installed_plugins.json", ".credentials.json"))
}

// startState describes what a client reads only when it starts: itself, since it may be
// updated, and files. It differs where a new process would see something else.
func (a Agent) startState(o agent.Options) string {
	var state strings.Builder
	add := func(path string, info fs.FileInfo) {
		fmt.Fprintln(&state, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	if program, err := exec.LookPath(a.command()); err == nil {
		if program, err = filepath.EvalSymlinks(program); err == nil {
			if info, err := os.Stat(program); err == nil {
				add(program, info)
			}
		}
	}
	configDir, globalFile := configPaths(environ(o.Env))
	for _, root := range startFiles(o.Dir, configDir) {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil {
				if info, err := entry.Info(); err == nil {
					add(path, info)
				}
			}
			return nil
		})
	}
	return state.String() + mcpServers(globalFile, o.Dir)
}

// configPaths returns the client's folder of a user, and its file of the user's projects.
func configPaths(env []string) (dir, file string) {
	var home string
	for _, kv := range env {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "CLAUDE_CONFIG_DIR":
			dir = value
		case "HOME", "USERPROFILE":
			home = value
		}
	}
	if dir != "" {
		return dir, filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json")
}

// mcpServers returns the MCP servers for a folder in the user's file. The client keeps much else
// there, which changes all the time.
func mcpServers(file, workDir string) string {
	type servers struct {
		MCP      map[string]json.RawMessage `json:"mcpServers,omitempty"`
		Enabled  []string                   `json:"enabledMcpjsonServers,omitempty"`
		Disabled []string                   `json:"disabledMcpjsonServers,omitempty"`
		Off      []string                   `json:"disabledMcpServers,omitempty"`
	}
	var config struct {
		servers
		Projects map[string]servers `json:"projects"`
	}
	b, err := atomicfile.Read(file, maxGlobalFile)
	if err == nil {
		err = json.Unmarshal(b, &config)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(file); err == nil {
			return info.ModTime().String()
		}
	}
	b, _ = json.Marshal([]servers{config.servers, config.Projects[workDir]})
	return string(b)
}

// startReport is what a client has reported about itself at the start of a context.
type startReport struct {
	told      bool
	dir, mode string            // its folder and permission mode, which an agent's tools can change
	servers   map[string]string // MCP servers, and whether they are connected
	commands  []string          // that may be sent to it
	hooks     int               // for a session's start, that have run
}

// note processes a line.
func (o *startReport) note(l line) {
	switch {
	case l.Subtype == "hook_started" && l.HookEvent == "SessionStart" && !o.told:
		o.hooks++
	case l.Subtype == "init":
		if !o.told {
			*o = startReport{told: true, dir: l.Dir, mode: l.Mode, servers: map[string]string{}, commands: l.Commands, hooks: o.hooks}
		}
		for _, s := range l.Servers {
			if o.servers[s.Name] != connected { // it may take its time
				o.servers[s.Name] = s.Status
			}
		}
	}
}

const connected = "connected"

// differs returns an error that names what the cleared context lacks of the process's first one.
func (o startReport) differs(cleared startReport) error {
	switch {
	case !o.told || !cleared.told:
		return nil
	case o.dir != cleared.dir:
		return fmt.Errorf("the client is in another folder: %s", cleared.dir)
	case o.mode != cleared.mode:
		return fmt.Errorf("the client is in another permission mode: %s", cleared.mode)
	case o.hooks != cleared.hooks:
		return errors.New("some SessionStart hooks run only in a new process")
	}
	for name, status := range o.servers {
		if now := cleared.servers[name]; now != status && now != connected && now != "pending" {
			return fmt.Errorf("the MCP server %s was %s and is %s", name, status, cmp.Or(now, "gone"))
		}
	}
	return nil
}
