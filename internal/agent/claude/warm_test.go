package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

const (
	resetLine = `{"type":"conversation_reset"}`
	hookLine  = `{"type":"system","subtype":"hook_started","hook_event":"SessionStart"}`
)

// with is initLine with further fields.
func with(fields string) string { return strings.TrimSuffix(initLine, "}") + "," + fields + "}" }

// What a client says after /clear is what it said when it started, or a new one is due.
func TestFreshContextIsRefusedWhereItIsNotThatOfANewProcess(t *testing.T) {
	server := func(status string) string { return with(`"mcp_servers":[{"name":"x","status":"` + status + `"}]`) }
	for name, c := range map[string]struct{ start, cleared, want string }{
		"alike":                 {initLine, block(resetLine, initLine, resultLine), ""},
		"no reset":              {initLine, block(initLine, resultLine), "the client did not"},
		"not offered":           {`{"type":"system","subtype":"init","cwd":"/w","slash_commands":["compact"]}`, "", "does not offer"},
		"another folder":        {initLine, block(resetLine, strings.Replace(initLine, `"/w"`, `"/w/other"`, 1), resultLine), "folder: /w/other"},
		"another mode":          {initLine, block(resetLine, with(`"permissionMode":"plan"`), resultLine), "mode: plan"},
		"the same hooks":        {block(hookLine, initLine), block(resetLine, hookLine, initLine, resultLine), ""},
		"fewer hooks":           {block(hookLine, hookLine, initLine), block(resetLine, hookLine, initLine, resultLine), "SessionStart hooks"},
		"a server connected":    {server("pending"), block(resetLine, server("connected"), resultLine), ""},
		"a server gone":         {server("connected"), block(resetLine, initLine, resultLine), "x was connected and is gone"},
		"a server failed":       {server("connected"), block(resetLine, server("failed"), resultLine), "x was connected and is failed"},
		"a server failed early": {server("failed"), block(resetLine, server("failed"), resultLine), ""},
		"it dies":               {initLine, block(resetLine, "!exit 3"), "the client has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, block(c.start, textLine, resultLine), c.cleared)
			s := f.start()
			mustEnd(t, f.turn(s, "x"))
			fails(t, s, c.want)
			if said := strings.Contains(f.heard(), "/clear"); said != (c.cleared != "") {
				t.Errorf("/clear was sent: %t", said)
			}
		})
	}
}

// What the client reads only when it starts, a living one does not know of: files of the
// project and of the user, and its own program.
func TestFreshContextIsRefusedWhereANewProcessSeesMore(t *testing.T) {
	for name, want := range map[string]bool{
		"DIR/.claude/agents/helper.md": true, "DIR/.claude/commands/do.md": true, "DIR/.mcp.json": true, "DIR/.git/HEAD": true,
		"HOME/.claude/agents/helper.md": true, "HOME/.claude/.credentials.json": true, "HOME/.claude/plugins/installed_plugins.json": true,
		"HOME/.claude.json": true, "HOME/program": true,
		"DIR/CLAUDE.md": false, "HOME/.claude/settings.json": false, "HOME/.claude/history.jsonl": false,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, block(initLine, textLine, resultLine), block(resetLine, initLine, resultLine))
			home := t.TempDir()
			f.o.Env["HOME"] = home
			f.agent.Command = filepath.Join(home, "program")
			if err := os.Symlink(os.Args[0], f.agent.Command); err != nil {
				agenttest.Lacks(t, "no links can be made here: %v", err)
			}
			s := f.start()
			mustEnd(t, f.turn(s, "x"))
			if err := os.RemoveAll(strings.ReplaceAll(name, "HOME/program", f.agent.Command)); err != nil {
				t.Fatal(err)
			}
			path := strings.NewReplacer("DIR", f.o.Dir, "HOME", home).Replace(name)
			f.write(filepath.FromSlash(path), `{"mcpServers":{"x":{"command":"y"}}}`)
			fails(t, s, map[bool]string{true: "only when it starts"}[want])
		})
	}
}

// The client keeps its own figures in the file that names the user's servers.
func TestFreshContextIsGivenThoughTheClientCounts(t *testing.T) {
	f := newFake(t, block(initLine, textLine, resultLine), block(resetLine, initLine, resultLine))
	f.o.Env["CLAUDE_CONFIG_DIR"] = t.TempDir()
	global := filepath.Join(f.o.Env["CLAUDE_CONFIG_DIR"], ".claude.json")
	s := f.start()
	mustEnd(t, f.turn(s, "x"))
	f.write(global, `{"numStartups":7,"mcpServers":{},"projects":{"`+filepath.ToSlash(f.o.Dir)+`":{"mcpServers":{},"lastCost":1}}}`)
	fails(t, s, "")
}

func TestFreshContextIsRefusedInAProcessThatGoesOnWithASession(t *testing.T) {
	f := newFake(t, block(initLine, textLine, resultLine))
	f.o.Resume = "s1"
	s := f.start()
	mustEnd(t, f.turn(s, "x"))
	fails(t, s, "continue with a session")
}

// fails asks for a fresh context: it is refused with these words, or given.
func fails(t *testing.T, s agent.Session, want string) {
	t.Helper()
	if err := s.(agent.Warm).Fresh(t.Context()); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
