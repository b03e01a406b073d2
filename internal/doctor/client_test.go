package doctor

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/failure"
)

// well returns the facts of a machine without problems. It has the tested client, and the hook in
// the project's settings, which lift the cap.
func well() Facts {
	hooks := []hook{ours("SessionStart", project), ours("Stop", project)}
	return Facts{
		system: "linux", dir: "/app", root: "/app", pawl: "v1.0.0 linux/amd64", vars: map[string]string{},
		client: program{path: "/bin/claude", version: "2.1.332 (Claude Code)"},
		git:    program{path: "/bin/git", version: "git version 2.43.0"},
		files:  []settingsFile{set(project, settings{env: map[string]string{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}})},
		hooks:  hooks,
		home:   home{path: "/home/ann/.local/state/pawl", fileSystem: "ext4"},
	}
}

func ours(event, scope string) hook {
	return hook{
		entry: entry{event: event, kind: "command", command: "/bin/pawl-hook", args: []string{"claude"}}, scope: scope,
		argv: []string{"/bin/pawl-hook", "claude"}, found: "/bin/pawl-hook", version: "v1.0.0 linux/amd64",
		answers: []answer{{event: event, took: 2 * time.Millisecond}},
	}
}

// set returns a settings file of a scope.
func set(scope string, s settings) settingsFile {
	return settingsFile{scope: scope, path: "/" + scope + ".json", settings: s}
}

// check compares the findings of a check on a machine that has one problem.
type checkCase struct {
	name   string
	change func(*Facts)
	want   []Finding
}

