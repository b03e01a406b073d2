package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// machine holds a home folder, a project and a folder of programs.
type machine struct {
	t          *testing.T
	home, root string
	bin        string
	vars       []string
}

func newMachine(t *testing.T, programs ...string) *machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "my app"), bin: filepath.Join(dir, "bin")}
	for _, d := range []string{m.home, m.root, m.bin} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range programs {
		m.program(filepath.Join(m.bin, p))
	}
	m.vars = append(os.Environ(), "PATH="+m.bin, "HOME="+m.home, "PAWL_LOOP=brisk-otter-7f3a", "CLAUDE_CODE_MESSAGING_SOCKET=/tmp/s", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=")
	return m
}

// program installs the tests' program under a name, which selects its behaviour.
func (m *machine) program(path string) {
	m.t.Helper()
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	if os.Link(self, path) == nil {
		return
	}
	from, err := os.Open(self)
	if err != nil {
		m.t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o700)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		m.t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) write(path, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// hooks returns a settings file with one hook for an event.
func hooks(event, command string, args ...string) string {
	text, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{map[string]any{"hooks": []any{
		map[string]any{"type": "command", "command": command, "args": append([]string{}, args...)},
	}}}}})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (m *machine) gather(change func(*Options)) Facts {
	m.t.Helper()
	o := Options{Dir: m.root, Root: m.root, ClientConfig: filepath.Join(m.home, ".claude"), PawlHome: filepath.Join(m.home, "pawl", "state"), Vars: m.vars, Version: "v1.0.0 test"}
	if change != nil {
		change(&o)
	}
	return Gather(context.Background(), o)
}

func TestGatherRunsTheHookAsTheClientDoes(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "claude", "git", "pawl-hook")
	m.write(filepath.Join(m.root, ".claude", "settings.json"), hooks("SessionStart", "pawl-hook", "claude"))
	m.write(filepath.Join(m.root, ".claude", "settings.local.json"), `{"env": {"ANIMAL": "owl"}}`)
	m.write(filepath.Join(m.home, ".claude", "settings.json"), hooks("Stop", filepath.Join(m.bin, "pawl-hook"), "claude", "variable", "ANIMAL"))
	f := m.gather(nil)
	if f.client.version != "2.1.332 (Claude Code)" || f.git.version != "git version 2.43.0" {
		t.Errorf("programs: %v %v", f.client, f.git)
	}
	if len(f.hooks) != 2 || f.hooks[0].event != "Stop" || f.hooks[0].scope != user || f.hooks[1].scope != project {
		t.Fatalf("hooks: %v", f.hooks)
	}
	for i, want := range []string{"owl", ""} {
		h := f.hooks[i]
		if h.problem != "" || h.version != "v1.0.0 test" || len(h.answers) != 1 {
			t.Fatalf("hook %d: %+v", i, h)
		}
		if a := h.answers[0]; a.exit != 0 || a.err != "" || a.out != want || a.took <= 0 || a.timedOut {
			t.Errorf("hook %d answered %+v, want %q", i, a, want)
		}
	}
	if runtime.GOOS != "windows" && !f.hooks[1].shellOnly {
		t.Error("the program is on the PATH of the test only, and that is not told")
	}
	if f.home.fault != nil {
		t.Error(f.home.fault)
	}
	if _, err := os.Stat(filepath.Join(m.home, "pawl")); err == nil {
		t.Error("looking made Pawl's folder")
	}
}

