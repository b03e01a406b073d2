package doctor

import (
	"errors"
	"testing"
	"time"
)

func TestOfficialPluginFindings(t *testing.T) {
	t.Parallel()
	plugins := func(scope string, on map[string]bool) settingsFile { return set(scope, settings{plugins: on}) }
	check(t, checkRalphPlugins, []checkCase{
		{"not there", nil, nil},
		{
			"enabled", func(f *Facts) {
				f.files = []settingsFile{plugins(user, map[string]bool{"ralph-loop@claude-plugins-official": true, "x@y": true})}
			},
			one(Bad, "plugin ralph-loop@claude-plugins-official is enabled too: it would check the same file", "claude plugin disable ralph-loop@claude-plugins-official"),
		},
		{
			"by its former name", func(f *Facts) { f.files = []settingsFile{plugins(user, map[string]bool{"ralph-wiggum@m": true})} },
			one(Bad, "plugin ralph-wiggum@m is enabled too: it would check the same file", "claude plugin disable ralph-wiggum@m"),
		},
		{"but disabled here", func(f *Facts) {
			f.files = []settingsFile{plugins(user, map[string]bool{"ralph-loop@m": true}), plugins(local, map[string]bool{"ralph-loop@m": false})}
		}, nil},
	})
}

func TestOtherHookFindings(t *testing.T) {
	t.Parallel()
	with := func(others ...hook) func(*Facts) {
		return func(f *Facts) { f.hooks = append(f.hooks, others...) }
	}
	stop := func(change func(*hook)) hook {
		h := hook{entry: entry{event: "Stop", kind: "command", command: "lint.sh"}, scope: user, argv: []string{"lint.sh"}, found: "/bin/lint.sh"}
		change(&h)
		return h
	}
	said := func(a answer) func(*Facts) { return with(stop(func(h *hook) { h.answers = []answer{a} })) }
	plain := stop(func(*hook) {})
	const fix = "fix it, or remove it from the user settings"
	const asked = "the Stop hook lint.sh (user settings), run in an isolated session, "
	fits := one(OK, "another Stop hook can also continue the turn: lint.sh (user settings)", "")
	check(t, checkOthers, []checkCase{
		{"none", nil, one(OK, "no other Stop hook", "")},
		{"of other events", with(stop(func(h *hook) { h.event, h.problem = "SessionStart", "lint.sh is not there" })), one(OK, "no other Stop hook", "")},
		{"of the official plugin, which is another finding", with(stop(func(h *hook) { h.scope, h.plugin = fromPlugin, "ralph-loop@m" })), one(OK, "no other Stop hook", "")},
		{"one", with(plain), fits},
		{
			"two", with(plain, stop(func(h *hook) { h.kind, h.argv = "prompt", nil })),
			one(OK, "2 other Stop hooks can also continue the turn: lint.sh (user settings); a hook of type prompt (user settings)", ""),
		},
		{
			"not executable", with(stop(func(h *hook) { h.problem, h.fix = "lint.sh is not executable", "chmod +x lint.sh" })),
			one(Warn, "the Stop hook lint.sh (user settings) does nothing: lint.sh is not executable", "chmod +x lint.sh"),
		},
		{"a shell's", with(stop(func(h *hook) { h.argv = nil })), one(Skipped, "the Stop hook lint.sh (user settings) is a shell command and was not run:  pawl doctor --run-hooks  runs it", "")},
		{"a shell's, tried", with(stop(func(h *hook) { h.argv, h.answers = nil, []answer{{}} })), fits},
		{"silent", said(answer{}), fits},
		{"approves", said(answer{out: `{"decision":"approve"}`}), fits},
		{"says something", said(answer{out: `{"systemMessage":"hi"}`}), fits},
		{"blocks", said(answer{out: `{"decision":"block","reason":"x"}`}), one(Warn, asked+"blocks the stop: if it blocks every stop, it uses up the client's limit", fix)},
		{"blocks by its code", said(answer{exit: 2, err: "x"}), one(Warn, asked+"blocks the stop (exit code 2): if it blocks every stop, it uses up the client's limit", fix)},
		{"fails", said(answer{exit: 1, err: "jq: not found"}), one(Warn, asked+"ended with exit code 1: jq: not found, which the client ignores", fix)},
		{"hangs", said(answer{timedOut: true, took: 10 * time.Second}), one(Warn, asked+"gave no answer in 10s", fix)},
		{"prose", said(answer{out: "all done"}), one(Warn, asked+"prints something that is not JSON, which the client ignores", fix)},
		{"null", said(answer{out: `{"decision":null}`}), one(Warn, asked+"answers the decision null, so the client ignores the whole answer", fix)},
		{"allow", said(answer{out: `{"decision":"allow"}`}), one(Warn, asked+`answers the decision "allow", so the client ignores the whole answer`, fix)},
	})
}

