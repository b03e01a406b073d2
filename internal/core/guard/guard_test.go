package guard_test

import (
	_ "embed"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

func rules() guard.Rules {
	return guard.Rules{
		Root:              "/w/repo",
		StateDir:          "/home/u/.local/state/pawl",
		Home:              "/home/u",
		Protected:         []string{"/w/repo/Makefile", "/w/repo/ci/**", "/w/repo/**/*.golden"},
		ProtectedBranches: []string{"main", "release/*"},
		Branch:            "pawl/brisk-otter",
		WritableFolders:   []string{"/tmp"},
	}
}

//go:embed testdata/commands.txt
var commands string

// commandTable returns each command of testdata/commands.txt with its verdict and rule.
func commandTable(t *testing.T) (out [][2]string) {
	t.Helper()
	for line := range strings.Lines(commands) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, command, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("no tab in %q", line)
		}
		out = append(out, [2]string{want, strings.ReplaceAll(command, "⏎", "\n")})
	}
	return out
}

func checkCommand(command string) guard.Verdict {
	return guard.Check(toolcall.Call{Kind: toolcall.Run, Command: command, Dir: "/w/repo"}, rules())
}

func TestCommandsAreAllowedOrDenied(t *testing.T) {
	t.Parallel()
	honest := 0
	all := commandTable(t)
	for _, row := range all {
		want, command := row[0], row[1]
		if want == "allow" {
			honest++
		}
		v := checkCommand(command)
		if got := strings.TrimSpace(string(v.Decision) + " " + v.Rule); got != want {
			t.Errorf("%s\ngot  %s (%s)\nwant %s", command, got, v.Reason, want)
		}
		if (v.Reason == "") != (v.Decision == guard.Allow) {
			t.Errorf("%s: reason %q for %s", command, v.Reason, v.Decision)
		}
	}
	if len(all) < 260 || honest < len(all)/3 {
		t.Errorf("%d commands, %d of them honest", len(all), honest)
	}
}

// A loop's own work tree may be in Pawl's state folder; only that tree may be written.
func TestWorkTreeInStateFolderIsWritable(t *testing.T) {
	t.Parallel()
	r := rules()
	r.Root = r.StateDir + "/loops/brisk-otter/tree"
	for name, want := range map[string]string{
		"greet.go": "", "../journal.jsonl": guard.RuleState, "../tree2/x": guard.RuleState, ".git": guard.RuleGitDir,
		"/home/u/.local/state/pawl/trust.json": guard.RuleState,
	} {
		v := guard.Check(toolcall.Call{Kind: toolcall.Write, Path: name, Dir: r.Root}, r)
		if v.Rule != want {
			t.Errorf("write %s: rule %q, want %q", name, v.Rule, want)
		}
	}
}

func TestFileToolDecisions(t *testing.T) {
	t.Parallel()
	cases := []struct{ tool, key, path, want string }{
		{"Write", "file_path", "/w/repo/a.go", "allow"},
		{"Write", "file_path", "a.go", "allow"},
		{"Write", "file_path", "/w/repo/../repo/a.go", "allow"},
		{"Write", "file_path", "/w/repo/../other/a.go", "deny outside"},
		{"Write", "file_path", "/w/repository/a.go", "deny outside"},
		{"Edit", "file_path", "/home/u/.bashrc", "deny outside"},
		{"Edit", "file_path", "~/.bashrc", "deny outside"},
		{"MultiEdit", "file_path", "/home/u/.local/state/pawl/loops/x/journal.jsonl", "deny state"},
		{"Edit", "file_path", "/w/repo/.git/hooks/pre-commit", "deny git-dir"},
		{"Edit", "file_path", "/w/repo/sub/.GIT/config", "deny git-dir"},
		{"Edit", "file_path", "/w/repo/.gitignore", "allow"},
		{"Edit", "file_path", "/w/repo/Makefile", "deny protected"},
		{"Edit", "file_path", "/w/repo/ci/run/all.sh", "deny protected"},
		{"Edit", "file_path", "/w/repo/x/y/z.golden", "deny protected"},
		{"Edit", "file_path", "/w/repo/z.golden", "deny protected"},
		{"NotebookEdit", "notebook_path", "/w/repo/n.ipynb", "allow"},
		{"NotebookEdit", "notebook_path", "/etc/n.ipynb", "deny outside"},
		{"Write", "file_path", "/tmp/x", "allow"},
		{"Write", "other", "x", "ask unreadable"},
		{"Read", "file_path", "/etc/passwd", "allow"},
		{"Grep", "path", "/", "allow"},
		{"mcp__x__write", "file_path", "/etc/x", "allow"},
	}
	for _, c := range cases {
		t.Run(c.tool+" "+c.path, func(t *testing.T) {
			t.Parallel()
			v := guard.Check(codec.ToolCall(c.tool, map[string]any{c.key: c.path}, ""), rules())
			if got := strings.TrimSpace(string(v.Decision) + " " + v.Rule); got != c.want {
				t.Errorf("got %s (%s), want %s", got, v.Reason, c.want)
			}
		})
	}
}