// If a loop file waits for a session, the hook would start that loop. doctor runs the hook in
// another folder.
func TestGatherStartsNoLoop(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "pawl-hook")
	m.write(filepath.Join(m.root, ".claude", "settings.json"), hooks("Stop", filepath.Join(m.bin, "pawl-hook"), "claude", "touch", "was-here"))
	if f := m.gather(nil); f.hooks[0].answers[0].exit != 0 {
		t.Fatalf("%+v", f.hooks[0])
	}
	here := filepath.Join(m.root, "was-here")
	if err := os.Remove(here); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		".claude/ralph-loop.local.md", ".claude/th-loop.local.md", "runtime-state/verify-active.json", ".claude/data/ralph-loops/current/feature_list.json",
	} {
		path := filepath.Join(m.root, filepath.FromSlash(file))
		m.write(path, "---\nactive: true\n---\ngo\n")
		if f := m.gather(nil); f.hooks[0].answers[0].exit != 0 {
			t.Fatalf("%+v", f.hooks[0])
		}
		if _, err := os.Stat(here); err == nil {
			t.Errorf("the hook was run where %s is", file)
		}
		top, _, _ := strings.Cut(strings.TrimPrefix(file, ".claude/"), "/")
		if err := errors.Join(os.Remove(path), os.RemoveAll(filepath.Join(m.root, ".claude", top)), os.RemoveAll(filepath.Join(m.root, "runtime-state"))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGatherOfOtherHooks(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "theirs")
	marker := filepath.Join(m.root, "ran")
	m.write(filepath.Join(m.root, "plain.txt"), "no program")
	settings := filepath.Join(m.root, ".claude", "settings.json")
	look := func(run bool, command string, args ...string) hook {
		t.Helper()
		m.write(settings, hooks("Stop", command, args...))
		f := m.gather(func(o *Options) { o.RunHooks = run })
		if len(f.hooks) != 1 {
			t.Fatalf("%+v", f.hooks)
		}
		return f.hooks[0]
	}
	if h := look(false, "theirs", "touch", marker); h.problem != "" || len(h.answers) != 0 {
		t.Errorf("%+v", h)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Fatal("somebody else's hook was run, and nobody asked for that")
	}
	if h := look(true, "theirs", "touch", marker); len(h.answers) != 1 || h.answers[0].exit != 0 {
		t.Errorf("%+v", h)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error("it was asked for, and not run")
	}
	if h := look(true, "theirs", "fail"); len(h.answers) != 1 || h.answers[0].exit != 1 || h.answers[0].err != "no such thing" {
		t.Errorf("%+v", h)
	}
	if h := look(true, "theirs", "flood"); len(h.answers) != 1 || len(h.answers[0].out) > maxOutputBytes || h.answers[0].exit != 0 {
		t.Errorf("%d bytes", len(h.answers[0].out))
	}
	for command, want := range map[string]string{
		"nowhere": "nowhere is not on the PATH", "./nowhere": "./nowhere does not exist", "${CLAUDE_PROJECT_DIR}/plain.txt": m.root + "/plain.txt is not executable",
	} {
		if h := look(true, command); h.problem != want || h.fix == "" || len(h.answers) != 0 {
			t.Errorf("%s: %+v, want %s", command, h, want)
		}
	}
}

func TestGatherFindsMissingScripts(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.program(filepath.Join(m.bin, "bash"))
	settings := filepath.Join(m.root, ".claude", "settings.json")
	for _, command := range []string{`bash "$CLAUDE_PROJECT_DIR/stop.sh"`, "bash stop.sh"} {
		text := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": ` + quote(t, command) + `}]}]}}`
		m.write(settings, text)
		if f := m.gather(nil); !strings.HasSuffix(f.hooks[0].problem, "stop.sh does not exist") {
			t.Errorf("%s: %+v", command, f.hooks[0])
		}
	}
	m.write(filepath.Join(m.root, "stop.sh"), "exit 0")
	if f := m.gather(nil); f.hooks[0].problem != "" {
		t.Errorf("%+v", f.hooks[0])
	}
}

func quote(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRunIsBounded(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "theirs")
	f := m.gather(nil)
	h := hook{entry: entry{event: "Stop", kind: "command", command: "x", args: []string{}}}
	h.found, h.argv = lookPath(m.bin, "theirs"), []string{"theirs", "hang"}
	if a := f.run(context.Background(), h, m.root, 50*time.Millisecond); !a.timedOut || a.took > 30*time.Second {
		t.Errorf("%+v", a)
	}
	h.found = filepath.Join(m.root, "gone")
	if a := f.run(context.Background(), h, m.root, time.Second); a.fault == "" {
		t.Errorf("%+v", a)
	}
}

func TestGatherOfPlugins(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "pawl-hook")
	config := filepath.Join(m.home, ".claude")
	pluginAt := func(dir, version string) {
		m.write(filepath.Join(dir, ".claude-plugin", "plugin.json"), `{"name": "pawl", "version": `+quote(t, version)+`}`)
		m.write(filepath.Join(dir, "hooks", "hooks.json"), hooks("SessionStart", "pawl-hook", "claude"))
	}
	cache, market := filepath.Join(m.home, "cache"), filepath.Join(m.home, "market")
	pluginAt(cache, "1.0.0")
	pluginAt(filepath.Join(market, "plugins", "pawl"), "2.0.0")
	m.write(filepath.Join(config, "settings.json"), `{"enabledPlugins": {"pawl@pawl": true, "gone@m": true, "elsewhere@m": true}}`)
	m.write(filepath.Join(config, "plugins", "installed_plugins.json"), `{"version": 2, "plugins": {
		"pawl@pawl": [{"scope": "user", "installPath": `+quote(t, cache)+`}],
		"gone@m": [{"scope": "project", "installPath": `+quote(t, m.home+"/gone")+`, "projectPath": `+quote(t, m.root)+`}],
		"elsewhere@m": [{"scope": "project", "installPath": `+quote(t, cache)+`, "projectPath": "/elsewhere"}]}}`)
	expect := func(o *Options) {
		o.PluginVersion = func(command string, args []string) (string, error) {
			return strings.Join(append([]string{command}, args...), " "), nil
		}
	}
	all := cmp.AllowUnexported(plugin{})
	f := m.gather(expect)
	gone := plugin{id: "gone@m", enabled: true, dir: m.home + "/gone", dirMissing: true}
	if diff := cmp.Diff([]plugin{gone, {id: "pawl@pawl", enabled: true, dir: cache, version: "1.0.0", wantVersion: "pawl-hook claude"}}, f.plugins, all); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(f.hooks, func(h hook) bool {
		return h.location() == "plugin pawl@pawl" && len(h.answers) == 1 && h.answers[0].exit == 0
	}) {
		t.Errorf("%+v", f.hooks)
	}
	m.write(filepath.Join(market, ".claude-plugin", "marketplace.json"), `{"name": "pawl", "plugins": [{"name": "x", "source": {"source": "npm"}}, {"name": "pawl", "source": "./plugins/pawl"}]}`)
	m.write(filepath.Join(config, "plugins", "known_marketplaces.json"), `{"pawl": {"source": {"source": "directory", "path": `+quote(t, market)+`}}}`)
	if f = m.gather(expect); f.plugins[1].version != "2.0.0" || f.plugins[1].dir != filepath.Join(market, "plugins", "pawl") {
		t.Errorf("a folder's plugins are read in place: %+v", f.plugins[1])
	}
}