func TestLoopFindings(t *testing.T) {
	t.Parallel()
	has := func(loops ...loop) func(*Facts) { return func(f *Facts) { f.loops = loops } }
	well := one(OK, "no stale loop", "")
	old := 49 * time.Hour
	check(t, checkLoops, []checkCase{
		{"none", nil, well},
		{"driven", has(loop{id: "a", held: true, state: "running"}), well},
		{"paused", has(loop{id: "a", state: "paused", silence: old}), well},
		{"orphaned", has(loop{id: "a", state: "running"}), one(Warn, "loop a is orphaned: its process is gone", "pawl resume a, or pawl stop a")},
		{"in an open session", has(loop{id: "a", session: "s", clientRuns: true, silence: old}), well},
		{"in a session closed of late", has(loop{id: "a", session: "s", silence: time.Hour}), well},
		{
			"in a session closed long ago", has(loop{id: "a", session: "s", silence: old}),
			one(Warn, "loop a is stale: its session is closed; last event 2d1h ago", "claude --resume s continues it, pawl stop a ends it"),
		},
		{"unreadable", func(f *Facts) { f.loopsErr = errors.New("no such disk") }, one(Warn, "the loops cannot be read: no such disk", "pawl list --all")},
	})
}

func TestHomeAndGit(t *testing.T) {
	t.Parallel()
	check(t, checkHome, []checkCase{
		{"writable", nil, one(OK, "state can be written", "")},
		{
			"read-only", func(f *Facts) { f.home = home{path: "/h", fault: errors.New("permission denied")} },
			one(Bad, "/h, where loops live, cannot be written: permission denied", "make it writable for you, or set PAWL_HOME to a folder that is"),
		},
		{
			"far away", func(f *Facts) { f.home = home{path: "/h", fileSystem: "nfs4"} },
			one(Warn, "/h, where loops live, is on a network file system (nfs4): locks may not hold there", "set PAWL_HOME to a folder on a local disk"),
		},
	})
	check(t, checkGit, []checkCase{
		{"well", nil, one(OK, "git 2.43.0", "")},
		{"old", func(f *Facts) { f.git.version = "git version 2.29.3" }, one(Bad, "git 2.29.3 is too old", "install git 2.30 or newer and put it on PATH")},
		{"none", func(f *Facts) { f.git = program{} }, one(Bad, "git is not on the PATH: checkpoints need it", "install git 2.30 or newer and put it on PATH")},
		{
			"broken", func(f *Facts) { f.git.version, f.git.problem = "", "exit code 1 xcode-select: no tools" },
			one(Bad, "/bin/git does not say its version: exit code 1 xcode-select: no tools", "install git 2.30 or newer and put it on PATH"),
		},
	})
}

func TestKindOfFileSystem(t *testing.T) {
	t.Parallel()
	const mounts = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /home rw shared:2 - nfs4 server:/home rw
24 23 0:22 / /home/ann/my\040disk rw - ext4 /dev/sdb1 rw
25 22 0:23 / /mnt rw - ext4 /dev/sdc1 rw
26 25 0:24 / /mnt rw - cifs //server/share rw
garbage - x
`
	for path, want := range map[string]string{
		"/var/lib": "ext4", "/home/ann": "nfs4", "/home": "nfs4", "/homes": "ext4", "/home/ann/my disk/pawl": "ext4", "/mnt/pawl": "cifs", "/": "ext4",
	} {
		if got := fileSystemAt(mounts, path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if kind := fileSystemAt("", "/home"); kind != "" || isRemoteFileSystem(kind) {
		t.Errorf("unknown: %q", kind)
	}
}
