// Package testrun reads a shell command for the test runs that it starts, and
// tells for each whether its exit code reaches whoever ran the command.
//
// `npm test && echo done` ends as the tests did; `npm test | tail`, `npm test ||
// true` and `npm test; echo done` end as something else did, and what the tests
// said then stands in their output alone. Wrappers (npx, timeout, uv run …),
// scripts of package.json and targets of a Makefile are looked through where
// they can be read. A word that is known only when the command runs is not a name
// of a runner: nothing here is guessed, and a command that does not parse starts
// no test run.
package testrun

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Call is one test run that a command starts.
type Call struct {
	Runner string   // as in the table of runners; "" where only the output can tell
	Words  []string // the runner and its arguments; "" for a word that is not constant
	// Sure: this is a test run whatever it prints. Otherwise (a script of any
	// name, `make`) it is one if its output carries the marks of a runner.
	Sure bool
	// Mask is what hides its exit code, as a user would name it: "| tail",
	// "|| true", "; echo"; "" if it comes through.
	Mask string
	// Through: a script or a Makefile names the runner, not the command itself.
	Through bool
	// Elsewhere: what it prints goes to a file.
	Elsewhere bool
	// Silenced is the redirection that throws its summary away: "2>/dev/null" of a
	// runner that sums up on the standard error; "" if there is none.
	Silenced string
	// Limited: it runs under a time limit, whose exit code is 124.
	Limited bool
	// Before: another command whose failure would look the same runs before it.
	Before bool
	// Echo is the line on which the command prints this run's exit code, with
	// the code as \x00: `; echo "exit: $?"`.
	Echo string
	// Dir is the folder that cd led to, from that of the command; "" for that.
	Dir string
	// Perhaps: it stands where it may not be reached, behind || or in a branch.
	Perhaps bool
	// Untested: the script is known and tests nothing ("no test specified").
	Untested bool
}

// Files reads a file of the folder that the command runs in; slash-separated and
// relative. nil reads none.
type Files func(path string) ([]byte, error)

// Bounds: scripts name scripts.
const (
	maxScript = 64 << 10 // of one that a Makefile's variables are put into
	maxDepth  = 8
	maxCalls  = 64
)

// Read returns the test runs of a command, in the order they are written.
func Read(command string, files Files) []Call {
	r := &reader{files: files}
	r.script(command, flow{})
	return r.calls
}

type reader struct {
	files Files
	calls []Call
	depth int
	dir   string // where `cd` led to

	reached *reached // of Reach; nil = the test runs are wanted
}

// flow is what happens to the exit code of the part that is being read.
type flow struct {
	mask      string
	limited   bool
	before    bool
	echo      string // as Call.Echo
	echoPipe  string // the same for the first command of a pipe
	pipefail  bool
	errexit   bool
	through   bool
	elsewhere bool
	perhaps   bool
	streams   streams
}

// masked is the flow inside a mask. What an outer part of the command prints is
// no longer the code of what is inside.
func (f flow) masked(by string) flow {
	f.mask, f.echo = by, ""
	return f
}

// script reads the text of a shell script.
func (r *reader) script(text string, f flow) {
	if r.reached != nil {
		r.walk(text)
		return
	}
	if r.tooDeep() {
		return
	}
	list, _ := shell.Parse(text)
	r.depth++
	r.list(list, f)
	r.depth--
}

// list reads commands one after another: the list ends as its last one does,
// unless an earlier one ends the script.
func (r *reader) list(stmts []*syntax.Stmt, f flow) {
	for i, stmt := range stmts {
		r.stmt(stmt, f.followed(stmts[i+1:]))
		f.setOptions(stmt)
		f.before = f.before || f.errexit && !harmless(stmt)
	}
}

