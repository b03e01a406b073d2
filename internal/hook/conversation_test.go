package hook

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
)

// conversationLines are events of a session, in any order. Lines without > happen outside of the
// hook.
const conversationLines = `
> Stop
> Stop
> Stop {"stop_hook_active":true}
> Stop {"stop_hook_active":true,"last_assistant_message":"<promise>DONE</promise>"}
> Stop {"last_assistant_message":"<promise>DONE</promise>"}
> Stop {"prompt_id":"p2"}
> Stop {"prompt_id":"n1"}
> Stop {"background_tasks":[{"id":"b1","status":"running","description":"make"}]}
> Stop {"session_id":"s2"}
> Stop {"agent_id":"a1"}
> StopFailure {"error":"overloaded"}
> StopFailure {"error":"max_output_tokens"}
> StopFailure {"error":"authentication_failed","prompt_id":"p2"}
> UserPromptSubmit {"prompt_id":"p2","prompt":"and?"}
> UserPromptSubmit {"prompt_id":"n1","prompt":"<task-notification>"}
> UserPromptExpansion {"command_name":"pawl:loop","command_args":"do it","prompt_id":"c1"}
> UserPromptExpansion {"command_name":"pawl:cancel","prompt_id":"c2"}
> UserPromptExpansion {"command_name":"pawl:tell","command_args":"x","prompt_id":"c3"}
> SessionStart {"source":"resume"}
> SessionStart {"source":"compact"}
> SessionStart {"source":"clear","session_id":"s2"}
> SessionStart {"source":"clear"}
> SessionEnd {"reason":"clear"}
> SessionEnd {"reason":"other"}
> SessionEnd {"reason":"clear","session_id":"s2"}
> PreToolUse {"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}
> PermissionRequest {"tool_name":"Bash","tool_input":{"command":"ls"}}
> PostToolUse {"tool_name":"Bash","tool_input":{"command":"true"}}
> PostToolUse {"tool_name":"Edit","tool_input":{"file_path":"a.go"}}
> PreCompact
gates green
gates red red
gates dies
gates unknown
post note x
post pause
post resume
post stop
env plugin=1
env plugin=0
env unattended=1
env unattended=0
env cap=0
env cap=2
drive
own
rm LOOP/state.json
append LOOP/journal.jsonl {"seq":9
`

// FuzzConversation sends events of a session in any order. Each answer must be valid for the client,
// a turn starts only after the last one has ended, and the journal alone gives the stored state.
func FuzzConversation(f *testing.F) {
	all := strings.Split(strings.TrimSpace(conversationLines), "\n")
	f.Add([]byte{})
	for i := range all {
		f.Add([]byte{byte(i), 0, byte(i + 1), 2, 3, byte(i), 4})
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, order []byte) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		d := &dialogue{fixture: newFixtureIn(t, dir)}
		d.begin(usualSpec())
		c := conversation{dialogue: d}
		for _, i := range order[:min(len(order), 40)] {
			verb, rest, _ := strings.Cut(all[int(i)%len(all)], " ")
			if verb != ">" {
				d.perform(verb, rest)
				continue
			}
			c.event(rest)
		}
	})
}

type conversation struct {
	*dialogue
	told  string // the loop that a turn was told of last
	turns int    // of it that had ended then
}

func (c *conversation) event(rest string) {
	c.t.Helper()
	payload := c.payload(rest)
	var out, problem bytes.Buffer
	code := Run(context.Background(), Call{
		Args: []string{"claude"}, In: bytes.NewReader(payload), Out: &out, Err: &problem, Env: c.env,
		Tool: c.toolArgs(), Parent: os.Getppid(), start: c.runToolInProcess,
	})
	p, _ := codec.ReadEvent(bytes.NewReader(payload))
	if bad := answerFaults(p.Event, out.Bytes()); bad != nil || code != exitOK || problem.Len() > 0 {
		c.t.Fatalf("%s: exit %d, %q\n%s%s", rest, code, bad, out.String(), problem.String())
	}
	if b, err := session.Open(c.home).Find(p.Session); err == nil {
		c.loop.ID, c.loop.Dir = b.Loop, strings.Replace(c.loop.Dir, c.loop.ID, b.Loop, 1)
	}
	m, _, err := record.Load(c.loop)
	if err != nil {
		c.t.Fatalf("%s: %v", rest, err)
	}
	c.checkSnapshot(m, err)
	if p.Event != codec.Stop || !strings.Contains(out.String(), "additionalContext") {
		return
	}
	data, err := os.ReadFile(c.loop.Dir + "/journal.jsonl")
	if err != nil {
		c.t.Fatal(err)
	}
	turns := strings.Count(string(data), `"kind":"turn_ended"`) + strings.Count(string(data), `"kind":"agent_failed"`)
	if c.told == c.loop.ID && turns == c.turns {
		c.t.Fatalf("%s: told twice\n%s", rest, out.String())
	}
	c.told, c.turns = c.loop.ID, turns
}
