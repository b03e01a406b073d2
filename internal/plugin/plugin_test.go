package plugin_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/install"
	"github.com/pawl-dev/pawl/internal/plugin"
)

// tree is the plugin in the repository.
var tree = filepath.Join("..", "..", "plugins", "claude")

func made(t *testing.T, hook plugin.Hook) plugin.Plugin {
	t.Helper()
	p, err := plugin.New(hook)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is made from the tree's content is what stands there: hooks.json is that
// of package install, and the version is that of the content. UPDATE=1 writes it.
func TestRepositoryFilesAreCurrent(t *testing.T) {
	t.Parallel()
	p := made(t, plugin.RepositoryHook())
	have := map[string]string{}
	err := filepath.WalkDir(tree, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode()&0o111 != 0 {
			t.Errorf("%s can be executed (%v)", file, err)
		}
		text, err := os.ReadFile(file)
		name, _ := filepath.Rel(tree, file)
		have[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := texts(p)
	if os.Getenv("UPDATE") != "" {
		for name, text := range want {
			if text == have[name] {
				continue
			}
			if err := os.WriteFile(filepath.Join(tree, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("run go generate ./internal/plugin\n%s", diff)
	}
}

func texts(p plugin.Plugin) map[string]string {
	all := map[string]string{}
	for name, content := range p.Files {
		all[name] = string(content)
	}
	return all
}

func TestHooksAreThoseOfTheSettings(t *testing.T) {
	t.Parallel()
	hook := plugin.Hook{Command: `C:\Program Files\R&D "pawl"\pawl.exe`, Args: []string{"hook", "claude"}}
	var got struct {
		Hooks map[string][]install.Group
	}
	decode(t, made(t, hook).Files["pawl/hooks/hooks.json"], &got)
	want := map[string][]install.Group{}
	for _, event := range install.ClaudeHooks(hook.Command, hook.Args).Events {
		want[event.Name] = event.Groups
	}
	if diff := cmp.Diff(want, got.Hooks); diff != "" {
		t.Error(diff)
	}
	for event, groups := range got.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				if h.Command != hook.Command || len(h.Args) < 2 {
					t.Errorf("%s: %q %q goes through a shell, or elsewhere", event, h.Command, h.Args)
				}
			}
		}
	}
}

func TestVersionChangesWithTheContent(t *testing.T) {
	t.Parallel()
	hooks := []plugin.Hook{
		plugin.RepositoryHook(),
		{Command: "/opt/pawl-hook", Args: []string{"claude"}},
		{Command: "/opt/pawl", Args: []string{"hook", "claude"}},
		{Command: "/opt/pawl", Args: []string{"hook", "claude"}, Tool: "/opt/pawl"},
	}
	seen := map[string]bool{}
	for _, hook := range hooks {
		p := made(t, hook)
		if again := made(t, hook); again.Version != p.Version {
			t.Errorf("versions of one content: %s, %s", p.Version, again.Version)
		}
		if seen[p.Version] {
			t.Errorf("%+v has the version of another", hook)
		}
		seen[p.Version] = true
		var manifest struct{ Version string }
		decode(t, p.Files["pawl/.claude-plugin/plugin.json"], &manifest)
		if manifest.Version != p.Version {
			t.Errorf("the manifest has version %s, the plugin %s", manifest.Version, p.Version)
		}
	}
}

func TestTheMarketplaceNamesThePlugin(t *testing.T) {
	t.Parallel()
	p := made(t, plugin.RepositoryHook())
	var market struct {
		Name    string
		Plugins []struct{ Name, Source string }
	}
	decode(t, p.Files[".claude-plugin/marketplace.json"], &market)
	if len(market.Plugins) != 1 || market.Plugins[0].Name+"@"+market.Name != plugin.ID {
		t.Fatalf("it has %+v, not %s", market, plugin.ID)
	}
	var manifest struct{ Name string }
	decode(t, p.Files[path.Join(market.Plugins[0].Source, ".claude-plugin", "plugin.json")], &manifest)
	if manifest.Name+"@"+market.Name != plugin.ID {
		t.Errorf("the plugin is %q", manifest.Name)
	}
}

// No command starts anything by itself, and none can be started by the model.
func TestCommandsStartNothing(t *testing.T) {
	t.Parallel()
	arguments := map[string]bool{
		"loop": true, "verify": true, "ralph-loop": true, "tell": true,
		"status": false, "cancel": false, "cancel-ralph": false,
	}
	p := made(t, plugin.RepositoryHook())
	var names []string
	for name, content := range p.Files {
		command, ok := strings.CutPrefix(name, "pawl/commands/")
		if !ok {
			continue
		}
		command = strings.TrimSuffix(command, ".md")
		names = append(names, command)
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			_, rest, _ := strings.Cut(string(content), "---\n")
			front, body, ok := strings.Cut(rest, "---\n")
			if !ok || !strings.HasPrefix(string(content), "---\n") {
				t.Fatalf("no front matter in %q", content)
			}
			var head map[string]any
			if err := yaml.Unmarshal([]byte(front), &head); err != nil {
				t.Fatal(err)
			}
			if text, _ := head["description"].(string); text == "" {
				t.Error("no description")
			}
			if head["disable-model-invocation"] != true {
				t.Error("the model may start it")
			}
			// With a name of its own, a command can be typed without "pawl:" before it.
			if known := strings.Contains(command, "ralph"); known != (head["name"] == command) {
				t.Errorf("its name is %v", head["name"])
			}
			if head["allowed-tools"] != nil || strings.Contains(body, "!`") || strings.Contains(body, "```!") {
				t.Error("it runs something")
			}
			if strings.Contains(body, "$ARGUMENTS") != arguments[command] {
				t.Errorf("does it quote what was typed? want %v", arguments[command])
			}
			if !strings.Contains(body, "`pawl doctor`") {
				t.Error("it does not say what to do when the hook did not run")
			}
		})
	}
	slices.Sort(names)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(arguments)), names); diff != "" {
		t.Error(diff)
	}
}

func TestReadmeNamesTheCommands(t *testing.T) {
	t.Parallel()
	text := string(made(t, plugin.RepositoryHook()).Files["pawl/README.md"])
	if n := len(strings.Fields(text)); n < 40 {
		t.Errorf("%d words; the client's plugin directory wants 40", n)
	}
	for _, word := range []string{"/pawl:loop", "/pawl:cancel", "pawl doctor", "pawl-hook"} {
		if !strings.Contains(text, word) {
			t.Errorf("it does not speak of %s", word)
		}
	}
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
}

func TestToolsAreServedByPawlItself(t *testing.T) {
	t.Parallel()
	type server struct {
		Command string
		Args    []string
	}
	var got struct{ MCPServers map[string]server }
	decode(t, made(t, plugin.Hook{Command: "pawl-hook", Tool: `C:\R&D\pawl.exe`}).Files["pawl/.mcp.json"], &got)
	if diff := cmp.Diff(map[string]server{"pawl": {`C:\R&D\pawl.exe`, []string{"mcp"}}}, got.MCPServers); diff != "" {
		t.Error(diff)
	}
	if _, ok := made(t, plugin.Hook{Command: "pawl-hook"}).Files["pawl/.mcp.json"]; ok {
		t.Error("tools without a program")
	}
}
