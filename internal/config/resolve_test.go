package config_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
)

func TestNothingSetMeansDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Resolve(config.Layer{}, config.Flags(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Defaults()
	want.Sources = map[string]config.Source{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHigherLayersWin(t *testing.T) {
	t.Parallel()
	user := userLayer(t, `
model = "from user"
max_cost = 1
session = "turn"
name = "from user"
protect = ["user/**"]
agent_env = { A = "user", B = "user" }
guard = { deny = ["run:docker"], protected_branches = "release/*" }
`)
	project := projectLayer(t, `
max_cost = "2.50"
session = "hybrid"
name = "from project"
protect = ["project/**"]
agent_env = { B = "project", C = "" }
[guard]
deny = ["npm install"]
ask = ["merge"]
`)
	file := loopLayer(t, "session: continue\nname: from loop\nprotect: loop/**")
	flags := config.Flags(map[string]any{"name": "from flags"})
	got, err := config.Resolve(user, project, file, flags)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"model": "from user", "max_cost": "2.50", "session": "continue", "name": "from flags", "protect": "user/**, project/**, loop/**", "guard": "deny run:docker, npm install; ask merge; protected branches release/*"}
	for key, value := range want {
		if v := explained(got, key).Value; v != value {
			t.Errorf("%s = %q, want %q", key, v, value)
		}
	}
	if diff := cmp.Diff(map[string]string{"A": "user", "B": "project", "C": ""}, got.AgentEnv); diff != "" {
		t.Error(diff)
	}
}

func TestEachValueKnowsItsSource(t *testing.T) {
	t.Parallel()
	project := projectLayer(t, "# comment\nmodel = \"m\"\n\n[worktree]\nsetup = \"npm ci\"\n\n[[gates]]\ncommand = \"a\"\n\n[[gates]]\ncommand = \"b\"\n")
	file := loopLayer(t, "plan: p.md\nmax_cost: 1")
	got, err := config.Resolve(project, file, config.Flags(map[string]any{"worktree": true}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"model": "pawl.toml:2", "gates": "pawl.toml:7", "plan": "goal.md:2", "max_cost": "goal.md:3", "worktree": "flags", "branch": "default"}
	for key, source := range want {
		if s := explained(got, key).Source; s != source {
			t.Errorf("%s is from %s, want %s", key, s, source)
		}
	}
	if s := got.Sources["worktree.setup"].String(); s != "pawl.toml:5" || !got.Worktree.Use || len(got.Worktree.Setup) != 1 {
		t.Errorf("worktree = %+v, its set-up from %s", got.Worktree, s)
	}
}

func TestFormsOfValues(t *testing.T) {
	t.Parallel()
	type s = config.Settings
	cases := []struct {
		toml string
		got  func(s) any
		want any
	}{
		{`max_duration = "90m"`, func(s s) any { return s.MaxDuration }, 90 * time.Minute},
		{`max_duration = 0`, func(s s) any { return s.MaxDuration }, time.Duration(0)},
		{`max_cost = "5.50"`, func(s s) any { return s.MaxCost }, config.USD(5.5)},
		{`max_cost = "$5"`, func(s s) any { return s.MaxCost }, config.USD(5)},
		{`max_cost = 5.5`, func(s s) any { return s.MaxCost }, config.USD(5.5)},
		{`max_iterations = 0`, func(s s) any { return s.MaxIterations }, config.Iterations(0)},
		{`max_iterations = "auto"`, func(s s) any { return s.MaxIterations }, config.Auto},
		{`max_tokens = 2_000_000`, func(s s) any { return s.MaxTokens }, int64(2_000_000)},
		{`handover_at = "70%"`, func(s s) any { return s.HandoverAt }, config.Percent(70)},
		{`handover_at = 70`, func(s s) any { return s.HandoverAt }, config.Percent(70)},
		{`allow_test_changes = true`, func(s s) any { return s.AllowTestChanges }, config.TaskSet{"*"}},
		{`allow_test_changes = false`, func(s s) any { return s.AllowTestChanges }, config.TaskSet(nil)},
		{`allow_test_changes = ["US-1"]`, func(s s) any { return s.AllowTestChanges }, config.TaskSet{"US-1"}},
		{`worktree = true`, func(s s) any { return s.Worktree }, config.Worktree{Use: true}},
		{`worktree = { use = true, setup = ["a", "b"] }`, func(s s) any { return s.Worktree }, config.Worktree{Use: true, Setup: []string{"a", "b"}}},
		{`evidence = "reviewed"`, func(s s) any { return s.Evidence }, config.Evidence{Default: gate.Reviewed}},
		{
			`evidence = { US-1 = "unproven" }`, func(s s) any { return s.Evidence },
			config.Evidence{Default: gate.Proven, Tasks: map[string]gate.Evidence{"US-1": gate.Unproven}},
		},
		{
			`evidence = { default = "reviewed", "a=b" = "unproven" }`, func(s s) any { return s.Evidence },
			config.Evidence{Default: gate.Reviewed, Tasks: map[string]gate.Evidence{"a=b": gate.Unproven}},
		},
		{
			`evidence = ["a=b=unproven", "reviewed"]`, func(s s) any { return s.Evidence },
			config.Evidence{Default: gate.Reviewed, Tasks: map[string]gate.Evidence{"a=b": gate.Unproven}},
		},
		{`every = "5m"`, func(s s) any { return s.Kind }, loop.Periodic},
		{`gates = "make test"`, func(s s) any { return s.Gates }, []gate.Gate{{Name: "make test", Command: "make test"}}},
		{`gates = []`, func(s s) any { return len(s.Gates) }, 0},
		{
			`gates = ["a", { command = ["go", "test", "a b"] }]`, func(s s) any { return s.Gates },
			[]gate.Gate{{Name: "a", Command: "a"}, {Name: `go test "a b"`, Argv: []string{"go", "test", "a b"}}},
		},
		{
			"[[gates]]\nname='t'\ncommand='a'\ndir='web'\ntimeout='5m'\ntier='final'\nreport='junit:out.xml'\nflaky=true\nbaseline='allow'", func(s s) any { return s.Gates },
			[]gate.Gate{{Name: "t", Command: "a", Dir: "web", Timeout: 5 * time.Minute, Tier: gate.Final, Report: "junit:out.xml", Flaky: true, AllowBaseline: true}},
		},
		{
			"[[gates]]\nkind='review'\nrubric='r'\n[[gates]]\nname='o'\nkind='review'\nrubric='@r.md'\nagent='command'\nagent_command='./a'\nmodel='m'\nmax_cost=2\napproves_tests=true\ntimeout='5m'", func(s s) any { return s.Gates },
			[]gate.Gate{
				{Name: "review", Kind: gate.ByReview, Rubric: "r"},
				{Name: "o", Kind: gate.ByReview, Rubric: "@r.md", Agent: "command", AgentCommand: "./a", Model: "m", MaxCostUSD: 2, ApprovesTests: true, Timeout: 5 * time.Minute},
			},
		},
		{`gates = [{ kind = "command", command = "a" }]`, func(s s) any { return s.Gates }, []gate.Gate{{Name: "a", Command: "a"}}},
		{`kind = "answer"`, func(s s) any { return s.Evidence }, config.Evidence{Default: gate.Reviewed}},
		{"kind = 'answer'\nevidence = 'proven'", func(s s) any { return s.Evidence }, config.Evidence{Default: gate.Proven}},
	}
	for _, c := range cases {
		t.Run(c.toml, func(t *testing.T) {
			t.Parallel()
			s, err := config.Resolve(projectLayer(t, c.toml))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.got(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// samples has a value for every key that differs from its default.
func samples() map[string]any {
	return map[string]any{
		"tasks": []any{"T01"}, "no_optional": true, "name": "n", "kind": "periodic", "every": "5m", "plan": "plan.md", "agent": "command", "agent_command": "./agent",
		"agent_args": []any{"--x"}, "agent_env": map[string]any{"A": "b"}, "gate_env": map[string]any{"A": "b"}, "model": "m", "gates": []any{"make test"},
		"gates_when": "every-turn", "evidence": "reviewed", "max_iterations": 3, "max_duration": "1h", "max_cost": 2.5,
		"max_tokens": 7, "turn_timeout": "2h", "idle_timeout": "3m", "mutation_time": "4m", "answer_within": "2h", "approve": []any{"task"}, "session": "turn", "handover_at": "50%", "warm": false,
		"promise": "READY", "on_failure": "keep", "on_hangup": "detach", "worktree": true, "branch": "current", "allow_dirty": true, "commit_message": "JIRA-1 {title}", "squash": false, "ratchet": false,
		"protect": []any{"docs/**"}, "tests": []any{"*_spec.go"}, "work": []any{"*.csv"}, "allow_test_changes": []any{"US-1"},
		"verify": map[string]any{"tries": 2, "isolate": false}, "review": []any{"no dead code"}, "review_rounds": 2,
		"guard": map[string]any{"deny": "push"}, "telemetry": map[string]any{"endpoint": "https://collector.example"},
		"tracker": map[string]any{"command": "./tracker", "label": "in work"}, "confine": "strict", "merge": "pr", "notify": []any{"bell"}, "confine_hosts": []any{"packages.example.org"},
	}
}

// Every layer can set every option, with the same meaning. Only a user can set telemetry.
func TestEveryKeyInEveryLayer(t *testing.T) {
	t.Parallel()
	values := samples()
	keys := config.Defaults().Explain()
	for _, key := range keys {
		if _, ok := values[key.Key]; !ok {
			t.Errorf("there is no sample for %s", key.Key)
		}
	}
	if n := reflect.TypeFor[config.Settings]().NumField() - 1; n != len(keys) { // all but Sources
		t.Errorf("%d fields, %d documented keys", n, len(keys))
	}
	shared := maps.Clone(values)
	delete(shared, "telemetry")
	layers := map[string]config.Layer{
		"user":    userLayer(t, inTOML(t, values)),
		"project": projectLayer(t, inTOML(t, shared)),
		"loop":    loopLayer(t, inJSON(t, shared)), // JSON is YAML
		"flags":   config.Flags(values),
	}
	var want config.Settings
	for name, layer := range layers {
		got, err := config.Resolve(layer)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defaults := config.Defaults()
		for i, e := range got.Explain() {
			if e.Key == "telemetry" && (name == "project" || name == "loop") {
				continue
			}
			if e.Value == defaults.Explain()[i].Value || e.Source == "default" {
				t.Errorf("%s: %s is still %q from %s", name, e.Key, e.Value, e.Source)
			}
		}
		got.Sources, got.Telemetry = nil, config.Telemetry{}
		if want.Kind == "" {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSettingsSurviveJSON(t *testing.T) {
	t.Parallel()
	want, err := config.Resolve(config.Flags(samples()))
	if err != nil {
		t.Fatal(err)
	}
	var got config.Settings
	if err := json.Unmarshal([]byte(inJSON(t, want)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A call of Resolve must not change the result of an earlier call.
func TestSettingsShareNothing(t *testing.T) {
	t.Parallel()
	low := projectLayer(t, "protect = ['a']\nagent_env = { A = 'a' }\n[evidence]\nx = 'reviewed'")
	first, err := config.Resolve(low)
	if err != nil {
		t.Fatal(err)
	}
	before := inJSON(t, first)
	_, err = config.Resolve(low, config.Flags(map[string]any{
		"protect": []string{"b"}, "agent_env": map[string]any{"A": "b"}, "evidence": []string{"x=unproven"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, inJSON(t, first)); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsAnswerQueries(t *testing.T) {
	t.Parallel()
	e := config.Evidence{Default: gate.Proven, Tasks: map[string]gate.Evidence{"a": gate.Reviewed}}
	if e.For("a") != gate.Reviewed || e.For("b") != gate.Proven {
		t.Error("evidence of a task")
	}
	for limit, want := range map[config.Iterations]int{config.Auto: 40, 0: 0, 7: 7} {
		if got := limit.For(10); got != want {
			t.Errorf("limit %d = %d, want %d", limit, got, want)
		}
	}
	if config.Auto.For(1) != 25 {
		t.Error("at least 25")
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "pawl.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := config.ReadProject(root); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error = %v", err)
	}
	if l, err := config.ReadProject(t.TempDir()); err != nil || !reflect.ValueOf(l).IsZero() {
		t.Errorf("no file: %v, %v", l, err)
	}
	huge := t.TempDir()
	writeFile(t, filepath.Join(huge, "pawl.toml"), strings.Repeat("# much\n", 1<<20))
	if _, err := config.ReadProject(huge); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("error = %v", err)
	}
}

func explained(s config.Settings, key string) config.Explained {
	for _, e := range s.Explain() {
		if e.Key == key {
			return e
		}
	}
	return config.Explained{}
}

func userLayer(t *testing.T, toml string) config.Layer {
	t.Helper()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "pawl", "config.toml"), toml)
	l, err := config.ReadUser(environment.Environment{ConfigHome: home})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func projectLayer(t *testing.T, toml string) config.Layer {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "pawl.toml"), toml)
	l, err := config.ReadProject(root)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func loopLayer(t *testing.T, front string) config.Layer {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "goal.md"), "---\n"+front+"\n---\nDo it.\n")
	l, _, err := config.ReadLoopFile(filepath.Join(root, "goal.md"), root)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// inTOML writes values as TOML. Except for tables, their JSON is valid TOML.
func inTOML(t *testing.T, values map[string]any) string {
	t.Helper()
	var b strings.Builder
	for key, v := range values {
		text := inJSON(t, v)
		if _, ok := v.(map[string]any); ok {
			text = strings.ReplaceAll(text, `":`, `"=`)
		}
		fmt.Fprintf(&b, "%s = %s\n", key, text)
	}
	return b.String()
}
