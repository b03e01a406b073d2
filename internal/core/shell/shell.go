// Package shell lists the commands that a shell script would run, without running them.
//
// It walks the script in order and follows the variables, functions, aliases and small files that
// the script makes. So `g=git; $g push` is a push, and `echo 'git push'` is not. It also follows
// commands that run other commands: sudo and the like, xargs, find, bash -c, eval, pipes into a
// shell, git aliases. Text that depends on anything outside the script has a hole (Word.Static is
// false).
//
// A branch counts as taken. A loop runs once; over literal words, once for each. A variable that a
// branch may have set has either value. If this is wrong, the package reports too many commands
// rather than too few. All work is bounded, whatever the script says.
package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits on scripts: the parser is recursive, and scripts may be hostile.
const (
	maxScriptBytes = 256 << 10 // bytes
	maxWordBytes   = 64 << 10  // bytes of one word
	maxNesting     = 200
	maxScriptDepth = 8      // scripts within scripts, functions within functions
	maxWrappers    = 100    // nested commands that run commands
	maxWork        = 60_000 // units of work: about one for each command and each of its words
	maxPipeNames   = 8      // commands of a pipe that Command.Output names
	maxFields      = 256    // words that braces make of one word, elements of an array, recorded files
)

// Unknown marks a part of a text that is unknown.
const Unknown = "\uFFFC"

// Word is one argument of a command.
type Word struct {
	Text   string   // what the shell would pass to the command, with holes for unknown parts
	Source string   // as written in the script
	Static bool     // Text has no holes
	Glob   bool     // its *, ? or [ are wildcards for file names
	From   []string // names of the commands whose output it contains
	found  []Word   // the files that find prints, for an xargs that follows
}

// Part returns a part of the text of a word, such as the value in --name=value, as a word.
func (w Word) Part(text string) Word {
	return Word{Text: text, Source: w.Source, Static: w.Static, From: w.From}
}

// Command is one simple command that a script would run.
type Command struct {
	Args       []Word   // the name first; empty for a redirection without a command
	Writes     []Word   // files that redirections write
	Reads      []Word   // files that redirections read
	Env        []Word   // NAME=value pairs that the script sets for this command or exported before
	In         Word     // its input from a pipe or a here-document
	Output     string   // what receives its output, see the constants; "" = the output of the script
	Dir        string   // the folder in which it would run; "" = unknown
	File       string   // the script of Options.ReadFile that contains it; "" = none
	Background bool     // it runs in the background: its statement ends with &
	Outer      *Command // the command that would run it: sudo, bash -c, find; nil = the script itself
}

// Host receives what a script would do, in order.
type Host interface {
	// Run receives each command: of sudo git push first the whole, then git push.
	Run(c *Command)
	// Script receives shell text that cannot be parsed or is unknown in part. c would
	// run it; nil = it is the script of Read.
	Script(c *Command, text Word)
	// TooLong receives a script that exceeds the limits.
	TooLong(c *Command, text Word)
	// Code receives code of another language.
	Code(c *Command, text Word)
}

// Options describes the environment in which a script would run.
type Options struct {
	Dir  string            // the current folder, absolute
	Home string            // the folder that ~ stands for
	Root string            // the root of the repository
	Temp string            // the folder for temporary files
	Vars map[string]string // known variables of the environment

	// ReadFile reads an existing file, by absolute path, so that the scripts which a script runs are
	// walked too. Such scripts are the user's own: a cd to an unknown folder is ignored, and find and
	// ls print globs, with ** for any folder. nil = only scripts that the script wrote are walked.
	ReadFile func(file string) (text string, ok bool)
}

// Prefixes of Command.Output.
const (
	OutputFile  = "> " // the name of a file follows
	OutputPipe  = "| " // the names of the commands after it in the pipe follow, with blanks
	OutputWord  = "$( )"
	OutputValue = "=$( )" // of a variable, whose assignment passes on the exit code
)

