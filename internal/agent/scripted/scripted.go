// Package scripted is an agent that follows a script: for the demo, and for tests of a
// whole loop without a model. What it does is real (files
// are written, commands run, the guard is asked); only its mind is scripted.
//
// A script is a txtar archive. A section is named TURN/WHAT, where TURN is the
// number of the turn, counted over the whole loop; or a word: such a part is
// played whenever the prompt contains the word and no number fits; or a number
// with a plus (2+): in that turn and all later ones where nothing else fits.
//
//	-- 1/files/greet.go --
//	package greet
//	-- 1/run --
//	git commit -qam 'on my own'
//	-- 1/reply --
//	<promise>DONE</promise>
//	-- 2/failure --
//	usage_limit 2s You've hit your limit
//
// A session that only reads (agent.Options.ReadOnly) plays the parts whose TURN
// begins with "review-", counted by themselves: review-1/reply.
//
// Files are written and commands run in the order of the sections. Further:
// edit/PATH (a line that is there, and the line to be), unread/PATH (like files,
// see below), read and delete (paths), sleep (a duration, in silence), tools (a
// number of reads), context (percent), cost (dollars), background (one a line).
//
// As agents do, it reads a file that is there before it changes it, once in a
// context; not for a section unread/PATH.
package scripted

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/proc"
)

// Agent plays a script.
type Agent struct {
	Script *Script
	// Counter is the file that holds how many turns were played to their end, so
	// that a fresh session, or a loop that was killed, continues the next.
	// Without it each session begins at turn 1.
	Counter string
}

var (
	_ agent.Agent = Agent{}
	_ agent.Warm  = (*session)(nil)
)

// Name of the agent.
func (Agent) Name() string { return "scripted" }

// Version is always the same.
func (Agent) Version(context.Context) (string, error) { return "1", nil }

// Start begins a session.
func (a Agent) Start(_ context.Context, o agent.Options) (agent.Session, error) {
	if a.Script == nil {
		return nil, errors.New("start scripted agent: no script")
	}
	if o.ReadOnly {
		a.Script = cmp.Or(a.Script.reviews, newScript())
		if a.Counter != "" {
			a.Counter += "-reviews"
		}
	}
	s := &session{agent: a, o: o, id: o.Resume, cost: o.PriorCostUSD, knows: map[string]bool{}}
	played, err := s.played()
	if err != nil {
		return nil, fmt.Errorf("start scripted agent: %w", err)
	}
	if s.id == "" {
		s.id = fmt.Sprintf("scripted-%d", played+1)
	}
	return s, nil
}

type session struct {
	agent Agent
	o     agent.Options
	id    string
	count int // turns played, without a counter file
	cost  float64
	knows map[string]bool // files that it has read or written in this context
}

func (s *session) ID() string   { return s.id }
func (s *session) Close() error { return nil }
func (s *session) RSS() int64   { return 0 }

// Fresh gives the session another id; there is no context to empty.
func (s *session) Fresh(context.Context) error {
	played, err := s.played()
	s.id, s.cost, s.knows = fmt.Sprintf("scripted-%d", played+1), 0, map[string]bool{}
	return err
}

// played is the number of turns that were played.
func (s *session) played() (int, error) {
	if s.agent.Counter == "" {
		return s.count, nil
	}
	b, err := atomicfile.Read(s.agent.Counter, atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read turn counter: %w", err)
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0, fmt.Errorf("read turn counter: %w", err)
	}
	return n, nil
}

func (s *session) countTurn(n int) error {
	s.count = n
	if s.agent.Counter == "" {
		return nil
	}
	// Renamed into place: a kill leaves the old number or the new one.
	tmp := s.agent.Counter + ".tmp"
	if err := os.WriteFile(tmp, []byte(strconv.Itoa(n)+"\n"), 0o600); err != nil {
		return fmt.Errorf("write turn counter: %w", err)
	}
	if err := os.Rename(tmp, s.agent.Counter); err != nil {
		return fmt.Errorf("write turn counter: %w", err)
	}
	return nil
}

// Turn plays one part.
func (s *session) Turn(ctx context.Context, o agent.Turn, emit func(agent.Event)) (agent.Result, error) {
	played, err := s.played()
	if err != nil {
		return agent.Result{}, err
	}
	if emit == nil {
		emit = func(agent.Event) {}
	}
	p := s.agent.Script.pick(played+1, o.Prompt)
	emit(agent.Event{Kind: agent.KindInit, Text: "1", Model: "scripted"})
	t := &turn{session: s, part: p, emit: emit, r: agent.Result{
		SessionID: s.id, Model: "scripted", Usage: p.usage, ContextPercent: p.context, Background: p.background, Rounds: 1,
	}}
	if f := t.play(ctx, o); f != nil {
		t.r.Failure = f
		if f.Class == loop.Interrupted || f.Class == loop.TimedOut || f.Class == loop.Silent {
			return t.r, nil // not played to its end: the same part again
		}
	}
	emit(agent.Event{Kind: agent.KindUsage, Usage: p.usage})
	emit(agent.Event{Kind: agent.KindContext, ContextPercent: p.context})
	s.cost += p.usage.CostUSD
	t.r.SessionCostUSD = s.cost
	return t.r, s.countTurn(played + 1)
}

type turn struct {
	*session
	part *part
	emit func(agent.Event)
	r    agent.Result

	failed bool   // the tool call under way
	output string // of it
}

