// Package watch is the screen of `pawl watch`: all loops in three groups (needs you,
// working, ended), and one loop with its plan and its history.
//
//	err := watch.Run(ctx, source, watch.Options{In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
//
// Model is pure: Update takes a message and returns the next model, View draws it.
// What it shows comes from a Source, which also runs the user's actions as pawl commands. The package
// makes no decisions.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
)

// Source provides what the screen shows, and runs its commands. Its methods are called from several
// goroutines, also at once.
type Source interface {
	// Loops returns the summaries of all loops that are shown.
	Loops() ([]record.Summary, error)
	// Loop returns one loop in detail.
	Loop(id string) (Detail, error)
	// News returns the lines that were added to a loop's history since the last call, as in
	// Detail. The first call returns none.
	News(id string) ([]string, error)
	// Diff returns what a task changed.
	Diff(ctx context.Context, id, task string) ([]report.DiffLine, error)
	// Calls returns the agent's tool calls of the newest iteration, in the order of their
	// starts.
	Calls(id string) ([]record.Call, error)
	// Command runs pawl with these arguments to its end, and returns what it printed.
	Command(ctx context.Context, args ...string) (string, error)
}

// Detail is one loop.
type Detail struct {
	Summary      record.Summary
	Headline     string // its state in one line
	State        loop.State
	Lines        []Line // its history, oldest first, without control characters
	LimitOptions string // options of pawl limit with the loop's current limits
	RaiseOption  string // option of pawl resume that raises the limit that ended the loop, or ""
}

// Line is a line of a loop's history, which begins with its time of day.
type Line struct {
	Text    string
	Tasks   []string // ids of the tasks that it is about
	Trouble bool     // it shows a problem
}

// Options of the screen.
type Options struct {
	In  io.Reader
	Out io.Writer
	Env []string
	// ASCII means that the terminal only shows ASCII.
	ASCII bool
	ID    string // id of the loop to start with, "" = the overview
}

// refreshInterval is the time between two reads of what is shown. commandTimeout limits a command of
// the user.
const (
	refreshInterval = time.Second
	commandTimeout  = 2 * time.Minute
)

// Run shows the screen until the user leaves it, or ctx ends.
func Run(ctx context.Context, s Source, o Options) error {
	_, err := newProgram(ctx, s, o).Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	case err != nil:
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}

func newProgram(ctx context.Context, s Source, o Options, more ...tea.ProgramOption) *tea.Program {
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env)}
	m := NewModel(ctx, s, o)
	m.firstRead = startEarly(m.readNow())
	return tea.NewProgram(m, append(options, more...)...)
}

// startEarly starts a command at once and returns a command that waits for its result. So the first
// screen is read while the terminal is set up.
func startEarly(read tea.Cmd) tea.Cmd {
	done := make(chan tea.Msg, 1)
	go func() { done <- read() }()
	return func() tea.Msg { return <-done }
}

// The messages for Update.
type (
	tick       time.Time
	loopsRead  []record.Summary
	detailRead Detail
	readFailed struct{ err error }
	callsRead  struct {
		id    string
		calls []record.Call
	}
	diffRead struct {
		task string
		text []report.DiffLine
	}
	commandResult struct { // by a command
		command string
		text    string
		err     error
	}
)

func (m Model) readLoops() tea.Msg {
	loops, err := m.source.Loops()
	if err != nil {
		return readFailed{err}
	}
	return loopsRead(loops)
}

func (m Model) readCalls() tea.Msg {
	calls, err := m.source.Calls(m.loopID)
	if err != nil {
		return readFailed{err}
	}
	return callsRead{m.loopID, calls}
}

func (m Model) readDetail() tea.Msg {
	d, err := m.source.Loop(m.loopID)
	if err != nil {
		return readFailed{err}
	}
	return detailRead(d)
}

// command runs a pawl command in the background.
func (m Model) command(args ...string) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, commandTimeout)
		defer cancel()
		text, err := m.source.Command(ctx, args...)
		return commandResult{commandLine(args), text, err}
	}
}

// commandLine returns a pawl command as the user would type it.
func commandLine(args []string) string {
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--" })
	return "pawl " + shell.QuoteCommand(words)
}
