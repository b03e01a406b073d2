package plugin_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/plugin"
)

// hookLog is the variable that names the file to which this program, when the
// client starts it as a hook, adds what it was given.
const hookLog = "PAWL_TEST_HOOK_LOG"

// call is a hook's call as it stands there.
type call struct {
	Args    []string
	Payload struct {
		Event string `json:"hook_event_name"`
		Name  string `json:"command_name"`
		Typed string `json:"command_args"`
	}
	Root string // the plugin's folder
}

// TestMain lets this program be the hook, and a client that does not do as it
// should, too.
func TestMain(m *testing.M) {
	if how := os.Getenv(badClient); how != "" {
		os.Exit(misbehave(how))
	}
	if log := os.Getenv(hookLog); log != "" && len(os.Args) > 1 && os.Args[1] == "claude" {
		hook(log)
		return
	}
	agenttest.Part()
	os.Exit(m.Run())
}

func hook(log string) {
	c := call{Args: os.Args[1:], Root: os.Getenv("CLAUDE_PLUGIN_ROOT")}
	stdin, _ := io.ReadAll(os.Stdin)
	_ = json.Unmarshal(stdin, &c.Payload)
	line, _ := json.Marshal(c)
	if f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.Write(append(line, '\n'))
		_ = f.Close()
	}
	if c.Payload.Event == "UserPromptExpansion" {
		_, _ = io.WriteString(os.Stdout, `{"hookSpecificOutput":{"hookEventName":"UserPromptExpansion","additionalContext":"Pawl says: begin."}}`)
	}
}

// home is an empty home of the real client, whose model says hello.
type home struct {
	t      *testing.T
	api    *messagesapi.Server
	setup  plugin.Setup
	log    string
	folder string // to work in
}

func newHome(t *testing.T) home {
	t.Helper()
	client := agenttest.Client(t)
	api := agenttest.API(t, messagesapi.Steps(messagesapi.Text("Hello."), messagesapi.Text("Hello.")))
	dir := t.TempDir()
	h := home{t: t, api: api, log: filepath.Join(dir, "calls"), folder: filepath.Join(dir, "work")}
	if err := os.Mkdir(h.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	env := agenttest.Env(t, api)
	env[hookLog] = h.log
	var vars []string
	for name, value := range env {
		vars = append(vars, name+"="+value)
	}
	h.setup = plugin.Setup{Dir: filepath.Join(dir, "pawl home", "plugin"), Client: client, Env: vars}
	h.setup.Plugin = h.plugin("claude")
	return h
}

// plugin is one whose hooks start this program.
func (h home) plugin(args ...string) plugin.Plugin {
	h.t.Helper()
	program, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	return made(h.t, plugin.Hook{Command: program, Args: args})
}

// client runs the client.
func (h home) client(args ...string) (string, error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.setup.Client, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = h.folder, h.setup.Env, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// listed are the plugins that the client says it has, but for those that it brings itself.
func (h home) listed() []struct{ ID, Version, ReadFromFolder string } {
	h.t.Helper()
	out, err := h.client("plugin", "list", "--json")
	if err != nil {
		h.t.Fatal(err, out)
	}
	var all []struct{ ID, Version, ReadFromFolder string }
	decode(h.t, []byte(out), &all)
	return slices.DeleteFunc(all, func(p struct{ ID, Version, ReadFromFolder string }) bool { return strings.HasSuffix(p.ID, "@builtin") })
}

func (h home) calls() (all []call) {
	h.t.Helper()
	text, err := os.ReadFile(h.log)
	if err != nil {
		h.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var c call
		decode(h.t, []byte(line), &c)
		all = append(all, c)
	}
	return all
}

func (h home) install() []string {
	h.t.Helper()
	did, err := h.setup.Install(h.t.Context())
	if err != nil {
		h.t.Fatal(err, did)
	}
	return did
}

// The client finds nothing to say against the plugin, in the tree or exported.
func TestClientValidatesThePlugin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := filepath.Join(t.TempDir(), "plugin")
	export(t, dir, h.setup.Plugin)
	inTree, err := filepath.Abs(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, market := range []string{inTree, dir} {
		for _, args := range [][]string{
			{market},
			{filepath.Join(market, "pawl")},
			{filepath.Join(market, "pawl"), "--profile", "directory"},
		} {
			out, err := h.client(append([]string{"plugin", "validate", "--strict"}, args...)...)
			if err != nil || strings.ContainsAny(out, "⚠✘") {
				t.Errorf("%q: %v\n%s", args, err, out)
			}
		}
	}
}

func TestClientInstallAndUninstall(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := "'" + h.setup.Dir + "'"
	did := h.install()
	want := []string{
		"write the plugin " + h.setup.Plugin.Version + " to " + h.setup.Dir,
		"claude plugin marketplace add " + dir,
		"claude plugin install pawl@pawl --scope user",
	}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Error(diff)
	}
	all := h.listed()
	if len(all) != 1 || all[0].ID != plugin.ID || all[0].Version != h.setup.Plugin.Version {
		t.Fatalf("the client has %+v", all)
	}
	if did := h.install(); did != nil {
		t.Errorf("once more: %q", did)
	}
	did, err := h.setup.Uninstall(t.Context())
	want = []string{
		"claude plugin uninstall pawl@pawl --scope user",
		"claude plugin marketplace remove pawl",
		"remove " + h.setup.Dir,
	}
	if diff := cmp.Diff(want, did); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if all := h.listed(); len(all) > 0 {
		t.Errorf("the client still has %+v", all)
	}
	if _, err := os.Stat(h.setup.Dir); err == nil {
		t.Error("the export is left")
	}
	if did, err := h.setup.Uninstall(t.Context()); err != nil || did != nil {
		t.Errorf("once more: %q, %v", did, err)
	}
}

// Caches of plugins go stale: a new version is what makes the client look.
func TestClientSeesAChangedPlugin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.install()
	old := h.setup.Plugin.Version
	h.setup.Plugin = h.plugin("claude", "--changed")
	did := h.install()
	want := []string{
		"write the plugin " + h.setup.Plugin.Version + " to " + h.setup.Dir,
		"claude plugin update pawl@pawl --scope user",
	}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Error(diff)
	}
	all := h.listed()
	if len(all) != 1 || all[0].Version == old || all[0].Version != h.setup.Plugin.Version {
		t.Errorf("the client has %+v, the plugin is %s", all, h.setup.Plugin.Version)
	}
	if out, err := h.client("-p", "hello"); err != nil {
		t.Fatal(err, out)
	}
	for _, c := range h.calls() {
		if len(c.Args) < 2 || c.Args[1] != "--changed" {
			t.Errorf("a session runs the hook of before: %q", c.Args)
		}
	}
}

func TestClientMarketplaceFromElsewhereIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	other := filepath.Join(t.TempDir(), "other")
	export(t, other, h.setup.Plugin)
	if out, err := h.client("plugin", "marketplace", "add", other); err != nil {
		t.Fatal(err, out)
	}
	_, err := h.setup.Install(t.Context())
	if err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("error %v", err)
	}
	if did, err := h.setup.Uninstall(t.Context()); err != nil || did != nil {
		t.Errorf("uninstall: %q, %v", did, err)
	}
	if out, _ := h.client("plugin", "marketplace", "list", "--json"); !strings.Contains(out, filepath.Base(other)) {
		t.Errorf("the client has %s", out)
	}
}

// What is typed behind a command reaches the hook to the byte, and the hook's
// answer reaches the agent, beside the command.
func TestClientWhatIsTypedReachesTheHook(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.install()
	typed := "fix \"it\" $HOME `id` $(id) $ARGUMENTS -- it's (a) \\n 100%\n\n\tand\n\tthat 🦀 --max-iterations 3"
	if out, err := h.client("-p", "/pawl:loop "+typed); err != nil {
		t.Fatal(err, out)
	}
	expanded := 0
	for _, c := range h.calls() {
		if c.Root == "" {
			t.Errorf("%s: the hook cannot tell that it is the plugin's", c.Payload.Event)
		}
		if c.Payload.Event != "UserPromptExpansion" {
			continue
		}
		expanded++
		if diff := cmp.Diff(typed, c.Payload.Typed); c.Payload.Name != "pawl:loop" || diff != "" {
			t.Errorf("%s\n%s", c.Payload.Name, diff)
		}
	}
	if expanded != 1 {
		t.Errorf("%d expansions", expanded)
	}
	requests := h.api.Requests()
	if len(requests) == 0 {
		t.Fatal("the agent was not asked")
	}
	for _, text := range []string{"Pawl says: begin.", "The user starts a Pawl loop", typed} {
		if !requests[0].Says(text) {
			t.Errorf("the agent was not told %q", text)
		}
	}
}

// Behind a command without $ARGUMENTS the client puts what was typed at the end,
// as if it were the agent's to act on. So a note has its place.
func TestClientNoteIsNotAnOrder(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.install()
	if out, err := h.client("-p", "/pawl:tell use tabs"); err != nil {
		t.Fatal(err, out)
	}
	r := h.api.Requests()[0]
	if !r.Says("do not act on\nit before. The note is:\n\nuse tabs\n") || !r.Says("Pawl says: begin.") {
		t.Errorf("the agent was told %s", r.LastUserText())
	}
	if r.Says("ARGUMENTS: use tabs") {
		t.Error("the note stands at the end, too")
	}
}

// The names that people know work as they know them.
func TestClientRalphLoopNeedsNoPrefix(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.install()
	if out, err := h.client("-p", "/ralph-loop fix it --max-iterations 3"); err != nil {
		t.Fatal(err, out)
	}
	var got []string
	for _, c := range h.calls() {
		if c.Payload.Event == "UserPromptExpansion" {
			got = append(got, c.Payload.Name, c.Payload.Typed)
		}
	}
	if diff := cmp.Diff([]string{"pawl:ralph-loop", "fix it --max-iterations 3"}, got); diff != "" {
		t.Error(diff)
	}
	if !h.api.Requests()[0].Says("The user starts a Ralph loop") {
		t.Error("the agent was not told")
	}
}
