package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

func patterns(t *testing.T, texts ...string) []guard.Pattern {
	t.Helper()
	var out []guard.Pattern
	for _, s := range texts {
		p, err := guard.ParsePattern(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func TestPatternSettingsDecide(t *testing.T) {
	t.Parallel()
	allow, deny, ask := "allow", "deny", "ask"
	cases := []struct {
		settings [][2]string
		command  string
		want     string
	}{
		{[][2]string{{allow, "push"}}, "git push", "allow "},
		{[][2]string{{allow, "push"}, {ask, "push"}}, "git push", "ask push"},
		{[][2]string{{allow, "push"}, {deny, "push"}}, "git push", "deny push"},
		{[][2]string{{ask, "push"}}, "git push", "ask push"},
		{[][2]string{{ask, "push"}, {deny, "git push"}}, "git push", "deny custom"},
		{[][2]string{{ask, "push"}}, "git push; git reset --hard", "deny destructive"},
		{[][2]string{{ask, "git push origin docs/*"}}, "git push origin docs/x", "ask custom"},
		{[][2]string{{ask, "git push origin docs/*"}}, "timeout 5 git push origin docs/x", "ask custom"},
		{[][2]string{{ask, "timeout 5 git push"}}, "timeout 5 git push", "ask custom"},
		{[][2]string{{ask, "git push origin docs/*"}}, "git push origin docs/x:main", "deny push"},
		{[][2]string{{ask, "git push"}}, "git push --force", "deny push"},
		{[][2]string{{ask, "git push"}, {allow, "push"}}, "git push", "ask custom"},
		{[][2]string{{ask, "write:Makefile"}}, "echo x > Makefile", "ask custom"},
		{[][2]string{{ask, "state"}}, "pawl trust", "deny state"},
		{[][2]string{{allow, "git push origin docs/*"}}, "git push origin docs/x", "allow "},
		{[][2]string{{allow, "git push origin docs/*"}}, "git push origin docs/x:main", "deny push"},
		{[][2]string{{allow, "git push origin docs/*"}}, "git push origin docs/x main", "deny push"},
		{[][2]string{{allow, "git push origin docs/*"}}, "git push origin docs/x; git push", "deny push"},
		{[][2]string{{allow, "git push origin docs/*"}}, "git push origin docs/$x", "deny push"},
		{[][2]string{{allow, "git push ..."}}, "git push --force origin main", "allow "},
		{[][2]string{{allow, "git push"}}, "timeout 5 git push", "allow "},
		{[][2]string{{allow, "git push"}}, "bash -c 'git push; git reset --hard'", "deny destructive"},
		{[][2]string{{deny, "npm install"}}, "npm --silent install x", "deny custom"},
		{[][2]string{{deny, "npm install"}}, "cd x && sudo npm install", "deny custom"},
		{[][2]string{{deny, "npm install"}}, "npm ci", "allow "},
		{[][2]string{{deny, "write:src/gen/**"}}, "rm -rf src", "deny custom"},
		{[][2]string{{deny, "src/gen/*.ts"}}, "mv src old", "deny custom"},
		{[][2]string{{deny, "write:src/gen/**"}}, "rm -rf lib src/main", "allow "},
		{[][2]string{{deny, "read:src/gen/**"}}, "rm -rf src", "allow "},
		{[][2]string{{deny, "run:docker"}}, "/usr/bin/docker ps", "deny custom"},
		{[][2]string{{ask, "terraform *"}}, "terraform apply", "ask custom"},
		{[][2]string{{ask, "terraform *"}, {allow, "terraform plan"}}, "terraform plan", "ask custom"},
		{[][2]string{{allow, "write:/etc/app/**"}}, "touch /etc/app/x", "allow "},
		{[][2]string{{allow, "write:/etc/app"}}, "touch /etc/app/x", "allow "},
		{[][2]string{{allow, "read:/etc/app/**"}}, "touch /etc/app/x", "deny outside"},
		{[][2]string{{allow, "write:~/.local/**"}}, "rm -rf ~/.local/state/pawl/x", "deny state"},
		{[][2]string{{allow, "state"}}, "pawl trust", "deny state"},
		{[][2]string{{allow, "write:Makefile"}}, "echo x > Makefile", "allow "},
		{[][2]string{{allow, "write:Makefile"}}, "echo x > ci/Makefile", "allow "},
		{[][2]string{{allow, "write:./Makefile"}}, "echo x > ci/Makefile", "deny protected"},
		{[][2]string{{deny, "write:dist/**"}}, "cp a dist/x/y", "deny custom"},
		{[][2]string{{deny, "dist/"}}, "cp a dist/x/y", "deny custom"},
		{[][2]string{{deny, "*.lock"}}, "rm a/b.lock", "deny custom"},
		{[][2]string{{deny, "unreadable"}}, "$g push", "deny unreadable"},
	}
	for _, c := range cases {
		r := rules()
		for _, s := range c.settings {
			to := map[string]*[]guard.Pattern{allow: &r.Allow, deny: &r.Deny, ask: &r.Ask}[s[0]]
			*to = append(*to, patterns(t, s[1])...)
		}
		v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: c.command}, r)
		if got := string(v.Decision) + " " + v.Rule; got != c.want {
			t.Errorf("%v: %s\ngot  %s (%s)\nwant %s", c.settings, c.command, got, v.Reason, c.want)
		}
	}
}

func TestInvalidPatternsAreErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "empty", "puhs": "run:puhs", "edit:x/**": "edit: must be", "write:": "no path", "read: ": "no path",
		"write:[a": "not a glob", "run:": "no command", "* push": "no command",
	} {
		if _, err := guard.ParsePattern(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func TestPatternsRoundTripAsText(t *testing.T) {
	t.Parallel()
	in := patterns(t, "push", "npm publish *", "write:dist/**")
	kept, err := json.Marshal(in)
	if err != nil || string(kept) != `["push","npm publish *","write:dist/**"]` {
		t.Fatalf("%s, %v", kept, err)
	}
	var out []guard.Pattern
	if err := json.Unmarshal(kept, &out); err != nil || out[2].String() != "write:dist/**" {
		t.Errorf("%v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`["nonsense"]`), &out); err == nil {
		t.Error("nonsense was taken")
	}
}

func TestWriteOutsideScopeIsDenied(t *testing.T) {
	t.Parallel()
	r := rules()
	r.Scope = []string{"src/auth/**", "docs", "*_test.go"}
	r.WritableFolders = append(r.WritableFolders, "/w") // the work tree is in a temporary folder
	for p, want := range map[string]string{
		"src/auth/a.go": "", "src/auth/x/b.go": "", "src/b.go": guard.RuleScope, "docs/a.md": "", "a_test.go": "",
		"src/b_test.go": "", "/tmp/x": "", "/etc/x": guard.RuleOutside, "Makefile": guard.RuleProtected,
	} {
		for _, c := range []toolcall.Call{
			{Kind: toolcall.Edit, Path: p},
			{Kind: toolcall.Run, Command: "echo x > " + p},
		} {
			if v := guard.Check(c, r); v.Rule != want {
				t.Errorf("%s %s: rule %q, want %q", c.Kind, p, v.Rule, want)
			}
		}
	}
}

// The scope applies to every write, whatever made it.
func TestScopeAppliesToEveryWrite(t *testing.T) {
	t.Parallel()
	pattern := func(s string) []guard.Pattern {
		p, err := guard.ParsePattern(s)
		if err != nil {
			t.Fatal(err)
		}
		return []guard.Pattern{p}
	}
	for what, c := range map[string]struct {
		path  string
		rules func(*guard.Rules)
		want  guard.Decision
	}{
		"in it":                      {"/w/repo/src/a.go", nil, guard.Allow},
		"outside":                    {"/w/repo/b.go", nil, guard.Deny},
		"outside, and protected":     {"/w/repo/Makefile", nil, guard.Deny},
		"no scope":                   {"/w/repo/b.go", func(r *guard.Rules) { r.Scope = nil }, guard.Allow},
		"lifted by path":             {"/w/repo/b.go", func(r *guard.Rules) { r.Allow = pattern("write:b.go") }, guard.Allow},
		"asked about by path":        {"/w/repo/b.go", func(r *guard.Rules) { r.Ask = pattern("write:b.go") }, guard.Allow},
		"the rule is lifted":         {"/w/repo/b.go", func(r *guard.Rules) { r.Allow = pattern("scope") }, guard.Allow},
		"the rule is asked about":    {"/w/repo/b.go", func(r *guard.Rules) { r.Ask = pattern("scope") }, guard.Ask},
		"denied, but in it":          {"/w/repo/src/a.go", func(r *guard.Rules) { r.Deny = pattern("write:src/**") }, guard.Allow},
		"denied, and outside of it":  {"/w/repo/b.go", func(r *guard.Rules) { r.Deny = pattern("write:b.go") }, guard.Deny},
		"an approval, from the root": {"/w/repo/b.go", func(r *guard.Rules) { r.Scope = append(r.Scope, "./b.go") }, guard.Allow},
		"the same name, elsewhere":   {"/w/repo/x/b.go", func(r *guard.Rules) { r.Scope = append(r.Scope, "./b.go") }, guard.Deny},
		"settings of a client's own": {"/w/repo/.claude/settings.json", nil, guard.Deny},
	} {
		r := rules()
		r.Scope = []string{"src/**"}
		if c.rules != nil {
			c.rules(&r)
		}
		if got := guard.CheckScope(c.path, r); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func TestSymbolicLinksAreFollowed(t *testing.T) {
	t.Parallel()
	r := rules()
	r.ResolveLinks = func(p string) string {
		if rest, ok := strings.CutPrefix(p, "/w/repo/out"); ok {
			return "/etc" + rest
		}
		if rest, ok := strings.CutPrefix(p, "/alias"); ok { // the work tree by another name
			return "/w" + rest
		}
		return p
	}
	for command, want := range map[string]string{"echo x > out/y": guard.RuleOutside, "cd out && rm y": guard.RuleOutside, "rm in/y": "", "touch /alias/repo/x; rm /alias/repo/x": "", "touch /alias/repo/Makefile": guard.RuleProtected, "rm out/": "", "rm out/..": guard.RuleDestructive} {
		if v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: command}, r); v.Rule != want {
			t.Errorf("%s: rule %q, want %q", command, v.Rule, want)
		}
	}
}

// A link in the tree counts as its target. The tree itself may be reached by a link.
func TestWorkTreeReachedByLink(t *testing.T) {
	t.Parallel()
	r := rules()
	r.ResolveLinks = func(p string) string {
		if rest, ok := strings.CutPrefix(p, "/link"); ok {
			return "/w/repo" + rest
		}
		return p
	}
	for command, want := range map[string]string{"echo x > a": "", "rm a": "", "rm -rf *": guard.RuleDestructive, "rm -rf ../x": guard.RuleOutside, "echo x > Makefile": guard.RuleProtected} {
		if v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: command, Dir: "/link"}, r); v.Rule != want {
			t.Errorf("%s: rule %q, want %q (%s)", command, v.Rule, want, v.Reason)
		}
	}
}

func TestEditOfUnreadFileIsDenied(t *testing.T) {
	t.Parallel()
	r := rules()
	r.KnowsContent = func(p string) bool { return p == "/w/repo/seen.go" }
	for _, c := range []struct{ tool, path, want string }{
		{"Edit", "seen.go", ""},
		{"Edit", "other.go", guard.RuleUnread},
		{"Write", "/w/repo/other.go", guard.RuleUnread},
	} {
		if v := guard.Check(codec.ToolCall(c.tool, map[string]any{"file_path": c.path}, ""), r); v.Rule != c.want {
			t.Errorf("%s %s: rule %q, want %q", c.tool, c.path, v.Rule, c.want)
		}
	}
}

// A verdict lists the files that the call touched.
func TestVerdictListsTouchedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call toolcall.Call
		want []string
	}{
		{toolcall.Call{Kind: toolcall.Read, Path: "/w/repo/a.go"}, []string{"/w/repo/a.go"}},
		{toolcall.Call{Kind: toolcall.Edit, Path: "a.go", Dir: "/w/repo/x"}, []string{"/w/repo/x/a.go"}},
		{toolcall.Call{Kind: toolcall.Run, Command: "cd x && sed -n 1,9p a.go && grep -n y b.go > out"}, []string{"/w/repo/x/a.go", "/w/repo/x/out", "/w/repo/x/b.go"}},
		{toolcall.Call{Kind: toolcall.Run, Command: "make"}, nil},
	} {
		if diff := cmp.Diff(c.want, guard.Check(c.call, rules()).Touched); diff != "" {
			t.Errorf("%+v touched (-want +got):\n%s", c.call, diff)
		}
	}
}