// Read walks a script and reports what it would do to the host. At the end it walks functions that
// the script defines and does not call.
func Read(src string, o Options, h Host) {
	work, links := maxWork, 0
	r := &reader{
		host: h, options: o, dir: o.Dir, workLeft: &work, pipeCount: &links, writtenFiles: map[string]Word{}, definedFunctions: new([]*function),
		vars: map[string]value{}, funcs: map[string]*function{}, aliases: map[string]Word{},
	}
	for name, text := range o.Vars {
		r.vars[name] = value{words: []Word{literal(text)}}
	}
	r.runScript(nil, literal(src), Word{Static: true})
	for i := 0; i < len(*r.definedFunctions); i++ { //nolint:intrange // a body may define more
		if f := (*r.definedFunctions)[i]; !f.isCalled {
			sub := r.copy()
			sub.params, sub.src, sub.files = []Word{hole("$@")}, f.src, f.files
			sub.runStatement(f.body, Word{Static: true})
		}
	}
}

// reader is the state of a shell, as far as it is known.
type reader struct {
	host             Host
	options          Options
	workLeft         *int
	pipeCount        *int            // number of process substitutions, for their names
	writtenFiles     map[string]Word // content of files that the script wrote, by absolute path
	definedFunctions *[]*function

	dir             string   // the current folder; "" = unknown
	dirStack        []string // folders of pushd
	vars            map[string]value
	exportedNames   []string // names of exported variables
	funcs           map[string]*function
	aliases         map[string]Word
	params          []Word
	openBranches    int  // number of enclosing branches that may not be taken
	hasAlternatives bool // a variable has more than one possible value
	depth           int
	src             string   // the text that the positions of nodes refer to
	output          string   // what receives the output of commands, as Command.Output
	files           []string // the scripts of ReadFile that are being run, the innermost last
	outer           *Command
	assigned        string // the variable to which the word that is being expanded is assigned
	isBackground    bool   // commands run in the background
}

// function is a shell function that the script defines.
type function struct {
	body     *syntax.Stmt
	src      string
	files    []string // as in reader, where it is defined
	isCalled bool
}

// literal returns a known word.
func literal(s string) Word { return Word{Text: s, Source: s, Static: true} }

// hole returns an unknown word.
func hole(source string) Word { return Word{Text: Unknown, Source: source} }

// spend counts work. It returns false after the limit, and reports the script to the host when it
// first exceeds it.
func (r *reader) spend(n int) bool {
	if *r.workLeft < 0 {
		return false
	}
	*r.workLeft -= n
	if *r.workLeft < 0 {
		r.host.TooLong(r.outer, Word{Text: r.src, Source: r.src})
		return false
	}
	return true
}

// runScript walks text as shell and returns its output. c would run the text; nil means the script
// of Read.
func (r *reader) runScript(c *Command, w, in Word) Word {
	if !w.Static && (len(w.From) > 0 || strings.Trim(w.Text, Unknown+" \t\n") == "") {
		r.host.Script(c, w)
	}
	if exceedsLimits(w.Text) || r.depth >= maxScriptDepth || !r.spend(1+len(w.Text)/64) {
		r.host.TooLong(c, w)
		return Word{Text: Unknown}
	}
	list, ok := Parse(w.Text)
	if !ok {
		r.host.Script(c, w)
		return Word{Text: Unknown}
	}
	src, outer := r.src, r.outer
	r.src, r.outer = w.Text, c
	r.depth++
	out := r.runStatements(list, in)
	r.depth--
	r.src, r.outer = src, outer
	return out
}

// runChildScript walks text as the script of a separate shell.
func (r *reader) runChildScript(c *Command, w, in Word) {
	r.copy().runScript(c, w, in)
}

// Parse parses the commands of a script for callers that check their order. It returns false if
// the text is no valid script or exceeds the limits.
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

// exceedsLimits reports whether a script is too long or too deep to be parsed.
func exceedsLimits(script string) bool {
	return len(script) > maxScriptBytes || nestingDepth(script) > maxNesting
}

// nestingDepth estimates the recursion depth of a parser.
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
