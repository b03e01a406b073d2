package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
)

func TestCommandsOutOfTheRepositoryNeedTrust(t *testing.T) {
	t.Parallel()
	text := `
agent_command = "./agent"
agent_args = ["--all", "a b"]
agent_env = { PATH = "evil", KEPT = "project" }
gates = ["make test", { command = ["go", "test"], dir = "web" }]
worktree = { use = true, setup = ["npm ci"] }
`
	all := []config.Command{
		{Kind: "gate", File: "pawl.toml", Text: "make test"},
		{Kind: "gate", File: "pawl.toml", Text: "cd web && go test"},
		{Kind: "setup", File: "pawl.toml", Text: "npm ci"},
		{Kind: "agent_command", File: "pawl.toml", Text: "./agent"},
		{Kind: "agent_args", File: "pawl.toml", Text: `--all "a b"`},
		{Kind: "agent_env", File: "pawl.toml", Text: "KEPT=project"},
		{Kind: "agent_env", File: "pawl.toml", Text: "PATH=evil"},
	}
	cases := []struct {
		name   string
		layers []config.Layer
		want   []config.Command
	}{
		{"the user's own file", []config.Layer{userLayer(t, text)}, nil},
		{"the project's", []config.Layer{projectLayer(t, text)}, all},
		{"typed gates replace them", []config.Layer{projectLayer(t, `gates = "evil"`), config.Flags(map[string]any{"gates": []string{"make"}})}, nil},
		{"a typed --worktree does not vouch for the set-up", []config.Layer{
			projectLayer(t, `worktree = { setup = "evil" }`), config.Flags(map[string]any{"worktree": true}),
		}, []config.Command{{Kind: "setup", File: "pawl.toml", Text: "evil"}}},
		{"a variable of one's own does not vouch for the others", []config.Layer{
			projectLayer(t, `agent_env = { A = "evil" }`), config.Flags(map[string]any{"agent_env": map[string]string{"B": "mine"}}),
		}, []config.Command{{Kind: "agent_env", File: "pawl.toml", Text: "A=evil"}}},
		{"variables of the gates", []config.Layer{projectLayer(t, `gate_env = { B = "b", A = "evil" }`)}, []config.Command{
			{Kind: "gate_env", File: "pawl.toml", Text: "A=evil"}, {Kind: "gate_env", File: "pawl.toml", Text: "B=b"},
		}},
		{"variables of the user's for the gates", []config.Layer{projectLayer(t, `gate_env = ["A"]`)}, []config.Command{
			{Kind: "gate_env", File: "pawl.toml", Text: "A, as it is set in your shell"},
		}},
		{"but one of the same name replaces it", []config.Layer{
			projectLayer(t, `agent_env = { A = "evil" }`), config.Flags(map[string]any{"agent_env": map[string]string{"A": "mine"}}),
		}, nil},
		{"a reviewer's program, and not what it is told", []config.Layer{
			projectLayer(t, "review = 'r'\n[[gates]]\nkind = 'review'\nrubric = 'r'\nagent = 'command'\nagent_command = './a'"),
		}, []config.Command{{Kind: "agent_command", File: "pawl.toml", Text: "./a"}}},
		{"what the guard is to let through, of each layer its own", []config.Layer{
			userLayer(t, `guard = { allow = ["push"] }`),
			projectLayer(t, `guard = { allow = ["npm publish", "write:dist/**"], deny = ["run:docker"], ask = ["merge"] }`),
			loopLayer(t, "guard:\n  allow: publish"), config.Flags(nil),
		}, []config.Command{
			{Kind: "guard", File: "pawl.toml", Text: "allow npm publish"},
			{Kind: "guard", File: "pawl.toml", Text: "allow write:dist/**"},
			{Kind: "guard", File: "goal.md", Text: "allow publish"},
			{Kind: "guard", File: "pawl.toml", Text: "ask merge"},
		}},
		{"a loop file in the repository", []config.Layer{loopLayer(t, "gates: make")}, []config.Command{{Kind: "gate", File: "goal.md", Text: "make"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := config.Resolve(c.layers...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.RepoCommands()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoopFileElsewhereIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "goal.md")
	writeFile(t, path, "---\ngates: make\n---\n")
	layer, _, err := config.ReadLoopFile(path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := config.Resolve(layer); err != nil || s.RepoCommands() != nil {
		t.Errorf("commands = %v, %v", s.RepoCommands(), err)
	}
}

func TestTrustIsPinned(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "pawl")
	good := config.Command{Kind: "gate", File: "pawl.toml", Text: "make test"}
	changed := []config.Command{
		{Kind: "gate", File: "pawl.toml", Text: "make test "},
		{Kind: "gate", File: "goal.md", Text: "make test"},
		{Kind: "setup", File: "pawl.toml", Text: "make test"},
		{Kind: "gatep", File: "awl.toml", Text: "make test"},
	}
	all := append([]config.Command{good}, changed...)
	wantUntrusted(t, home, "/repo", all, all)
	trust(t, home, "/repo", good)
	wantUntrusted(t, home, "/repo", all, changed)
	wantUntrusted(t, home, "/elsewhere", all, all)
	trust(t, home, "/repo", changed...)
	wantUntrusted(t, home, "/repo", all, nil)
}

// VerifyCommand includes the paths of the file and the folder. Trust in a command thus does not
// hold for the same words elsewhere.
func TestVerifyCommandIncludesItsPaths(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "verify-active.json")
	for _, c := range []struct {
		file, dir string
		want      config.Command
	}{
		{filepath.Join(root, "state", "v.json"), "", config.Command{Kind: "verify", File: "state/v.json", Text: "npm test"}},
		{filepath.Join(root, "v.json"), root, config.Command{Kind: "verify", File: "v.json", Text: "npm test"}},
		{elsewhere, filepath.Join(root, "web", "app"), config.Command{Kind: "verify", File: filepath.ToSlash(elsewhere), Text: "cd web/app && npm test"}},
	} {
		if diff := cmp.Diff(c.want, config.VerifyCommand(root, c.file, c.dir, "npm test")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestCorruptTrustTrustsNothingAndIsKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "trust.json")
	command := config.Command{Kind: "gate", File: "pawl.toml", Text: "make"}
	trust(t, home, "/repo", command)
	writeFile(t, path, `{"roots":`)
	got, err := config.OpenTrust(home).Untrusted("/repo", []config.Command{command})
	if err == nil || len(got) != 1 {
		t.Errorf("untrusted = %v, %v", got, err)
	}
	if err := config.OpenTrust(home).Add(t.Context(), "/repo", nil); err == nil {
		t.Error("a corrupt list was written over")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != `{"roots":` {
		t.Errorf("the file became %q, %v", data, err)
	}
}

func TestTrustingAtTheSameTimeLosesNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var all []config.Command
	var adding sync.WaitGroup
	for i := range 8 {
		c := config.Command{Kind: "gate", File: "pawl.toml", Text: fmt.Sprint(i)}
		all = append(all, c)
		adding.Go(func() { trust(t, home, "/repo", c) })
	}
	adding.Wait()
	wantUntrusted(t, home, "/repo", all, nil)
}

func trust(t *testing.T, home, root string, commands ...config.Command) {
	t.Helper()
	if err := config.OpenTrust(home).Add(t.Context(), root, commands); err != nil {
		t.Error(err)
	}
}

func wantUntrusted(t *testing.T, home, root string, commands, want []config.Command) {
	t.Helper()
	got, err := config.OpenTrust(home).Untrusted(root, commands)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Replaced returns the trusted command that a changed command replaced.
func TestReplacedReturnsTheTrustedCommand(t *testing.T) {
	t.Parallel()
	list := config.OpenTrust(t.TempDir())
	gate := func(text string) config.Command {
		return config.Command{Kind: "gate", File: "pawl.toml", Text: text}
	}
	if err := list.Add(t.Context(), "/shop", []config.Command{gate("make test"), gate("make lint")}); err != nil {
		t.Fatal(err)
	}
	now := []config.Command{gate("make lint"), gate("npm audit"), gate("make test | tail"), gate("make e2e")}
	got, err := list.Replaced("/shop", now, now[1:])
	if diff := cmp.Diff(map[config.Command]string{now[2]: "make test"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	only := []config.Command{gate("make lint"), gate("npm test")}
	if got, err := list.Replaced("/shop", only, only[1:]); got[only[1]] != "make test" || err != nil {
		t.Errorf("one in the place of one: %v %v", got, err)
	}
	if got, err := list.Replaced("/other", now, now); len(got) != 0 || err != nil {
		t.Errorf("of another repository: %v %v", got, err)
	}
}