func TestWindowsPathDecisions(t *testing.T) {
	t.Parallel()
	r := guard.Rules{Root: `C:\w\repo`, StateDir: `C:\state`, Protected: []string{`C:\w\repo\ci\**`}}
	for path, want := range map[string]string{
		`C:\w\repo\a.go`:     "allow ",
		`c:/w/repo/a.go`:     "allow ",
		`sub\a.go`:           "allow ",
		`..\a.go`:            "deny outside",
		`C:\Windows\x`:       "deny outside",
		`C:\state\x`:         "deny state",
		`C:\w\repo\ci\a.yml`: "deny protected",
		`C:\w\repo\.git\x`:   "deny git-dir",
		`\\server\share\x`:   "deny outside",
	} {
		v := guard.Check(toolcall.Call{Kind: toolcall.Write, Path: path}, r)
		if got := string(v.Decision) + " " + v.Rule; got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestWorkingFolderOfCommandMatters(t *testing.T) {
	t.Parallel()
	main := rules()
	main.Branch = "main"
	switched := rules()
	switched.BranchOf = func(dir string) string { // by commands before this one
		return map[string]string{"/w/repo": "main", "/tmp/m": "release/1", "/tmp/t": "topic"}[dir]
	}
	few := rules()
	few.Exists = func(path string) bool { return path == "/w/repo/.mcp.json" }
	tree := rules() // ci is a folder
	tree.Protected, tree.Plans = []string{"/w/repo/Makefile", "/w/repo/ci"}, []string{"/w/repo/docs/plan.md"}
	tree.Exists = func(path string) bool { return path == "/w/repo/ci/." }
	files := tree
	files.Protected = []string{"/w/repo/Makefile"}
	homeless := rules()
	homeless.Home = ""
	cases := []struct {
		name, dir, command string
		rules              guard.Rules
		want               string
	}{
		{"in a folder", "/w/repo/sub", "rm ../a", rules(), "allow "},
		{"out of a folder", "/w/repo/sub", "rm ../../a", rules(), "deny outside"},
		{"elsewhere", "/tmp", "rm a", rules(), "allow "},
		{"merge on a protected branch", "", "git merge topic", main, "deny merge"},
		{"on a branch that an earlier command switched to", "/w/repo/sub", "git merge topic", switched, "deny merge"},
		{"in another work tree", "", "git -C /tmp/m merge topic", switched, "deny merge"},
		{"in a work tree on an unprotected branch", "/tmp/t", "git merge topic", switched, "allow "},
		{"after switching away", "", "git switch topic && git merge other", switched, "allow "},
		{"after a file was checked out", "", "git checkout go.sum && git merge other", switched, "deny merge"},
		{"in another repository", "/tmp/x", "git merge topic", main, "allow "},
		{"a glob that matches no existing settings", "", "sed -i s/a/b/ *.json", few, "allow "},
		{"a glob that matches existing settings", "", "rm .*.json", few, "deny settings"},
		{"a glob, with unknown files", "", "rm *.json", rules(), "deny settings"},
		{"a glob of what could only be in a file", "", "rm -rf */__pycache__ **/dist **/*.pyc", files, "allow "},
		{"a glob of what is in a protected folder", "", "rm -rf */out", tree, "deny protected"},
		{"a glob over any folders, and none", "", "rm -f **/Makefile", tree, "deny protected"},
		{"a glob over any folders, of the plan", "", "rm -f **/*.md", tree, "deny protected"},
		{"new settings", "", "echo x > opencode.json", few, "deny settings"},
		{"abort of a merge there", "", "git merge --abort", main, "allow "},
		{"an unknown home", "", "touch ~/x", homeless, "deny outside"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: c.command, Dir: c.dir}, c.rules)
			if got := string(v.Decision) + " " + v.Rule; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestDenialReasonsNameAlternative(t *testing.T) {
	t.Parallel()
	v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: "git push"}, rules())
	if !strings.Contains(v.Reason, "git push") || !strings.Contains(v.Reason, "Pawl commits it after its gates pass") {
		t.Errorf("reason = %q", v.Reason)
	}
	for command, want := range map[string]string{
		"tmux kill-server": "tmux kill-session -t NAME",
		`python3 -c "import shutil; shutil.rmtree('../x')"`: "write inside the work tree",
	} {
		if v := checkCommand(command); !strings.Contains(v.Reason, want) {
			t.Errorf("%s: reason = %q", command, v.Reason)
		}
	}
	if v := checkCommand("go env -w GOFLAGS=-v"); !strings.Contains(v.Reason, "for one command in its environment") {
		t.Errorf("reason = %q", v.Reason)
	}
	protected := rules()
	protected.Protected = []string{"/w/repo/.npmrc"}
	if v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: "npm config set --location=project a b"}, protected); v.Rule != guard.RuleProtected {
		t.Errorf("the project's .npmrc: %+v", v)
	}
	long := guard.Check(toolcall.Call{Kind: toolcall.Write, Path: "/etc/" + strings.Repeat("x", 5000) + "\n"}, rules())
	if len(long.Reason) > 300 || strings.Contains(long.Reason, "\n") {
		t.Errorf("reason of %d bytes: %q", len(long.Reason), long.Reason)
	}
}