func TestUnreadableCommandPartIsNamed(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"if then (((":     "it cannot be parsed as shell: if then (((",
		"$EDITOR main.go": "$EDITOR main.go", "ls -la": "", `bash -c "$SCRIPT"`: `"$SCRIPT"`, "git push; $EDITOR x": "",
	} {
		if v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: command}, rules()); v.Unknown != want {
			t.Errorf("%s: unknown %q, want %q", command, v.Unknown, want)
		}
	}
}

// Each example of the catalogue is denied by its rule.
func TestCatalogueExamplesAreDenied(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range guard.Catalogue() {
		if rule.What == "" || rule.Instead == "" || rule.Scope == "" || seen[rule.ID] {
			t.Errorf("rule %+v", rule)
		}
		seen[rule.ID] = true
		r, c := rules(), toolcall.Call{Kind: toolcall.Run, Command: rule.Example}
		if tool, path, ok := strings.Cut(rule.Example, " "); ok && (tool == "Edit" || tool == "Write") {
			c = codec.ToolCall(tool, map[string]any{"file_path": path}, "")
		}
		switch rule.ID {
		case guard.RuleScope:
			r.Scope = []string{"src/auth/**"}
		case guard.RuleProtected:
			r.Protected = []string{"/w/repo/pawl.toml"} // as every loop does
		case guard.RuleUnread:
			r.KnowsContent = func(string) bool { return false }
		}
		if v := guard.Check(c, r); v.Rule != rule.ID || !strings.HasSuffix(v.Reason, rule.Instead) {
			t.Errorf("%s is %s %s (%s), want %s", rule.Example, v.Decision, v.Rule, v.Reason, rule.ID)
		}
	}
}

