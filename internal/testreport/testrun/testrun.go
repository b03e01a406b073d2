// Package testrun finds the test runs that a shell command starts. For each it says whether
// the exit code of the tests becomes that of the command.
//
// `npm test && echo done` ends with the exit code of the tests. `npm test | tail`,
// `npm test || true` and `npm test; echo done` end with another one, and only the output says
// how the tests ended. The package follows wrappers (npx, timeout, uv run …), scripts of
// package.json and targets of a Makefile if it can read them. It guesses nothing: a word that is
// only known when the command runs is no name of a runner, and a command that does not parse
// starts no test run.
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
	Runner string   // name of its output format, as in runners; "" if only the output shows it
	Words  []string // the runner and its arguments; "" for a word that is not constant
	// IsTestRun is true if this runs tests whatever it prints. Otherwise (a script of any name,
	// `make`) it is a test run if its output looks like that of a runner.
	IsTestRun bool
	// Mask is what hides its exit code, as a user would write it: "| tail", "|| true", "; echo".
	// It is "" if nothing does.
	Mask         string
	FromScript   bool // a script or a Makefile names the runner, not the command itself
	OutputToFile bool // its output goes to a file
	// Silenced is the redirection that discards its summary: "2>/dev/null" of a runner that
	// prints the summary to standard error. It is "" if there is none.
	Silenced     string
	HasTimeLimit bool // it runs under a time limit, whose exit code is 124
	FollowsOther bool // a command before it could fail in the same way
	// EchoLine is the line on which the command prints the exit code of this run, with \x00 for
	// the code: `; echo "exit: $?"`.
	EchoLine    string
	Dir         string // the folder that `cd` led to, relative to that of the command; "" = that
	Conditional bool   // it may not run: it is behind || or in a branch
	HasNoTests  bool   // its script is known and tests nothing ("no test specified")
}

// Files reads a file. Its path is relative to the folder in which the command runs, with slashes.
// A nil Files reads none.
type Files func(path string) ([]byte, error)

// Bounds, since scripts run scripts.
const (
	maxScript = 64 << 10 // bytes of a recipe after its variables are expanded
	maxDepth  = 8
	maxCalls  = 64
)

// Read returns the test runs of a command in their written order.
func Read(command string, files Files) []Call {
	r := &reader{files: files}
	r.readScript(command, flow{})
	return r.calls
}

// reader collects the test runs of a command for Read, or its steps for Reach.
type reader struct {
	files Files
	calls []Call
	depth int
	dir   string // the folder that `cd` led to

	reached *reached // the result of Reach; nil for Read
}

// flow holds what the surrounding commands do with the exit code and the output of the part that
// is being read: what they make of a Call there, and what decides about it.
type flow struct {
	Call
	echoPipe string // EchoLine for the first command of a pipe
	pipefail bool
	errexit  bool
	streams  streams
}

// withMask returns the flow inside a command that hides the exit code. An exit code that is printed
// outside of it is not that of the test run.
func (f flow) withMask(by string) flow {
	f.Mask, f.EchoLine = by, ""
	return f
}

// readScript reads a shell script.
func (r *reader) readScript(text string, f flow) {
	if r.reached != nil {
		r.walk(text)
		return
	}
	if r.tooDeep() {
		return
	}
	list, _ := shell.Parse(text)
	r.depth++
	r.readList(list, f)
	r.depth--
}

// readList reads commands in order. The exit code of a list is that of its last command, unless an
// earlier one ends the script.
func (r *reader) readList(stmts []*syntax.Stmt, f flow) {
	for i, stmt := range stmts {
		r.readStatement(stmt, f.followedBy(stmts[i+1:]))
		f.setOptions(stmt)
		f.FollowsOther = f.FollowsOther || f.errexit && !isQuiet(stmt)
	}
}

