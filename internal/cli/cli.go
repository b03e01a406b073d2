// Package cli is the command line: one file per command.
//
// A command is a struct whose tags describe its arguments and flags and whose
// Run method does the work, with app for its surroundings. The field in grammar
// is all the wiring there is: parsing, help, shell completions and the reference
// page are made from it. Flags end here; what is called below gets values and
// option structs of its own.
//
// Run returns an error for a user (package failure: message, hint, exit code)
// or an exitCode, which says nothing more. All codes stand in one table
// (exit.go). What was asked for goes to the standard output, everything else to
// the standard error; with --json the output is one documented shape, whose
// schema stands in docs/reference.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

//go:generate env UPDATE=1 go test -run TestReferenceIsFresh .

// Stdio are the standard streams of the process, and what ends it at once.
type Stdio struct {
	In, Out, Err *os.File
	Exit         func(code int)
}

// grammar lists the commands, in the order in which help shows them.
type grammar struct {
	Run    runCmd    `cmd:"" group:"Work" help:"pursue a goal with fresh sessions until it is verified"`
	Start  startCmd  `cmd:"" group:"Work" help:"the same in the session of Claude Code that you sit in"`
	Resume resumeCmd `cmd:"" group:"Work" help:"go on with a loop that was paused, cut off, or ended with something left to do"`

	List   listCmd   `cmd:"" group:"Look" help:"list the loops of this repository"`
	Status statusCmd `cmd:"" group:"Look" help:"show how a loop stands"`
	Log    logCmd    `cmd:"" group:"Look" help:"tell what happened in a loop, from its journal"`
	Report reportCmd `cmd:"" group:"Look" help:"print the one page to believe: what was done, what was not, and why"`

	Tell  tellCmd  `cmd:"" group:"Steer" help:"say something to the agent; it is part of its next prompt"`
	Pause pauseCmd `cmd:"" group:"Steer" help:"hold a loop before its next turn"`
	Stop  stopCmd  `cmd:"" group:"Steer" help:"end a loop cleanly and keep its work"`

	Handover handoverCmd `cmd:"" group:"Steer" help:"let fresh sessions go on with a loop that lives in yours"`

	Approve approveCmd `cmd:"" group:"Steer" help:"approve changes to existing tests and gate inputs"`
	Reject  rejectCmd  `cmd:"" group:"Steer" help:"reject changes to existing tests and restore the files"`
	Lessons lessonsCmd `cmd:"" group:"Steer" help:"show what was learnt here, and change it"`

	Verify verifyCmd `cmd:"" group:"Judge" help:"run this project's gates now and print receipts"`
	Audit  auditCmd  `cmd:"" group:"Judge" help:"re-check a commit: run its gates again in a clean checkout and compare with the receipts"`
	Prove  proveCmd  `cmd:"" group:"Judge" help:"break each function that a commit changed, and tell which tests notice"`

	Guard guardCmd `cmd:"" group:"Judge" help:"what the guard allows and denies"`

	TestReport testreportCmd `cmd:"" name:"testreport" group:"Judge" help:"tell what a test runner's output says"`

	Checkpoints checkpointsCmd `cmd:"" group:"Go back" help:"list the snapshots that a loop made of the work tree"`
	Restore     restoreCmd     `cmd:"" group:"Go back" help:"go back to a checkpoint; the tree as it is becomes one first"`
	Undo        undoCmd        `cmd:"" group:"Go back" help:"take the last restore back"`

	Demo       demoCmd       `cmd:"" group:"Set up" help:"see all of it in half a minute, on a repository made for it"`
	Plan       planCmd       `cmd:"" group:"Set up" help:"read plans in the formats that people have"`
	Install    installCmd    `cmd:"" group:"Set up" help:"put Pawl's hooks into the settings of a coding agent"`
	Uninstall  uninstallCmd  `cmd:"" group:"Set up" help:"take Pawl's hooks out of them again"`
	Doctor     doctorCmd     `cmd:"" group:"Set up" help:"check what breaks loops in practice, and say what to do about it"`
	Plugin     pluginCmd     `cmd:"" group:"Set up" help:"Pawl as a plugin of Claude Code"`
	Trust      trustCmd      `cmd:"" group:"Set up" help:"let commands that stand in this repository's files run"`
	Completion completionCmd `cmd:"" group:"Set up" help:"print a completion script for a shell"`
	Version    versionCmd    `cmd:"" group:"Set up" help:"print the version"`

	Session sessionCmd `cmd:"" hidden:"" help:"what the hooks of a session run"`
	MCP     mcpCmd     `cmd:"" name:"mcp" group:"Set up" help:"serve the agent's tools (MCP) on the standard streams"`
	Hook    hookCmd    `cmd:"" hidden:"" passthrough:"" help:"answer a hook of a coding agent's client, as pawl-hook does"`

	Confined confinedCmd `cmd:"" hidden:"" help:"run a command behind the wall of a loop"`
}

// app is what commands work with.
type app struct {
	Stdio
	env   environment.Environment
	dir   string // the current folder, absolute
	store *store.Store

	columns int   // how wide text for people may be, 0 where that is not known
	unsaid  error // what was to be printed and found the disk full, nil if nothing
}

// Main runs the tool with its arguments, the program's name aside, and returns
// the exit code.
func Main(args []string, streams Stdio) int {
	a := &app{Stdio: streams}
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
	a.store = store.Open(a.env.PawlHome)
	if err := a.dispatch(args); err != nil {
		return err
	}
	return a.unsaid
}

// printf writes text for people to the standard output, broken between words where
// that is too narrow.
func (a *app) printf(format string, args ...any) {
	a.print(a.text(term.Wrap(fmt.Sprintf(format, args...), a.columns)))
}

// text is text for people in characters that their terminal has.
func (a *app) text(s string) string {
	if a.env.ASCII {
		return term.ASCII(s)
	}
	return s
}

// print writes text as it is: what a program reads, or what is quoted. What a closed
// pipe does not take was not wanted; what a full disk does not is an error of the
// command.
func (a *app) print(text string) {
	_, err := io.WriteString(a.Out, text)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		a.unsaid = fmt.Errorf("print: %w", err)
	}
}
