// Package cli is the command line: one file per command.
//
// A command is a struct whose tags describe its operands and flags, and whose Run method does the
// work with app, which all commands share. Each has a field in grammar and a text in help.txt.
// Parsing, help, shell completions, manual pages and the reference page need nothing else. Packages
// below get values and option structs instead of flags.
//
// Run returns an error for a user (package failure: message, hint, exit code), or an exitCode, which
// prints nothing more. exit.go lists all codes. The result goes to standard output and everything
// else to standard error. With --json, the output is one value with a schema in docs/reference.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

//go:generate env UPDATE=1 go test -run TestReferencePagesAreUpToDate|TestTablesOnPagesAreUpToDate .

// Stdio holds the standard streams of the process, and the function that ends it at once.
type Stdio struct {
	In, Out, Err *os.File
	Exit         func(code int)
}

// grammar lists the commands in the order of the help. The tag user says what only a user may do with
// a command, see requireUser.
type grammar struct {
	Run    runCmd    `cmd:"" group:"Run" help:"run an agent in fresh sessions until the work is verified"`
	Start  startCmd  `cmd:"" user:"start another loop" group:"Run" help:"run a loop in your current Claude Code session"`
	Resume resumeCmd `cmd:"" user:"resume a loop" group:"Run" help:"continue a paused, crashed or unfinished loop"`

	Watch   watchCmd   `cmd:"" group:"Watch" help:"show all loops, or one, on a live screen"`
	Serve   serveCmd   `cmd:"" user:"serve pages that steer loops" group:"Watch" help:"show and steer loops in a browser"`
	Attach  attachCmd  `cmd:"" group:"Watch" help:"show the output of a running loop; Ctrl-C only detaches"`
	List    listCmd    `cmd:"" group:"Watch" help:"list the loops of this repository"`
	Status  statusCmd  `cmd:"" group:"Watch" help:"show the state of a loop and what to do next"`
	Log     logCmd     `cmd:"" group:"Watch" help:"show the history of a loop"`
	Report  reportCmd  `cmd:"" group:"Watch" help:"summarize a loop: what was done, what was not, and why"`
	Explain explainCmd `cmd:"" group:"Watch" help:"explain each decision of a loop with the numbers that decided"`
	Stats   statsCmd   `cmd:"" group:"Watch" help:"count outcomes, time and cost over all loops"`

	StatusLine statuslineCmd `cmd:"" name:"statusline" group:"Watch" help:"print the loop's state for Claude Code's status line"`

	Tell   tellCmd   `cmd:"" user:"tell the agent something" group:"Steer" help:"send the agent a message with its next prompt"`
	Answer answerCmd `cmd:"" user:"answer the agent" group:"Steer" help:"answer a question from the agent"`
	Pause  pauseCmd  `cmd:"" user:"pause a loop" group:"Steer" help:"pause a loop before its next turn"`
	Limit  limitCmd  `cmd:"" user:"change a loop's limits" group:"Steer" help:"change the limits of a running loop"`
	Stop   stopCmd   `cmd:"" user:"stop a loop" group:"Steer" help:"stop a loop and keep its work"`

	Handover handoverCmd `cmd:"" user:"hand a loop over" group:"Steer" help:"move a loop from your session to the background"`

	Approve approveCmd `cmd:"" user:"approve changes of tests" group:"Steer" help:"approve changes to existing tests and gate inputs"`
	Reject  rejectCmd  `cmd:"" user:"reject changes of tests" group:"Steer" help:"reject changes to existing tests and restore the files"`
	Lessons lessonsCmd `cmd:"" group:"Steer" help:"list and edit the lessons for the agent"`

	Verify verifyCmd `cmd:"" group:"Gates" help:"run this project's gates now"`
	Audit  auditCmd  `cmd:"" group:"Gates" help:"run a commit's gates again and compare with the recorded results"`
	Prove  proveCmd  `cmd:"" group:"Gates" help:"break each function that a commit changed and see which tests fail"`

	Guard guardCmd `cmd:"" group:"Gates" help:"show what the guard allows and denies"`

	TestReport testreportCmd `cmd:"" name:"testreport" group:"Gates" help:"parse the output of a test runner"`

	Checkpoints checkpointsCmd `cmd:"" group:"Go back" help:"list the snapshots of the work tree"`
	Restore     restoreCmd     `cmd:"" user:"restore a checkpoint" group:"Go back" help:"restore a checkpoint or the work of a task"`
	Undo        undoCmd        `cmd:"" user:"restore a checkpoint" group:"Go back" help:"undo the last restore"`

	Demo       demoCmd       `cmd:"" group:"Set up" help:"watch a scripted loop in a temporary repository (20 seconds)"`
	Init       initCmd       `cmd:"" user:"set gates and trust them" group:"Set up" help:"find the gates of this repository and write them to pawl.toml"`
	Notify     notifyCmd     `cmd:"" group:"Set up" help:"test the notifications about ended or waiting loops"`
	Plan       planCmd       `cmd:"" group:"Set up" help:"write, inspect and convert plan files"`
	Install    installCmd    `cmd:"" user:"install hooks" group:"Set up" help:"add Pawl to Claude Code"`
	Uninstall  uninstallCmd  `cmd:"" user:"take hooks out" group:"Set up" help:"remove Pawl from Claude Code"`
	GC         gcCmd         `cmd:"" user:"delete loops" name:"gc" group:"Set up" help:"delete journals, logs and checkpoints of old loops"`
	Doctor     doctorCmd     `cmd:"" group:"Set up" help:"find what breaks loops on this machine, each with its fix"`
	Plugin     pluginCmd     `cmd:"" group:"Set up" help:"export Pawl as a Claude Code plugin"`
	Trust      trustCmd      `cmd:"" group:"Set up" help:"trust the commands in this repository's configuration"`
	Completion completionCmd `cmd:"" group:"Set up" help:"print a shell completion script"`
	Version    versionCmd    `cmd:"" group:"Set up" help:"print the version"`

	Session sessionCmd `cmd:"" hidden:"" help:"internal: commands that a session's hooks run"`
	MCP     mcpCmd     `cmd:"" name:"mcp" group:"Set up" help:"serve the agent's tools over MCP on standard input and output"`
	Hook    hookCmd    `cmd:"" hidden:"" passthrough:"" help:"internal: answer a client hook, as pawl-hook does"`

	Confined confinedCmd `cmd:"" hidden:"" help:"run a command in the sandbox of a loop"`
}