func TestDenialReasonsNamePawlToolsIfAvailable(t *testing.T) {
	t.Parallel()
	r := rules()
	r.HasPawlTools = true
	v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: "git push"}, r)
	if !strings.Contains(v.Reason, "request_merge") {
		t.Errorf("reason %q", v.Reason)
	}
	v = guard.Check(toolcall.Call{Kind: toolcall.Run, Command: "pawl lessons drop 1"}, r)
	if v.Rule != guard.RuleState || !strings.Contains(v.Reason, "add_lesson") {
		t.Errorf("%s, reason %q", v.Rule, v.Reason)
	}
}

// Pawl's own tools need no approval; tools of the same name on other servers do.
func TestPawlToolsNeedNoApproval(t *testing.T) {
	t.Parallel()
	for _, name := range guard.OwnTools() {
		if !guard.IsOwnTool(codec.ToolCall("mcp__pawl__"+name, nil, ""), "pawl") {
			t.Errorf("%s is not known", name)
		}
	}
	for _, tool := range []string{"mcp__other__verify", "mcp__pawl__push", "mcp__pawl__", "verify", ""} {
		if guard.IsOwnTool(codec.ToolCall(tool, nil, ""), "pawl") {
			t.Errorf("%q is taken for one of Pawl's", tool)
		}
	}
}
