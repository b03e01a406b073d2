package doctor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/install"
)

// everywhere returns the hooks of a full installation in a scope.
func everywhere(scope string) []hook {
	var hooks []hook
	for _, event := range install.ClaudeHooks("", nil).Events.Names() {
		hooks = append(hooks, ours(event, scope))
	}
	return hooks
}

func TestInstallationFindings(t *testing.T) {
	t.Parallel()
	hooks := func(hooks ...[]hook) func(*Facts) {
		return func(f *Facts) {
			f.hooks = nil
			for _, h := range hooks {
				f.hooks = append(f.hooks, h...)
			}
		}
	}
	theirs := []hook{{entry: entry{event: "Stop", kind: "command", command: "say pawl-hook"}, scope: user, argv: []string{"say", "pawl-hook"}}}
	plugins := everywhere(fromPlugin)
	for i := range plugins {
		plugins[i].plugin = "pawl@pawl"
	}
	check(t, checkInstalled, []checkCase{
		{"once", hooks(everywhere(user)), one(OK, "hook installed (user settings)", "")},
		{"twice", hooks(everywhere(user), plugins), one(OK, "hook installed (user settings, plugin pawl@pawl): installed twice, which is fine: only the first one that runs decides", "")},
		{"not at all", hooks(theirs), one(Warn, "Pawl's hook is not installed: no loops inside a session (pawl run needs none)", "pawl install claude")},
		{"by an older Pawl", hooks(everywhere(local)[2:]), append(one(OK, "hook installed (local settings)", ""),
			one(Warn, "Pawl's hook in the local settings misses SessionStart, SessionEnd", "pawl install claude --scope local")...)},
		{
			"a plugin that is not enabled", func(f *Facts) { f.hooks, f.plugins = nil, []plugin{{id: "pawl@pawl"}} },
			one(Warn, "plugin pawl@pawl is installed but not enabled: no loops inside a session", "claude plugin enable pawl@pawl"),
		},
	})
}

func TestMissingHookProgramsAreFound(t *testing.T) {
	t.Parallel()
	each := func(change func(*hook)) func(*Facts) {
		return func(f *Facts) {
			for i := range f.hooks {
				change(&f.hooks[i])
			}
		}
	}
	check(t, checkPrograms, []checkCase{
		{"well", nil, one(OK, "hook and pawl are one version", "")},
		{
			"not there", each(func(h *hook) { h.found, h.problem = "", "/bin/pawl-hook does not exist" }),
			one(Bad, "the hook of the project settings does not run: /bin/pawl-hook does not exist", "pawl install claude --scope project"),
		},
		{
			"another program of that name", each(func(h *hook) { h.version = "" }),
			one(Bad, "/bin/pawl-hook does not identify itself as Pawl's hook", "pawl install claude --scope project"),
		},
		{
			"another version", each(func(h *hook) { h.version = "v0.9.0 linux/amd64" }),
			one(Warn, "/bin/pawl-hook is another version than pawl: v0.9.0 linux/amd64, not v1.0.0 linux/amd64", "install both from one release"),
		},
		{
			"found from a terminal only", each(func(h *hook) { h.argv[0], h.shellOnly, h.scope = "pawl-hook", true, user }),
			one(Warn, "pawl-hook (user settings) is found by the PATH of this terminal only: a client that an editor or the desktop starts may not find it",
				"put it in a folder on every program's PATH, or write its full path: pawl install claude --scope local"),
		},
		{"two installations, one of them broken", func(f *Facts) {
			f.hooks = append(f.hooks, ours("Stop", managed))
			f.hooks[2].problem = "/bin/pawl-hook is not executable"
		}, one(Bad, "the hook of the managed settings does not run: /bin/pawl-hook is not executable", "ask whoever manages this machine")},
		{"two installations, both well", func(f *Facts) { f.hooks = append(f.hooks, ours("Stop", managed)) }, one(OK, "hook and pawl are one version", "")},
		{"none", func(f *Facts) { f.hooks = nil }, nil},
	})
}