// timeChecks returns how long n checks of a command take.
func timeChecks(n int, command string) (time.Duration, guard.Verdict) {
	var v guard.Verdict
	start := time.Now()
	for range n {
		v = guard.Check(toolcall.Call{Kind: toolcall.Run, Command: command}, rules())
	}
	return time.Since(start), v
}

// Hostile commands neither hang the guard nor exhaust its stack.
func TestHugeAndDeepCommandsAreCheckedInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, want string }{
		{strings.Repeat("(", 200_000), "ask"},
		{strings.Repeat("$(", 100_000) + "git push", "ask"},
		{strings.Repeat("if ", 80_000) + "git push", "ask"},
		{strings.Repeat("! ", 100_000) + "git push", "ask"},
		{strings.Repeat("{ ", 100_000) + "git push", "ask"},
		{strings.Repeat("x\n", 500_000) + "git push", "ask"},
		{strings.Repeat("x\n", 100_000) + "rm -rf /etc", "ask"},
		{strings.Repeat("sudo ", 10_000) + "git push", "ask"},
		{strings.Repeat("eval ", 10_000) + "git push", "ask"},
		{strings.Repeat("a | ", 10_000) + "git push", "deny"},
		{strings.Repeat("true && ", 10_000) + "git push", "deny"},
		{strings.Repeat("${a:-", 40_000) + "git push", "ask"},
		{strings.Repeat("\"$(", 40_000), "ask"},
		{strings.Repeat("$((", 40_000), "ask"},
		{"rm " + strings.Repeat("../", 50_000) + "x", "deny"},
		{"x=aaaaaaaa" + strings.Repeat("; x=$x$x", 500) + "; rm -rf /etc/$x", "ask"},
		{strings.Repeat("for i in {1..60}; do ", 8) + "echo $i" + strings.Repeat("; done", 8), "ask"},
		{"echo {1..9999999}" + strings.Repeat("{a,b}", 40), "allow"},
		{"f() { f; f; }; f", "allow"},
		{"a=b; alias a='a a a a'; a", "allow"},
		{"v=(1 2)" + strings.Repeat(`; v=("${v[@]}" "${v[@]}")`, 100), "allow"},
		{strings.Repeat("x=${x:-$(", 80) + "git push" + strings.Repeat(")}", 80), "deny"},
		{"parallel git" + strings.Repeat(" ::: a b", 15_000) + "; git push", "deny"},
		{"parallel " + strings.Repeat("{}", 60_000) + " ::: " + strings.Repeat("a", 60_000) + "; git push", "deny"},
		{"parallel ::: " + strings.Repeat("a ", 50_000) + "; git push", "deny"},
		{"echo " + strings.Repeat("a", 60_000) + " | xargs -I@ b " + strings.Repeat("@", 100_000) + "; git push", "deny"},
		{"PAGER='EDITOR=git\\ log git log' git log; git push", "deny"},
		{"a=1; b=2" + strings.Repeat("; c || a=3; c || b=4; echo $a$b", 500) + "; git push", "deny"},
	} {
		// The bound is a ratio, because other work slows both down. The worst takes 25 times as long.
		ordinary, _ := timeChecks(1000, "cd web && npm test | tail -20; git status")
		took, v := timeChecks(1, c.command)
		if string(v.Decision) != c.want {
			t.Errorf("%.20s… → %s, want %s", c.command, v.Decision, c.want)
		}
		if took > 200*ordinary {
			t.Errorf("%.20s… took %v, a thousand ordinary commands %v", c.command, took, ordinary)
		}
	}
}