func (r *reader) stmt(stmt *syntax.Stmt, f flow) {
	f.elsewhere = f.elsewhere || slices.ContainsFunc(stmt.Redirs, writesFile)
	f.streams = f.streams.after(stmt.Redirs)
	switch {
	case stmt.Background:
		f = f.masked("&")
	case stmt.Negated:
		f = f.masked("!")
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(cmd, f)
	case *syntax.BinaryCmd:
		r.binary(cmd, f)
	case *syntax.Block:
		r.list(cmd.Stmts, f)
	case *syntax.Subshell:
		dir := r.dir
		r.list(cmd.Stmts, f)
		r.dir = dir
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			r.stmt(cmd.Stmt, f)
		}
	case *syntax.IfClause:
		r.ifClause(cmd, f)
	case *syntax.WhileClause:
		r.list(cmd.Cond, f.masked("while"))
		r.list(cmd.Do, f.inLoop("while"))
	case *syntax.ForClause:
		r.list(cmd.Do, f.inLoop("for"))
	case *syntax.CaseClause:
		f.perhaps = true
		for _, item := range cmd.Items {
			r.list(item.Stmts, f)
		}
	}
}

// inLoop: only the last round decides, unless the first failure ends it all.
func (f flow) inLoop(word string) flow {
	f.perhaps = true
	if f.errexit {
		return f
	}
	return f.masked(word)
}

func (r *reader) ifClause(cmd *syntax.IfClause, f flow) {
	for c := cmd; c != nil; c = c.Else {
		r.list(c.Cond, f.masked("if"))
		f.perhaps = true
		r.list(c.Then, f)
	}
}

func (r *reader) binary(cmd *syntax.BinaryCmd, f flow) {
	left, right := f, f
	switch cmd.Op {
	case syntax.AndStmt:
		right.before = f.before || !harmless(cmd.X)
	case syntax.OrStmt:
		right.perhaps = true
		if !fails(cmd.Y) {
			left = left.masked("|| " + nameOf(cmd.Y))
			left.echo = echoOfCode(cmd.Y, "?")
		}
	case syntax.Pipe, syntax.PipeAll:
		if !f.pipefail {
			left = left.masked("| " + nameOf(cmd.Y))
			left.echo = f.echoPipe
		}
		left.streams.out = ""
		if cmd.Op == syntax.PipeAll {
			left.streams.err = ""
		}
	}
	r.stmt(cmd.X, left)
	r.stmt(cmd.Y, right)
}

// call reads a simple command, and the substitutions in its words.
func (r *reader) call(cmd *syntax.CallExpr, f flow) {
	for _, assign := range cmd.Assigns {
		if assign.Value != nil {
			r.substitutions(assign.Value, f, len(cmd.Args) == 0)
		}
	}
	for _, word := range cmd.Args {
		r.substitutions(word, f, false)
	}
	words := make([]string, len(cmd.Args))
	for i, word := range cmd.Args {
		words[i] = shell.Constant(word)
	}
	r.command(words, f)
}

// substitutions reads the commands inside a word; their exit code is that of an
// assignment alone, and lost otherwise.
func (r *reader) substitutions(word *syntax.Word, f flow, carried bool) {
	if !carried {
		f = f.masked("$( )")
	}
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.list(n.Stmts, f)
			return false
		case *syntax.ProcSubst:
			r.list(n.Stmts, f.masked("<( )"))
			return false
		}
		return true
	})
}

// add notes a test run.
func (r *reader) add(c Call, f flow) {
	if len(r.calls) >= maxCalls {
		return
	}
	c.Through, c.Elsewhere, c.Perhaps, c.Silenced = c.Through || f.through, f.elsewhere, f.perhaps, f.streams.silence(c.Runner)
	c.Mask, c.Limited, c.Before, c.Echo = f.mask, f.limited, f.before, f.echo
	c.Dir = r.dir
	r.calls = append(r.calls, c)
}

// file reads a file of the folder that the command has gone to.
func (r *reader) file(dir, name string) ([]byte, bool) {
	full := path.Join(r.dir, dir, name)
	b, ok := r.readBounded(full)
	if ok && r.reached != nil && !slices.Contains(r.reached.through, full) {
		r.reached.through = append(r.reached.through, full)
	}
	return b, ok
}

// readBounded reads a file of the repository, unless it is too long.
func (r *reader) readBounded(file string) ([]byte, bool) {
	if r.files == nil || strings.HasPrefix(file, "../") || path.IsAbs(file) {
		return nil, false
	}
	b, err := r.files(file)
	return b, err == nil && len(b) <= 1<<20
}

func (r *reader) tooDeep() bool {
	return r.depth >= maxDepth && r.reached == nil || r.depth >= maxReachDepth
}