func check(t *testing.T, find func(Facts) []Finding, cases []checkCase) {
	t.Helper()
	for _, c := range cases {
		f := well()
		if c.change != nil {
			c.change(&f)
		}
		if diff := cmp.Diff(c.want, find(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func one(status Status, what, fix string) []Finding {
	return []Finding{{Status: status, What: what, Fix: fix}}
}

func TestFindingsAboutTheClient(t *testing.T) {
	t.Parallel()
	says := func(version string) func(*Facts) { return func(f *Facts) { f.client.version = version } }
	check(t, checkClient, []checkCase{
		{"measured", nil, one(OK, "claude 2.1.332", "")},
		{"as old as can be", says("2.1.145 (Claude Code)"), one(OK, "claude 2.1.145", "")},
		{"not there", func(f *Facts) { f.client = program{} }, one(Bad, "claude is not on the PATH", "npm install -g @anthropic-ai/claude-code")},
		{"without background tasks", says("2.1.144"), one(Warn, "claude 2.1.144 does not report background work to hooks, so Pawl may continue the turn while the agent waits for it", "claude update")},
		{"without last messages", says("2.1.46"), one(Warn, "claude 2.1.46 does not pass the agent's last message to hooks: Pawl reads it from the transcript, which lags behind", "claude update")},
		{"very old", says("1.0.128"), one(Warn, "claude 1.0.128 does not pass the agent's last message to hooks: Pawl reads it from the transcript, which lags behind", "claude update")},
		{"newer", says("2.2.0"), one(Warn, "claude 2.2.0: not tested with this version yet", "if a loop behaves oddly: npm install -g @anthropic-ai/claude-code@2.1.332")},
		{"says nothing", says("hello"), one(Warn, "/bin/claude does not say its version", "claude --version should print its version; else npm install -g @anthropic-ai/claude-code")},
		{
			"hangs", func(f *Facts) { f.client = program{path: "/bin/claude", problem: "no answer in 5s"} },
			one(Bad, "/bin/claude does not answer: no answer in 5s", "claude --version should print its version; else npm install -g @anthropic-ai/claude-code"),
		},
	})
}

func TestLoginFindings(t *testing.T) {
	t.Parallel()
	login := func(err error) func(*Facts) { return func(f *Facts) { f.login = err } }
	out := failure.New(failure.Error, "log in", "not logged in to /bin/claude")
	check(t, checkLogin, []checkCase{
		{"logged in", nil, one(OK, "claude is logged in", "")},
		{"nobody", login(out), one(Bad, "not logged in to /bin/claude", "log in")},
		{"cannot be told", login(agent.ErrLoginUnknown), one(Skipped, "unknown whether claude is logged in", "")},
		{"no client", func(f *Facts) { f.client = program{}; f.login = out }, nil},
	})
}

func TestVersionsAreParsedAndCompared(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2.1.332 (Claude Code)": "2.1.332", "git version 2.39.5 (Apple Git-154)": "2.39.5", "git version 2.45.1.windows.1": "2.45.1",
		"git version 2.39": "2.39.0", "3.0.0-beta.1": "3.0.0", "git version 2.39.windows": "2.39.0", "v2.1.0": "", "": "", "2": "", "a.b.c 1.2.3": "1.2.3",
	} {
		v, ok := readVersion(text)
		if got := v.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %s %v, want %q", text, got, ok, want)
		}
	}
}

func TestStopCapFindings(t *testing.T) {
	t.Parallel()
	env := func(value string) settings {
		return settings{env: map[string]string{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": value}}
	}
	files := func(files ...settingsFile) func(*Facts) { return func(f *Facts) { f.files = files } }
	const install = "pawl install claude --scope local --only-cap --yes"
	check(t, checkCap, []checkCase{
		{"lifted by the project", nil, one(OK, "no cap on blocked stops", "")},
		{"default", files(), one(Warn, "the client ends a turn after 8 blocked stops without a tool call", install)},
		{"lifted by the environment", func(f *Facts) { f.files = nil; f.vars["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "0" }, one(OK, "no cap on blocked stops", "")},
		{"settings beat the environment", func(f *Facts) { f.vars["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "3" }, one(OK, "no cap on blocked stops", "")},
		{
			"the stronger file counts", files(set(user, env("0")), set(local, env("5"))),
			one(Bad, "the client ends a turn after 5 blocked stops without a tool call", `set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to "0" in the env of /local.json`),
		},
		{"a file that is not loaded does not", files(set(user, env("0")), settingsFile{scope: local, fault: errors.New("no JSON"), settings: env("5")}), one(OK, "no cap on blocked stops", "")},
		{
			"raised", files(set(user, env("50"))),
			one(Warn, "the client ends a turn after 50 blocked stops without a tool call", `set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to "0" in the env of /user.json`),
		},
		{
			"nonsense", files(set(user, env("none"))),
			one(Warn, `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP is "none", which is not a number`, `set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to "0" in the env of /user.json`),
		},
		{"a client without one", func(f *Facts) { f.files = nil; f.client.version = "2.1.142" }, one(OK, "this client does not count blocked stops", "")},
		{"not installed", func(f *Facts) { f.files, f.hooks = nil, nil }, one(Skipped, "the cap on blocked stops matters only where Pawl's hook is installed", "")},
	})
}

func TestSwitchFindings(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	files := func(files ...settingsFile) func(*Facts) { return func(f *Facts) { f.files = files } }
	const manager = "ask whoever manages this machine; pawl run works without hooks"
	check(t, checkSwitches, []checkCase{
		{"on", nil, one(OK, "client runs hooks", "")},
		{"off", files(set(user, settings{disableAllHooks: &yes})), one(Bad, "the user settings turn all hooks off (disableAllHooks)", `remove "disableAllHooks" from /user.json`)},
		{"off, and on again by a stronger file", files(set(user, settings{disableAllHooks: &yes}), set(project, settings{disableAllHooks: &no})), one(OK, "client runs hooks", "")},
		{
			"on, and off again", files(set(user, settings{disableAllHooks: &no}), set(local, settings{disableAllHooks: &yes})),
			one(Bad, "the local settings turn all hooks off (disableAllHooks)", `remove "disableAllHooks" from /local.json`),
		},
		{"managed", files(set(managed, settings{disableAllHooks: &yes})), one(Bad, "the managed settings turn all hooks off (disableAllHooks)", manager)},
		{
			"managed hooks only", files(set(managed, settings{managedHooksOnly: true})),
			one(Bad, "the managed settings allow only their own hooks (allowManagedHooksOnly in /managed.json)", manager),
		},
		{"which counts there only", files(set(project, settings{managedHooksOnly: true})), one(OK, "client runs hooks", "")},
		{"bare", func(f *Facts) { f.vars["CLAUDE_CODE_SIMPLE"] = "1" }, one(Bad, "CLAUDE_CODE_SIMPLE is set: the client runs no hooks", "unset CLAUDE_CODE_SIMPLE")},
		{"not bare", func(f *Facts) { f.vars["CLAUDE_CODE_SIMPLE"] = "0" }, one(OK, "client runs hooks", "")},
		{"safe mode", func(f *Facts) { f.vars["CLAUDE_CODE_SAFE_MODE"] = "true" }, one(Bad, "CLAUDE_CODE_SAFE_MODE is set: the client runs no hooks", "unset CLAUDE_CODE_SAFE_MODE")},
	})
}

func TestSettingsAndFolder(t *testing.T) {
	t.Parallel()
	check(t, checkSettings, []checkCase{
		{"valid", nil, one(OK, "settings are valid", "")},
		{"none", func(f *Facts) { f.files = nil }, one(OK, "no client settings", "")},
		{
			"comments", func(f *Facts) {
				f.files = []settingsFile{{scope: user, path: "/u.json", fault: errors.New("it has comments")}}
			},
			one(Bad, "the client ignores the user settings: it has comments", "fix /u.json"),
		},
		{
			"an entry that is left out", func(f *Facts) {
				f.files = []settingsFile{set(local, settings{ignored: []string{"Stop is an object, not a list"}})}
			},
			one(Warn, "the client ignores a hook of the local settings: Stop is an object, not a list", "fix it in /local.json"),
		},
	})
	check(t, checkFolder, []checkCase{
		{"in the project's folder", nil, nil},
		{"below it", func(f *Facts) { f.dir = "/app/web" }, one(Warn, "claude started in this folder does not read /project.json", "start claude in /app")},
		{"below it, where only the user has settings", func(f *Facts) { f.dir = "/app/web"; f.files[0].scope = user }, nil},
	})
	if got := checkBare(well()); len(got) != 1 || got[0].Status != Skipped {
		t.Errorf("bare: %v", got)
	}
}
