package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// liveSession is a user's session with a loop in it, as its client sees it.
type liveSession struct {
	program    string // pawl-hook
	daemon     *daemon
	all        bool   // its work counts too
	home       string // $PAWL_HOME
	root       string
	session    string
	transcript string
	loop       *store.Loop
	stops      int
}

const (
	sessionID = "0b6f5a52-7a0c-4f53-9d1c-3f8a4d0e9b11"
	otherID   = "77e0c1de-5a44-4d53-8a51-0c2b7c9f4e22"
	promptID  = "5d0c2f3e-91f4-4b5e-a6f0-2a1d7c4b8e33"
)

// startSession starts a loop in a session and advances it to its number of iterations, without an
// agent.
func (l *lab) startSession(ctx context.Context) (*liveSession, error) {
	dir, err := os.MkdirTemp(l.dir, "session")
	if err != nil {
		return nil, err
	}
	s := &liveSession{program: l.hook, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "project"), session: sessionID}
	if err := os.MkdirAll(filepath.Join(s.root, ".claude"), 0o700); err != nil {
		return nil, err
	}
	if s.transcript, err = s.hollow(1 << 20); err != nil {
		return nil, err
	}
	spec := order()
	if s.loop, err = store.Open(s.home).Create(s.root, spec); err != nil {
		return nil, err
	}
	owner, err := s.loop.Own(ctx)
	if err != nil {
		return nil, err
	}
	defer owner.Close()
	if err := s.begin(owner, spec, l.iterations); err != nil {
		return nil, err
	}
	err = session.Open(s.home).Bind(ctx, session.Binding{
		Session: s.session, Loop: s.loop.ID, Epoch: owner.Epoch(), Root: s.root, LoopPrompt: promptID, Since: time.Now(), Responder: "settings",
	})
	if err == nil {
		err = s.startDaemon(ctx, l.pawl)
		l.daemons = append(l.daemons, s.daemon)
	}
	return s, err
}

// order returns the spec of such a loop.
func order() record.Spec {
	return record.Spec{
		Request: record.Request{Prompt: strings.Repeat("Make the parser take comments, and keep them where they stand. ", 20), Tasks: []loop.Task{{ID: loop.GoalTask, Title: "Make the parser take comments", Status: loop.Open}}},
		Policy: loop.Policy{
			Kind: loop.Change, Limits: loop.Limits{Iterations: 1_000_000_000}, Session: loop.Continue, Gates: true, InSession: true,
		},
		Verification: record.Verification{Gates: []gate.Gate{{Name: "test", Command: "go test ./..."}, {Name: "vet", Command: "go vet ./..."}}},
		Agent:        record.Agent{Name: "claude"},
		Repository:   record.Repository{Branch: "main", NoCommit: true},
	}
}

// begin journals the loop up to a turn late in its life, and writes the prompt
// that continues it.
func (s *liveSession) begin(owner *store.Owner, spec record.Spec, iterations int) error {
	events := []loop.Event{
		{Payload: loop.Started{Policy: spec.Policy, Tasks: spec.Tasks}},
		{Payload: loop.Checkpointed{Tree: strings.Repeat("a", 40)}},
		{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForBaseline, Tree: strings.Repeat("a", 40), Status: gate.Pass, Green: true}}},
	}
	for range iterations - 1 {
		events = append(events,
			loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 3, SessionID: s.session}}},
			loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}})
	}
	var mem memory.Memory
	entries := make([]journal.Entry, len(events))
	for i, e := range events {
		e.At = time.Now()
		mem.Apply(e)
		entries[i] = journal.Entry{Type: memory.TypeEvent, Data: e}
	}
	if st := mem.State; st.Phase != loop.Turning || st.Iteration != iterations {
		return fmt.Errorf("the loop is %s in iteration %d, %d wanted", st.Phase, st.Iteration, iterations)
	}
	mark, err := owner.Append(entries...)
	if err != nil {
		return err
	}
	if err := owner.Save(mark, mem, nil); err != nil {
		return err
	}
	return os.WriteFile(record.ContinuePromptPath(s.loop), []byte(strings.Repeat("Continue. Commit to nothing that you have not run.\n", 40)), 0o600)
}

// used notes that the agent used a tool.
func (s *liveSession) used() error {
	f, err := os.OpenFile(record.ToolCallsPath(s.loop), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(`{"tool":"Bash","kind":"run","command":"go test ./..."}` + "\n")
	return errors.Join(err, f.Close())
}

// journalled is the size of the loop's journal, -1 where it cannot be told.
func (s *liveSession) journalled() int64 {
	info, err := os.Stat(filepath.Join(s.loop.Dir, "journal.jsonl"))
	if err != nil {
		return -1
	}
	return info.Size()
}

// elsewhere returns another session of the same folder, without a loop.
func (s *liveSession) elsewhere() *liveSession {
	other := *s
	other.session = otherID
	return &other
}

// without returns the session of a machine that never had a loop.
func (s *liveSession) without() *liveSession {
	other := *s
	other.home += "-of-another"
	return &other
}

// hook returns a call of pawl-hook as the client makes it.
func (s *liveSession) hook(payload string, flags ...string) process {
	return process{
		dir: s.root, in: strings.ReplaceAll(payload, sessionID, s.session), argv: append([]string{s.program, "claude"}, flags...),
		env: append(s.client(), "PAWL_HOME="+s.home, "PAWL_LOOP="),
	}
}

// client returns the environment that the client gives its hooks.
func (s *liveSession) client() []string {
	return []string{
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=" + s.session, "CLAUDE_CODE_SESSION_ATTENDED=1",
		fmt.Sprintf("CLAUDE_PID=%d", os.Getpid()), "CLAUDE_PROJECT_DIR=" + s.root, "CLAUDE_PLUGIN_ROOT=", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=",
	}
}

// stop returns the payload of a stop. Each has another last message.
func (s *liveSession) stop() string {
	s.stops++
	last := fmt.Sprintf("Part %d of the parser takes comments now, and its tests pass. What is left is the printer, which comes next.", s.stops)
	return s.event("Stop", map[string]any{
		"stop_hook_active": true, "last_assistant_message": last, "background_tasks": []any{}, "session_crons": []any{},
	})
}

// call returns the payload of a tool call, before or after it.
func (s *liveSession) call(event string) string {
	return s.callOf(event, "cd parser && go test ./... 2>&1 | tail -n 20; git diff --stat")
}

func (s *liveSession) callOf(event, command string) string {
	return s.event(event, map[string]any{
		"tool_name": "Bash", "tool_use_id": "toolu_01", "tool_response": map[string]any{"stdout": strings.Repeat("ok  \tparser\t0.01s\n", 100), "stderr": ""},
		"tool_input": map[string]any{"command": command, "description": "Run the parser's tests"},
	})
}

func (s *liveSession) event(name string, more map[string]any) string {
	more["hook_event_name"], more["session_id"], more["prompt_id"] = name, sessionID, promptID
	more["transcript_path"], more["cwd"], more["permission_mode"] = s.transcript, s.root, "default"
	data, err := json.Marshal(more)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(data)
}

// continues checks that an answer to a stop sends the agent back to work.
func continues(out string) error {
	var answer struct {
		Decision string `json:"decision"`
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Decision != "block" && answer.Specific.Context == "" {
		return fmt.Errorf("the session should continue, the hook said: %q", out)
	}
	return nil
}
