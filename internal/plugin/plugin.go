// Package plugin makes Pawl's plugin for Claude Code: its hooks, the agent's tools, and the commands
// /pawl:loop, /pawl:verify, /pawl:status, /pawl:tell and /pawl:cancel, and the
// names that people know, /ralph-loop and /cancel-ralph, in a folder that is a
// marketplace to the client.
//
//	p, err := plugin.New(plugin.Hook{Command: "/usr/bin/pawl-hook", Args: []string{"claude"}})
//	changed, err := plugin.Export("/home/ann/pawl-plugin", p)
//
// Files that do not depend on the location of Pawl are in the repository, in plugins/. The hooks are
// those of package install. The version ends in a hash of the content, because the client compares
// only versions to see that its copy is stale. Setup installs the plugin with the client's commands.
//
// The arguments of the commands never pass through a shell or a model. The client passes them to
// Pawl's hook as JSON, and gives the hook's answer to the agent with the command's text.
package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/install"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/plugins"
)

//go:generate env UPDATE=1 go test -run TestRepositoryFilesAreCurrent .

// ID is the plugin's name in the client, with the name of its marketplace.
const ID = "pawl@pawl"

// marketplace is the name of the marketplace, as its file says.
const marketplace = "pawl"

// The generated files of the marketplace.
const (
	marketplaceFile = ".claude-plugin/marketplace.json"
	manifestFile    = "pawl/.claude-plugin/plugin.json"
	hooksFile       = "pawl/hooks/hooks.json"
	toolsFile       = "pawl/.mcp.json"
)

// Hook holds the programs that the plugin starts without a shell: for its hooks, and for the agent's
// tools.
type Hook struct {
	Command string   // absolute, or a name that is found on PATH
	Args    []string // before the arguments that an event adds
	Tool    string   // pawl, as in Command; "" = no tools
}

// RepositoryHook returns the hook of the plugin in the repository, for users who add a checkout as
// a marketplace: it names programs without a path.
func RepositoryHook() Hook { return Hook{"pawl-hook", []string{"claude"}, "pawl"} }

// Plugin is the plugin with its marketplace.
type Plugin struct {
	Version string            // "1.0.0+" and eight digits of the content's hash
	Files   map[string][]byte // by path in the marketplace's folder, with slashes
}

// New returns the plugin whose hooks start a program.
func New(hook Hook) (Plugin, error) {
	files := map[string][]byte{}
	tree, err := fs.Sub(plugins.Claude, "claude")
	if err == nil {
		err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[path], err = fs.ReadFile(tree, path)
			}
			return err
		})
	}
	if err == nil {
		files[hooksFile], err = hooksJSON(hook)
	}
	delete(files, toolsFile)
	if err == nil && hook.Tool != "" {
		files[toolsFile], err = mcpJSON(hook.Tool)
	}
	if err != nil {
		return Plugin{}, fmt.Errorf("make the plugin: %w", err)
	}
	version := setVersion(files)
	return Plugin{version, files}, nil
}

// hooksJSON returns the content of hooks.json.
func hooksJSON(hook Hook) ([]byte, error) {
	return atomicfile.EncodeIndentedJSON(struct {
		Description string         `json:"description"`
		Hooks       install.Events `json:"hooks"`
	}{
		"Pawl acts only in sessions with a loop",
		install.ClaudeHooks(hook.Command, hook.Args).Events,
	})
}

// mcpJSON returns the content of .mcp.json: a server for every session, which finds the session's
// loop at each call.
func mcpJSON(program string) ([]byte, error) {
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	return atomicfile.EncodeIndentedJSON(map[string]map[string]server{"mcpServers": {"pawl": {program, []string{"mcp"}}}})
}

// versionField matches the version in the manifest: the part in the repository, and the hash that
// setVersion appends.
var versionField = regex.New(`("version": ")([^"+]*)[^"]*`)

// setVersion writes the version into the manifest and returns it. Its hash is over each path and
// content, in order, with their lengths, without the hash itself.
func setVersion(files map[string][]byte) string {
	manifest := versionField.ReplaceAll(files[manifestFile], []byte("${1}${2}"))
	base := versionField.FindSubmatch(manifest)[2]
	sum := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		content := files[path]
		if path == manifestFile {
			content = manifest
		}
		_, _ = fmt.Fprintf(sum, "%d %s %d %s\n", len(path), path, len(content), content)
	}
	v := string(base) + "+" + hex.EncodeToString(sum.Sum(nil)[:4])
	files[manifestFile] = versionField.ReplaceAll(manifest, []byte("${1}"+v))
	return v
}