// app holds what all commands share.
type app struct {
	Stdio
	env   environment.Environment
	dir   string // the current folder, absolute
	self  string // the path of this program
	store *store.Store
	args  []string // command-line arguments

	foreground *foreground // the process that waits for this driver, or nil

	damaged string // the loop whose damaged journal was reported

	columns    int   // maximum width of text for people, 0 = unknown
	printError error // the error of printing to a full disk, or nil

	until   context.Context // see untilSignal, which sets it
	release context.CancelFunc
}

// Main runs the tool with its arguments, without the program's name. It returns the exit code.
func Main(args []string, streams Stdio) int {
	a := &app{Stdio: streams, args: args}
	return a.exit(a.main(args))
}

func (a *app) main(args []string) error {
	var err error
	if a.env, err = environment.Read(); err != nil {
		hint := ""
		if home, ok := errors.AsType[*environment.HomeError](err); ok {
			hint = home.Hint()
		}
		return failure.New(failure.Usage, hint, "%w", err)
	}
	if a.columns = a.env.Columns; a.columns == 0 {
		a.columns, _ = term.SizeOf(a.Out)()
	}
	if a.dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	if a.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	a.store = store.Open(a.env.PawlHome)
	if err := a.dispatch(args); err != nil {
		return err
	}
	return a.printError
}

// printf writes text for people to standard output. It breaks lines that are too long between words.
func (a *app) printf(format string, args ...any) {
	a.print(a.text(term.Wrap(fmt.Sprintf(format, args...), a.columns)))
}

// text returns text for people in characters that the terminal can show, and none that control it.
func (a *app) text(s string) string {
	s = term.CleanText(s)
	if a.env.ASCII {
		return term.ASCII(s)
	}
	return s
}

// abs returns a path that the user typed, relative to the current folder, as an absolute one.
func (a *app) abs(path string) string { return launch.AbsPath(a.dir, path) }

// print writes text for programs and for quotes: unchanged, except to a terminal, which text of an
// agent must not control. A closed pipe is no error: its reader wanted no more. A full disk fails the
// command.
func (a *app) print(text string) {
	if isTerminal(a.Out) {
		text = term.CleanText(text)
	}
	_, err := io.WriteString(a.Out, text)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		a.printError = fmt.Errorf("print: %w", err)
	}
}
