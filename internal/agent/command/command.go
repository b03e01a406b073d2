// Package command makes an agent of any program that reads a prompt on its stdin, works
// in the current directory, and prints its answer. Each
// turn is a new process with a fresh context; nothing is known of its tools and
// its cost, and the guard does not see its tool calls.
package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/rawlog"
)

// maxText is how much of the end of its output is the program's message.
const maxText = 256 << 10

// Agent runs a program for each turn.
type Agent struct {
	Argv []string // the program and its arguments; Options.Args are appended
}

var (
	_ agent.Agent = Agent{}
	_ agent.Blind = Agent{}
)

// Name of the agent.
func (Agent) Name() string { return "command" }

// Blind: what the program does nobody sees.
func (Agent) Blind() {}

// Version cannot be told. A program that is not there, or may not be run, is an
// error.
func (a Agent) Version(context.Context) (string, error) {
	if len(a.Argv) == 0 {
		return "", failure.New(failure.Usage, "name the program with --agent-command", "start agent: no command given")
	}
	_, err := exec.LookPath(a.Argv[0])
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "", failure.New(failure.Usage, "chmod +x "+a.Argv[0], "the agent's program cannot be run: %w", err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return "", failure.New(failure.Usage, hintOf(a.Argv[0]), "the agent's program cannot be run: there is no program %s", a.Argv[0])
	case err != nil:
		return "", failure.New(failure.Usage, hintOf(a.Argv[0]), "the agent's program cannot be run: %w", err)
	}
	return "", nil
}

// hintOf returns what to do about a program that cannot be run. One with a space in it is
// mostly a shell's line, which nothing here splits.
func hintOf(program string) string {
	info, err := os.Stat(program)
	here := err == nil && info.Mode().IsRegular() && !strings.ContainsAny(program, `/\`)
	switch {
	case here && info.Mode()&0o111 == 0:
		return "it is looked for in PATH; the file here is not executable: chmod +x " + program + "; --agent-command ./" + program
	case here:
		return "it is looked for in PATH; the file here: --agent-command ./" + program
	case strings.Contains(program, " "):
		return "name only the program: its arguments belong in agent_args in pawl.toml, or to a script of your own"
	}
	return "name an existing program: --agent-command PATH, or agent_command in pawl.toml"
}

// Start begins a session; the program is started by its turns.
func (a Agent) Start(_ context.Context, o agent.Options) (agent.Session, error) {
	if len(a.Argv) == 0 {
		return nil, failure.New(failure.Usage, "name the program with --agent-command", "start agent: no command given")
	}
	return &session{argv: append(slices.Clip(a.Argv), o.Args...), o: o}, nil
}

type session struct {
	argv []string
	o    agent.Options
}

func (s *session) ID() string   { return s.o.Resume }
func (s *session) Close() error { return nil }

// Turn runs the program once. Its output is its message, and its sign of life;
// an exit code other than 0 is a crash.
func (s *session) Turn(ctx context.Context, t agent.Turn, emit func(agent.Event)) (agent.Result, error) {
	log, err := s.openLog(t)
	if err != nil {
		return agent.Result{}, err
	}
	w := newWatchdog(ctx, t)
	defer w.stop()
	out := &output{log: log, alive: w.alive, emit: func(agent.Event) {}, tail: proc.Tail{MaxBytes: maxText}}
	if emit != nil {
		out.emit = emit
	}
	e := proc.Run(w.ctx, proc.Spec{
		Argv: slices.Concat(s.o.Prefix, s.argv), Dir: s.o.Dir, Env: s.env(), Marker: s.o.Marker,
		Stdin: strings.NewReader(t.Prompt), Stdout: out, Stderr: out,
	})
	if err := log.Close(); err != nil {
		out.emit(agent.Event{Kind: agent.KindNote, Text: err.Error()})
	}
	r := agent.Result{
		Text: strings.TrimSpace(out.tail.String()), SessionID: s.ID(), Model: s.o.Model, ContextPercent: -1, Swept: e.Swept,
		Failure: w.failure(ctx),
	}
	switch {
	case r.Failure != nil:
	case e.Err != nil:
		r.Failure = &loop.Failure{Class: loop.Crashed, Message: e.Err.Error()}
	case e.Signal != "":
		r.Failure = &loop.Failure{Class: loop.Crashed, Message: s.argv[0] + " was ended by a signal: " + e.Signal}
	case e.Code != 0:
		r.Failure = &loop.Failure{Class: loop.Crashed, Message: fmt.Sprintf("%s ended with exit code %d", s.argv[0], e.Code) + lastLine(r.Text)}
	}
	return r, nil
}

// lastLine is the end of what a program that failed printed: mostly why.
func lastLine(text string) string {
	if text = plan.OneLine(text[strings.LastIndex(text, "\n")+1:], 200); text == "" {
		return ""
	}
	return ": " + text
}

// openLog opens the log of a turn; without a path it discards.
func (s *session) openLog(t agent.Turn) (io.WriteCloser, error) {
	path := cmp.Or(t.LogPath, s.o.LogPath)
	if path == "" {
		return nopCloser{io.Discard}, nil
	}
	return rawlog.Open(path, s.o.Redact)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (s *session) env() []string {
	env := os.Environ()
	for k, v := range s.o.Env {
		env = append(env, k+"="+v)
	}
	return env
}

// watchdog ends the program when it takes too long or is silent for too long.
type watchdog struct {
	ctx   context.Context
	stop  context.CancelFunc
	t     agent.Turn
	alive func()
}

func newWatchdog(ctx context.Context, t agent.Turn) *watchdog {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{ctx: ctx, t: t, alive: func() {}, stop: func() { cancel(nil) }}
	if t.Timeout > 0 {
		timer := time.AfterFunc(t.Timeout, func() { cancel(errTimeout) })
		stop := w.stop
		w.stop = func() { timer.Stop(); stop() }
	}
	if t.IdleTimeout > 0 {
		idle := time.AfterFunc(t.IdleTimeout, func() { cancel(errSilent) })
		stop := w.stop
		w.stop = func() { idle.Stop(); stop() }
		w.alive = func() { idle.Reset(t.IdleTimeout) }
	}
	return w
}

var (
	errTimeout = errors.New("the turn took too long")
	errSilent  = errors.New("the agent was silent for too long")
)

// failure says why the program was ended, nil if it ended by itself.
func (w *watchdog) failure(outer context.Context) *loop.Failure {
	switch cause := context.Cause(w.ctx); {
	case outer.Err() != nil:
		return &loop.Failure{Class: loop.Interrupted, Message: "the turn was interrupted"}
	case errors.Is(cause, errTimeout):
		return &loop.Failure{Class: loop.TimedOut, Message: fmt.Sprintf("the turn took longer than %v", w.t.Timeout)}
	case errors.Is(cause, errSilent):
		return &loop.Failure{Class: loop.Silent, Message: fmt.Sprintf("no output for %v", w.t.IdleTimeout)}
	}
	return nil
}

// output keeps the end of what is written, and tells that something was: by the last line of
// each piece, since a program may print millions.
type output struct {
	mu    sync.Mutex
	log   io.Writer
	alive func()
	emit  func(agent.Event)
	tail  proc.Tail
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alive()
	_, _ = o.tail.Write(p) // never fails
	said := bytes.TrimSpace(p)
	said = said[bytes.LastIndexByte(said, '\n')+1:]
	if len(said) > 0 {
		o.emit(agent.Event{Kind: agent.KindText, Text: string(said[:min(len(said), maxText)])})
	}
	return o.log.Write(p)
}
