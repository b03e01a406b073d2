package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// A fresh context in the same process sees what one in a new process would: instructions
// and skills as they are now, and a shell that knows nothing of the one before.
func TestClientFreshContextSeesWhatChanged(t *testing.T) {
	r := newRig(t,
		messagesapi.Bash("mkdir sub .claude .claude/skills .claude/skills/two && cd sub && export KEPT=1"+
			" && echo 'Always say NEWRULES.' >../CLAUDE.md"+
			" && printf -- '---\\nname: two\\ndescription: NEWSKILL\\n---\\nDo it.\\n' >../.claude/skills/two/SKILL.md"),
		messagesapi.Text("one"), messagesapi.Bash("echo at $PWD kept=$KEPT"), messagesapi.Text("two"))
	if err := os.WriteFile(r.path("CLAUDE.md"), []byte("Always say OLDRULES.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := r.start()
	mustEnd(t, r.turn(s, "change it"))
	if err := s.(agent.Warm).Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, r.turn(s, "look"))
	before, after := r.api.Requests()[0], r.api.Requests()[2]
	if !before.Says("OLDRULES") || after.Says("OLDRULES") || !after.Says("NEWRULES") || !after.Says("NEWSKILL") {
		t.Errorf("the fresh context was told:\n%s", after.News())
	}
	results := r.api.Requests()[3].ToolResults()
	if len(results) != 1 || !strings.Contains(results[0].Text, "kept=") || strings.Contains(results[0].Text, "kept=1") || strings.Contains(results[0].Text, "/sub ") {
		t.Errorf("its shell says %+v", results)
	}
}

// What the client reads only when it starts, a living one does not know of.
func TestFreshContextIsRefusedWhereANewProcessSeesMore(t *testing.T) {
	for _, name := range []string{".claude/agents/helper.md", ".claude/commands/do.md", ".mcp.json"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f := newFake(t, block(initLine, textLine, resultLine))
			s := f.start()
			mustEnd(t, f.turn(s, "x"))
			path := f.path(filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := s.(agent.Warm).Fresh(t.Context()); err == nil || !strings.Contains(err.Error(), "only when it starts") {
				t.Errorf("error %v", err)
			}
		})
	}
}
