// Package shell tells which commands a shell script would run, without running
// any.
//
// A script is walked in the order in which it is written, with the variables,
// functions, aliases and small files that it makes on the way, so that
// `g=git; $g push` is a push and `echo 'git push'` is none. Commands that run
// other commands are looked through: sudo and its like, xargs, find, bash -c,
// eval, pipes into a shell, git's aliases. What depends on anything outside the
// script has a hole in it (Word.Static is false).
//
// A branch counts as taken, a loop as run once (over literal words: once for
// each), and a variable that a branch may have set as having either value. Where
// this is wrong, too many commands are told of rather than too few. All work is
// bounded, whatever the script says.
package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds. The parser is recursive, and scripts are hostile.
const (
	maxScriptBytes = 256 << 10 // bytes
	maxWordBytes   = 64 << 10  // bytes of one word
	maxNesting     = 200
	maxScriptDepth = 8      // scripts within scripts, functions within functions
	maxWrappers    = 100    // commands that run commands
	maxWork        = 60_000 // about one for each command and each of its words
	maxFields      = 256    // that braces make of one word
)

// Hole stands in a text for what cannot be told.
const Hole = "\uFFFC"

// Word is one argument of a command.
type Word struct {
	Text        string   // what the shell would pass on, with holes for what cannot be told
	Source      string   // as it is written
	Static      bool     // Text has no holes
	Glob        bool     // its *, ? or [ stand for names of files
	From        []string // names of the commands whose output is in it
	findTargets []Word   // what find prints, as far as it can be told, for an xargs right behind it
}

// Command is one simple command that a script would run.
type Command struct {
	Args       []Word   // its name first; none for a redirection alone
	Writes     []Word   // files that redirections write
	Reads      []Word   // files that redirections read
	Env        []Word   // NAME=value that the script sets for it, or exported before
	In         Word     // what it reads from a pipe or a here-document
	Dir        string   // where it would run; "" = cannot be told
	Background bool     // it is left running: its statement ends with &
	Outer      *Command // that would run it: sudo, bash -c, find; nil = the script itself
}

// Host is told what a script would do, in order.
type Host interface {
	// Run is told of each command; of sudo git push first as a whole, then of
	// git push.
	Run(c *Command)
	// Script is told of shell text that cannot be read, or not all of it. c would
	// run it; nil = it is what Read was given.
	Script(c *Command, text Word)
	// TooMuch is told of a script beyond the bounds of what is read.
	TooMuch(c *Command, text Word)
	// Code is told of code of another language.
	Code(c *Command, text Word)
}

// Options say where a script would run.
type Options struct {
	Dir  string            // its current folder, absolute
	Home string            // what ~ stands for
	Root string            // of the repository
	Temp string            // for temporary files
	Vars map[string]string // what is known of the environment
}

// Read walks a script.
func Read(src string, o Options, h Host) {
	work, links := maxWork, 0
	r := &reader{host: h, options: o, dir: o.Dir, workLeft: &work, pipeCount: &links, writtenFiles: map[string]Word{}, definedFunctions: new([]*function)}
	r.vars = make(map[string]value, len(o.Vars))
	for name, text := range o.Vars {
		r.vars[name] = value{words: []Word{literal(text)}}
	}
	r.runScript(nil, literal(src), Word{Static: true})
	for i := 0; i < len(*r.definedFunctions); i++ { //nolint:intrange // a body may define more
		if f := (*r.definedFunctions)[i]; !f.isCalled {
			sub := r.copy()
			sub.params, sub.src = []Word{hole("$@")}, f.src
			sub.runStatement(f.body, Word{Static: true})
		}
	}
}

// reader is the state of a shell, as far as it can be told.
type reader struct {
	host             Host
	options          Options
	workLeft         *int
	pipeCount        *int            // process substitutions so far, to name them
	writtenFiles     map[string]Word // what the script wrote, by absolute path
	definedFunctions *[]*function

	dir             string   // "" = cannot be told
	dirStack        []string // of pushd
	vars            map[string]value
	exportedNames   []string // names of those that commands get
	funcs           map[string]*function
	aliases         map[string]Word
	params          []Word
	openBranches    int  // branches that may not be taken
	hasAlternatives bool // some variable has more than one value
	depth           int
	src             string // what the positions of nodes refer to
	outer           *Command
	isBackground    bool // what runs is left running
}

type function struct {
	body     *syntax.Stmt
	src      string
	isCalled bool
}

func literal(s string) Word { return Word{Text: s, Source: s, Static: true} }

func hole(source string) Word { return Word{Text: Hole, Source: source} }

// spend counts work; false means that there was too much of it.
func (r *reader) spend(n int) bool {
	if *r.workLeft < 0 {
		return false
	}
	*r.workLeft -= n
	if *r.workLeft < 0 {
		r.host.TooMuch(r.outer, Word{Text: r.src, Source: r.src})
		return false
	}
	return true
}

// script walks text as shell; c would run it, nil = nobody. It gives what that
// prints.
func (r *reader) runScript(c *Command, w, in Word) Word {
	if !w.Static && (len(w.From) > 0 || strings.Trim(w.Text, Hole+" \t\n") == "") {
		r.host.Script(c, w)
	}
	if exceedsLimits(w.Text) || r.depth >= maxScriptDepth || !r.spend(1+len(w.Text)/64) {
		r.host.TooMuch(c, w)
		return Word{Text: Hole}
	}
	list, ok := Parse(w.Text)
	if !ok {
		r.host.Script(c, w)
		return Word{Text: Hole}
	}
	src, outer := r.src, r.outer
	r.src, r.outer = w.Text, c
	r.depth++
	out := r.runStatements(list, in)
	r.depth--
	r.src, r.outer = src, outer
	return out
}

// child walks text as the script of a shell of its own.
func (r *reader) runChildScript(c *Command, w, in Word) {
	sub := r.copy()
	sub.runScript(c, w, in)
}

// Parse reads the commands of a script, for who looks at how they follow one another;
// false where it is none, or beyond the bounds of what is read.
func Parse(script string) ([]*syntax.Stmt, bool) {
	if exceedsLimits(script) {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, false
	}
	return file.Stmts, true
}

func exceedsLimits(script string) bool {
	return len(script) > maxScriptBytes || nestingDepth(script) > maxNesting
}

// nesting estimates how deep a parser would have to recurse.
func nestingDepth(src string) int {
	depth, deepest := 0, 0
	for _, field := range strings.FieldsFunc(src, func(r rune) bool { return r == ' ' || r == '\n' || r == ';' || r == '\t' }) {
		switch field {
		case "if", "while", "until", "for", "case", "!", "do", "then":
			depth++
		case "fi", "done", "esac":
			depth = max(0, depth-1)
		}
		for _, r := range field {
			switch r {
			case '(', '{':
				depth++
			case ')', '}':
				depth = max(0, depth-1)
			}
			deepest = max(deepest, depth)
		}
		deepest = max(deepest, depth)
	}
	return deepest
}