func (r *reader) readStatement(stmt *syntax.Stmt, f flow) {
	f.OutputToFile = f.OutputToFile || slices.ContainsFunc(stmt.Redirs, writesFile)
	f.streams = f.streams.withRedirects(stmt.Redirs)
	switch {
	case stmt.Background:
		f = f.withMask("&")
	case stmt.Negated:
		f = f.withMask("!")
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		r.readCall(cmd, f)
	case *syntax.BinaryCmd:
		r.readBinary(cmd, f)
	case *syntax.Block:
		r.readList(cmd.Stmts, f)
	case *syntax.Subshell:
		dir := r.dir
		r.readList(cmd.Stmts, f)
		r.dir = dir
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			r.readStatement(cmd.Stmt, f)
		}
	case *syntax.IfClause:
		for c := cmd; c != nil; c = c.Else {
			r.readList(c.Cond, f.withMask("if"))
			f.Conditional = true
			r.readList(c.Then, f)
		}
	case *syntax.WhileClause:
		r.readList(cmd.Cond, f.withMask("while"))
		r.readList(cmd.Do, f.inLoop("while"))
	case *syntax.ForClause:
		r.readList(cmd.Do, f.inLoop("for"))
	case *syntax.CaseClause:
		f.Conditional = true
		for _, item := range cmd.Items {
			r.readList(item.Stmts, f)
		}
	}
}

// inLoop returns the flow inside a loop. Its exit code is that of the last round, unless the first
// failure ends the script.
func (f flow) inLoop(word string) flow {
	f.Conditional = true
	if f.errexit {
		return f
	}
	return f.withMask(word)
}

func (r *reader) readBinary(cmd *syntax.BinaryCmd, f flow) {
	left, right := f, f
	switch cmd.Op {
	case syntax.AndStmt:
		right.FollowsOther = f.FollowsOther || !isQuiet(cmd.X)
	case syntax.OrStmt:
		right.Conditional = true
		if !alwaysFails(cmd.Y) {
			left = left.withMask("|| " + commandName(cmd.Y))
			left.EchoLine = echoOfCode(cmd.Y, "?")
		}
	case syntax.Pipe, syntax.PipeAll:
		if !f.pipefail {
			left = left.withMask("| " + commandName(cmd.Y))
			left.EchoLine = f.echoPipe
		}
		left.streams.out = ""
		if cmd.Op == syntax.PipeAll {
			left.streams.err = ""
		}
	}
	r.readStatement(cmd.X, left)
	r.readStatement(cmd.Y, right)
}

// readCall reads a simple command and the substitutions in its words.
func (r *reader) readCall(cmd *syntax.CallExpr, f flow) {
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
	r.readCommand(words, f)
}

// substitutions reads the commands inside a word. Their exit code is kept only if the command is an
// assignment and nothing else.
func (r *reader) substitutions(word *syntax.Word, f flow, carried bool) {
	if !carried {
		f = f.withMask("$( )")
	}
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.readList(n.Stmts, f)
			return false
		case *syntax.ProcSubst:
			r.readList(n.Stmts, f.withMask("<( )"))
			return false
		}
		return true
	})
}

// add adds a test run.
func (r *reader) add(c Call, f flow) {
	if len(r.calls) >= maxCalls {
		return
	}
	run := f.Call
	run.Runner, run.Words, run.IsTestRun, run.HasNoTests = c.Runner, c.Words, c.IsTestRun, c.HasNoTests
	run.FromScript, run.Silenced, run.Dir = c.FromScript || f.FromScript, f.streams.summaryDiscard(c.Runner), r.dir
	r.calls = append(r.calls, run)
}

// readFile reads a file of the current folder.
func (r *reader) readFile(dir, name string) ([]byte, bool) {
	full := path.Join(r.dir, dir, name)
	b, ok := r.readBounded(full)
	if ok && r.reached != nil && !slices.Contains(r.reached.files, full) {
		r.reached.files = append(r.reached.files, full)
	}
	return b, ok
}

// readBounded reads a file of the repository if it is at most 1 MiB.
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