// play thinks, reads, acts, and says what the part says.
func (t *turn) play(ctx context.Context, o agent.Turn) *loop.Failure {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	if f := t.think(ctx, o); f != nil {
		return f
	}
	for range t.part.tools {
		t.call(readCall(t.path("README.md")), "read README.md")
	}
	for _, a := range t.part.acts {
		if err := t.act(ctx, a); err != nil {
			return &loop.Failure{Class: loop.Crashed, Message: err.Error()}
		}
	}
	if f := contextFailure(ctx); f != nil {
		return f
	}
	t.r.Text = t.part.reply
	t.emit(agent.Event{Kind: agent.KindText, Text: t.part.reply, Model: "scripted"})
	if t.part.failure == nil {
		return nil
	}
	f := *t.part.failure
	if t.part.wait > 0 {
		f.Until = time.Now().Add(t.part.wait)
	}
	return &f
}

// think sleeps without output. It receives messages meanwhile.
func (t *turn) think(ctx context.Context, o agent.Turn) *loop.Failure {
	if f := contextFailure(ctx); f != nil {
		return f
	}
	silent := o.IdleTimeout > 0 && o.IdleTimeout < t.part.sleep
	pause := t.part.sleep
	if silent {
		pause = o.IdleTimeout
	}
	for awake := time.After(pause); awake != nil; {
		select {
		case <-ctx.Done():
			return contextFailure(ctx)
		case m := <-o.Messages:
			t.emit(agent.Event{Kind: agent.KindTold, Text: m.ID})
		case <-awake:
			awake = nil
		}
	}
	if silent {
		return &loop.Failure{Class: loop.Silent, Message: fmt.Sprintf("no output for %v", o.IdleTimeout)}
	}
	return nil
}

func contextFailure(ctx context.Context) *loop.Failure {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &loop.Failure{Class: loop.TimedOut, Message: "the turn took too long"}
	case ctx.Err() != nil:
		return &loop.Failure{Class: loop.Interrupted, Message: "the turn was interrupted"}
	}
	return nil
}

// The names of the agent's tools.
const (
	readTool  = "Read"
	editTool  = "Edit"
	writeTool = "Write"
	shellTool = "Bash"
)

func readCall(path string) toolcall.Call {
	return toolcall.Call{Tool: readTool, Kind: toolcall.Read, Path: path}
}

func shellCall(command string) toolcall.Call {
	return toolcall.Call{Tool: shellTool, Kind: toolcall.Run, Command: command}
}

// call asks the guard, as a real client would before a tool runs.
func (t *turn) call(c toolcall.Call, detail string) bool {
	t.r.ToolCalls++
	t.r.Rounds++
	c.Dir = t.o.Dir
	t.emit(agent.Event{Kind: agent.KindTool, Tool: c.Tool, Detail: detail, Does: c})
	if t.o.CheckTool != nil {
		if v := t.o.CheckTool(c); !v.Allow {
			t.r.Denied++
			t.failed, t.output = true, v.Reason
			t.emit(agent.Event{Kind: agent.KindDenied, Tool: c.Tool, Detail: detail, Text: v.Reason})
			return false
		}
	}
	return true
}

// ended reports the end of the current tool call.
func (t *turn) ended(tool string) {
	t.emit(agent.Event{Kind: agent.KindToolEnd, Tool: tool, Failed: t.failed, Output: t.output})
	t.failed, t.output = false, ""
}

// act changes something, if the guard allows it.
func (t *turn) act(ctx context.Context, a act) error {
	if name := a.write + a.edit; name != "" && !a.unread {
		t.read(name)
	}
	switch {
	case a.read != "":
		t.read(a.read)
	case a.write != "":
		return t.write(a.write, a.content)
	case a.edit != "":
		return t.edit(a)
	case a.remove != "":
		if t.call(shellCall("rm "+a.remove), "$ rm "+a.remove) {
			_ = os.RemoveAll(t.path(a.remove))
		}
	default:
		t.run(ctx, a.run)
	}
	return nil
}

// read reads a file that is there, if it has not yet.
func (t *turn) read(name string) {
	at := t.path(name)
	if info, err := os.Stat(at); err != nil || info.IsDir() || t.knows[at] {
		return
	}
	defer t.ended(readTool)
	t.knows[at] = t.call(readCall(at), "read "+name)
}

// edit replaces the first place where the old text stands.
func (t *turn) edit(a act) error {
	name := t.path(a.edit)
	defer t.ended(editTool)
	if !t.call(toolcall.Call{Tool: editTool, Kind: toolcall.Edit, Path: name, Edits: []toolcall.Replacement{{Old: a.old, New: a.new}}}, "edit "+a.edit) {
		return nil
	}
	content, err := atomicfile.Read(name, atomicfile.Large)
	if err != nil {
		return err
	}
	return os.WriteFile(name, bytes.Replace(content, []byte(a.old), []byte(a.new), 1), 0o666)
}

func (t *turn) write(path, content string) error {
	name := t.path(path)
	defer t.ended(writeTool)
	if !t.call(toolcall.Call{Tool: writeTool, Kind: toolcall.Write, Path: name}, "write "+path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	t.knows[name] = true
	return os.WriteFile(name, []byte(content), 0o666)
}

// run runs a shell command; how it ends is the script's affair.
func (t *turn) run(ctx context.Context, command string) {
	defer t.ended(shellTool)
	first, _, _ := strings.Cut(command, "\n")
	if !t.call(shellCall(command), "$ "+first) {
		return
	}
	env := os.Environ()
	for k, v := range t.o.Env {
		env = append(env, k+"="+v)
	}
	var out bytes.Buffer
	exit := proc.Run(ctx, proc.Spec{
		Stdout: &out, Stderr: &out,
		Argv: slices.Concat(t.o.Prefix, []string{"sh", "-c", command}), // a script is for sh on every system
		Dir:  t.o.Dir, Env: env, Marker: t.o.Marker, Grace: time.Second,
	})
	t.r.Swept += exit.Swept
	t.failed, t.output = !exit.OK(), out.String()
}

func (t *turn) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(t.o.Dir, filepath.FromSlash(name))
}