// readLoops returns the loops of the project that have not ended, with the facts about stale ones.
func TestGatherOfLoops(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	home := filepath.Join(m.home, "pawl")
	keep := func(root string, bound memory.BoundSession, age time.Duration) *store.Loop {
		t.Helper()
		l, err := store.Open(home).Create(root, record.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := l.Own(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Append(journal.Entry{Type: memory.TypeBound, Data: bound}); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(l.Dir, "journal.jsonl"), then, then); err != nil {
			t.Fatal(err)
		}
		return l
	}
	open := keep(m.root, memory.BoundSession{Session: "s1", Client: os.Getpid()}, 0)
	stale := keep(m.root, memory.BoundSession{Session: "s2"}, 48*time.Hour)
	lost := keep(m.root, memory.BoundSession{}, 0)
	keep(m.home, memory.BoundSession{}, 0)
	busy := keep(m.root, memory.BoundSession{Session: "s3"}, 48*time.Hour)
	if err := os.WriteFile(filepath.Join(busy.Dir, "tools.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := m.gather(func(o *Options) { o.PawlHome = home })
	if f.loopsErr != nil || len(f.loops) != 4 {
		t.Fatalf("%v %+v", f.loopsErr, f.loops)
	}
	for _, l := range f.loops {
		quiet := l.silence > 47*time.Hour
		want := map[string]loop{
			open.ID: {session: "s1", clientRuns: true}, stale.ID: {session: "s2"}, lost.ID: {}, busy.ID: {session: "s3"},
		}[l.id]
		if l.held || l.session != want.session || l.clientRuns != want.clientRuns || quiet != (l.id == stale.ID) {
			t.Errorf("%+v", l)
		}
	}
	if found := checkLoops(f); len(found) != 2 {
		t.Errorf("%+v", found)
	}
}

func TestHomeThatCannotBeCreatedIsReported(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "pawl")} {
		if h := readHome(path); h.fault == nil {
			t.Errorf("%s: %+v", path, h)
		}
	}
	dir := t.TempDir()
	if h := readHome(filepath.Join(dir, "a", "b")); h.fault != nil {
		t.Error(h.fault)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestUnreadableSettingsFilesAreReported(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if err := os.MkdirAll(filepath.Join(m.root, ".claude", "settings.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.write(filepath.Join(m.home, ".claude", "settings.json"), strings.Repeat(" ", maxFileBytes+1))
	f := m.gather(nil)
	if len(f.files) != 2 || f.files[0].fault == nil || f.files[1].fault == nil {
		t.Errorf("%+v", f.files)
	}
}