func TestHookAnswersAreChecked(t *testing.T) {
	t.Parallel()
	stop := func(a answer) func(*Facts) {
		a.event = "Stop"
		return func(f *Facts) { f.hooks[1].answers = []answer{a} }
	}
	const fix = "pawl install claude --scope project"
	const asked = "the hook of the project settings, asked at Stop in a session without a loop, "
	check(t, checkAnswers, []checkCase{
		{"nothing, at once", nil, one(OK, "hook answers in 2 ms", "")},
		{"nothing, faster than can be told", stop(answer{took: time.Microsecond}), one(OK, "hook answers in 2 ms", "")},
		{"nothing, late", stop(answer{took: 700 * time.Millisecond}), one(Warn, "hook answers in 0.7s", "find out what slows program starts (a virus scanner, a slow disk)")},
		{"never", stop(answer{took: 5 * time.Second, timedOut: true, exit: -1}), one(Bad, asked+"gave no answer in 5s", fix)},
		{"a crash", stop(answer{exit: 2, err: "panic: oops"}), one(Bad, asked+"ended with exit code 2: panic: oops", fix)},
		{"a quiet crash", stop(answer{exit: 1}), one(Bad, asked+"ended with exit code 1", fix)},
		{"words", stop(answer{out: "hello"}), one(Bad, asked+"said something: hello", fix)},
		{"no start", stop(answer{fault: "exec format error"}), one(Bad, asked+"could not be started: exec format error", fix)},
		{"nobody to ask", func(f *Facts) { f.hooks = nil }, one(Skipped, "Pawl's hook is not installed", "")},
	})
}

func TestPluginFindings(t *testing.T) {
	t.Parallel()
	has := func(p plugin) func(*Facts) {
		p.id = "pawl@pawl"
		return func(f *Facts) { f.plugins = []plugin{{id: "other@pawl", enabled: true, version: "7"}, p} }
	}
	const fix = "pawl install claude --scope plugin"
	check(t, checkPlugin, []checkCase{
		{"none", nil, nil},
		{"not enabled", has(plugin{version: "1", wantVersion: "2"}), nil},
		{"fresh", has(plugin{enabled: true, version: "1", wantVersion: "1"}), one(OK, "plugin pawl@pawl 1", "")},
		{"stale", has(plugin{enabled: true, version: "1", wantVersion: "2"}), one(Warn, "plugin pawl@pawl is stale: 1, and this Pawl brings 2", fix)},
		{"gone", has(plugin{enabled: true, dirMissing: true, dir: "/cache/pawl"}), one(Bad, "plugin pawl@pawl is enabled, but its folder /cache/pawl is missing", fix)},
		{"of another hook", has(plugin{enabled: true, version: "1"}), one(Skipped, "plugin pawl@pawl 1: unknown which version belongs to this Pawl", "")},
	})
}

// Examine returns a finding of every check, with the check's name.
func TestExamineReportsEveryCheck(t *testing.T) {
	t.Parallel()
	f := well()
	f.hooks = everywhere(project)
	var all []string
	for _, found := range Examine(f) {
		if found.Check == "" || found.What == "" {
			t.Errorf("%v", found)
		}
		all = append(all, string(found.Status)+" "+found.What)
	}
	want := []string{
		"ok claude 2.1.332", "ok claude is logged in", "ok settings are valid", "ok client runs hooks", "ok hook installed (project settings)", "ok hook and pawl are one version",
		"ok hook answers in 2 ms", "ok no cap on blocked stops", "ok no other Stop hook", "ok no stale loop", "ok state can be written", "ok git 2.43.0",
		"ok unknown what --confine can do here",
		"skipped unknown whether claude is a shell alias with --bare or --safe-mode, which run no hooks (alias claude  shows it)",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}
