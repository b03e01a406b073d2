package claude_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// A cleared context is told what a new process is told, but for the words on /clear itself:
// also of commits and by hooks for each start of a session.
func TestClientFreshContextIsThatOfANewProcess(t *testing.T) {
	r := newRig(t, messagesapi.Bash("git -c user.name=a -c user.email=a@b commit -q --allow-empty -m LATER"), messagesapi.Text("one"), messagesapi.Text("two"))
	r.write(filepath.Join(r.o.Env["HOME"], ".claude", "settings.json"),
		`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo SAIDBYHOOK"}]}]}}`)
	r.repository()
	s := r.start()
	mustEnd(t, r.turn(s, "go"))
	if err := s.(agent.Warm).Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, r.turn(s, "go"))
	_ = s.Close()
	mustEnd(t, r.turn(r.start(), "go"))
	requests := r.api.Requests()
	cleared, started := requests[2], requests[3]
	if diff := cmp.Diff(started.Tools, cleared.Tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(told(started), told(cleared)); diff != "" {
		t.Errorf("a cleared context is told something else: %s", diff)
	}
	if !strings.Contains(told(cleared), "SAIDBYHOOK") || !strings.Contains(told(cleared), "LATER") {
		t.Errorf("it was told:\n%s", told(cleared))
	}
}

// told is what a context begins with, without what names the command that cleared it.
func told(r messagesapi.Request) string {
	var kept []string
	for _, m := range r.Messages {
		text := m.Text
		if before, rest, ok := strings.Cut(text, "<local-command-caveat>"); ok {
			_, after, _ := strings.Cut(rest, "<local-command-stdout></local-command-stdout>")
			text = before + strings.TrimLeft(after, "\n")
		}
		kept = append(kept, m.Role+": "+strings.ReplaceAll(text, "SessionStart:clear", "SessionStart:startup"))
	}
	_, system, _ := strings.Cut(r.System, "cc_entrypoint")
	return system + "\n" + strings.Join(kept, "\n")
}

// An agent that moved to another folder, and hooks that only a new process runs.
func TestClientFreshContextIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ settings, want string }{
		"folder": {"{}", "in another folder"},
		"hooks":  {`{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"true"}]}]}}`, "SessionStart hooks"},
	} {
		t.Run(name, func(t *testing.T) {
			step := messagesapi.Text("one")
			if name == "folder" {
				step = messagesapi.Tool("EnterWorktree", map[string]any{"name": "w"})
			}
			r := newRig(t, step, messagesapi.Text("one"))
			r.write(filepath.Join(r.o.Env["HOME"], ".claude", "settings.json"), c.settings)
			r.repository()
			s := r.start()
			mustEnd(t, r.turn(s, "go"))
			if err := s.(agent.Warm).Fresh(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func (r *rig) write(path, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// repository makes the work folder one with a commit.
func (r *rig) repository() {
	r.t.Helper()
	for _, args := range []string{"init -q", "-c user.name=a -c user.email=a@b commit -q --allow-empty -m first"} {
		if out, err := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.o.Dir}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
			r.t.Fatalf("%v: %s", err, out)
		}
	}
}
