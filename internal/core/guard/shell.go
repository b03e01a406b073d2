package guard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is parsed: the parser is recursive, and commands are hostile.
const (
	maxScript  = 256 << 10
	maxNesting = 200
	maxDepth   = 8 // scripts within scripts
)

// script judges a piece of shell.
func (j *judge) script(src string) {
	if len(src) > maxScript || nesting(src) > maxNesting || j.depth >= maxDepth {
		j.unread(src)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		j.unread(src)
		return
	}
	j.depth++
	j.walk(file, src)
	j.depth--
}

func (j *judge) unread(src string) {
	if carriesGit(src) {
		j.ask("a command that cannot be parsed")
	}
}

// walk visits the simple commands in the order they are written. What a
// subshell does to the current directory and branch ends with it.
func (j *judge) walk(root syntax.Node, src string) {
	type saved struct {
		restore bool
		cwd     string
		branch  string
	}
	var stack []saved
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if top.restore {
				j.cwd, j.branch = top.cwd, top.branch
			}
			return true
		}
		s := saved{cwd: j.cwd, branch: j.branch}
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			s.restore = true
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				s.restore = true
				j.piped(n, src)
			}
		case *syntax.Stmt:
			j.redirects(n)
		case *syntax.CallExpr:
			j.command(j.words(n.Args, src))
		}
		stack = append(stack, s)
		return true
	})
}

// nesting estimates how deep a parser would have to recurse.
func nesting(src string) int {
	depth, deepest := 0, 0
	for _, field := range strings.FieldsFunc(src, func(r rune) bool { return r == ' ' || r == '\n' || r == ';' || r == '\t' }) {
		switch field {
		case "if", "while", "until", "for", "case", "{", "!", "do", "then":
			depth++
		case "fi", "done", "esac", "}":
			depth = max(0, depth-1)
		}
		for _, r := range field {
			switch r {
			case '(':
				depth++
			case ')':
				depth = max(0, depth-1)
			}
			deepest = max(deepest, depth)
		}
	}
	return deepest
}

func (j *judge) redirects(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
			if w := j.word(r.Word); w.static {
				j.write(w.text)
			}
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			j.shellInput(s.Cmd, r)
		}
	}
}

// shellInput judges a here-document that a shell reads as its script.
func (j *judge) shellInput(cmd syntax.Command, r *syntax.Redirect) {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !shells[base(j.word(call.Args[0]).text)] {
		return
	}
	body := r.Hdoc
	if body == nil {
		body = r.Word
	}
	if body != nil {
		j.embedded(j.word(body))
	}
}

// piped judges `echo 'git push' | sh`.
func (j *judge) piped(n *syntax.BinaryCmd, src string) {
	to, ok := n.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(to.Args) == 0 || !shells[base(j.word(to.Args[0]).text)] {
		return
	}
	from, ok := n.X.Cmd.(*syntax.CallExpr)
	if !ok || len(from.Args) == 0 {
		return
	}
	if name := base(j.word(from.Args[0]).text); name == "echo" || name == "printf" {
		for _, w := range j.words(from.Args[1:], src) {
			j.embedded(w)
		}
		j.embedded(join(j.words(from.Args[1:], src)))
	}
}

// embedded judges a word that is itself a script.
func (j *judge) embedded(w word) {
	switch {
	case w.static:
		j.script(w.text)
	case carriesGit(w.text):
		j.ask("a command that is put together at run time")
	default:
		j.unknown(w.text)
	}
}

// command judges one simple command, its wrappers taken off.
func (j *judge) command(args []word) {
	lifted := j.lifted
	defer func() { j.lifted = lifted }()
	j.shapes(args)
	whole := len(args)
	args = j.unwrap(args)
	if len(args) == 0 {
		return
	}
	if len(args) != whole {
		j.shapes(args)
	}
	if !args[0].static {
		if carriesVerb(join(args).text) {
			j.ask("a command whose name is put together at run time")
		} else {
			j.unknown(join(args).text)
		}
		return
	}
	name := base(args[0].text)
	switch {
	case name == "git":
		j.git(args[1:])
	case name == "cd" || name == "pushd":
		j.chdir(args[1:])
	case name == "popd":
		j.cwd = ""
	case name == "pawl":
		j.pawl(args[1:])
	case name == "gh" || name == "glab":
		j.forge(args[1:])
	case interpreters[name]:
		j.interpreter(args[1:])
	default:
		j.writer(name, args[1:])
	}
}

// shapes applies the settings' own patterns to a command.
func (j *judge) shapes(args []word) {
	for _, p := range j.rules.Deny {
		if p.tightens(args) {
			j.custom(Deny, p)
		}
	}
	for _, p := range j.rules.Ask {
		if p.tightens(args) {
			j.custom(Ask, p)
		}
	}
	j.lifted = j.lifted || slices.ContainsFunc(j.rules.Allow, func(p Pattern) bool { return p.loosens(args) })
}

func (j *judge) chdir(args []word) {
	args = operands(args)
	switch {
	case len(args) == 0:
		j.cwd = j.resolve("~")
	case args[0].static && args[0].text != "-":
		j.cwd = j.resolve(args[0].text)
	default:
		j.cwd = ""
	}
}

// pawl keeps the agent's hands off the loop's own controls.
func (j *judge) pawl(args []word) {
	if len(args) == 0 {
		return
	}
	switch args[0].text {
	case "trust", "grant", "deny", "stop", "pause", "resume", "restore", "undo", "install", "uninstall", "handover", "session":
		j.deny(RuleState, "pawl "+args[0].text)
	case "start":
		if slices.ContainsFunc(args, func(w word) bool { return w.text == "--take" || strings.HasPrefix(w.text, "--take=") }) {
			j.deny(RuleState, "pawl start --take")
		}
	}
}

// forge judges the command lines of code hosts.
func (j *judge) forge(args []word) {
	words := operands(args)
	if len(words) >= 2 && (words[0].text == "pr" || words[0].text == "mr") && words[1].text == "merge" {
		j.deny(RuleMerge, "merging a "+words[0].text)
	}
}

// interpreter judges code given on the command line of another language.
func (j *judge) interpreter(args []word) {
	for i, w := range args {
		if (w.text == "-c" || w.text == "-e" || w.text == "-r" || w.text == "--eval") && i+1 < len(args) && carriesGit(args[i+1].text) {
			j.ask("code that seems to call git")
		}
	}
}

var interpreters = map[string]bool{
	"python": true, "python3": true, "perl": true, "ruby": true, "node": true, "php": true, "bun": true, "deno": true,
}

func base(name string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".exe")
}
