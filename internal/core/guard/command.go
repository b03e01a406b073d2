package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

type word = shell.Word

// Run judges one command of a script.
func (j *judge) Run(c *shell.Command) {
	lifted := j.lifted
	defer func() { j.lifted = lifted }()
	j.dir = c.Dir
	j.shapes(c)
	for _, w := range c.Writes {
		j.each(w, j.write)
	}
	for _, w := range c.Reads {
		j.each(w, j.read)
	}
	if len(c.Args) == 0 {
		return
	}
	if name := c.Args[0]; !name.Static || name.Glob {
		j.nameless(c)
		return
	}
	name, args := shell.Name(c.Args[0].Text), c.Args[1:]
	switch name {
	case "git":
		j.git(c, args)
	case "gh", "glab":
		j.forge(args)
	case "pawl":
		j.pawl(args)
	default:
		j.tool(name, args)
		j.kill(name, args)
		j.machine(name, c.Args)
		j.personal(name, args)
		j.writer(name, c, args)
		j.reader(name, args)
		j.shows(c, name, args)
	}
}

// shapes applies the settings' own patterns to a command. One that allows it
// allows what it runs in turn, and so does one that asks about it: the question is
// about the whole.
func (j *judge) shapes(c *shell.Command) {
	for _, p := range j.rules.Deny {
		if p.tightens(c.Args) {
			j.custom(Deny, p)
		}
	}
	for _, p := range j.rules.Ask {
		if p.tightens(c.Args) {
			j.custom(Ask, p)
		}
	}
	for x := c; x != nil && len(j.rules.Allow)+len(j.rules.Ask) > 0; x = x.Outer {
		whole := func(p Pattern) bool { return p.loosens(x.Args) }
		if i := slices.IndexFunc(j.rules.Ask, whole); i >= 0 {
			j.custom(Ask, j.rules.Ask[i])
			j.lifted = true
		}
		j.lifted = j.lifted || slices.ContainsFunc(j.rules.Allow, whole)
	}
}

// nameless judges a command whose name cannot be told, or is a glob.
func (j *judge) nameless(c *shell.Command) {
	text := shell.Join(c.Args)
	j.shows(c, "", c.Args[1:])
	if name := c.Args[0]; name.Static {
		for _, known := range []string{"git", "npm", "rm", "pkill", "killall", "gh", "pawl", "curl", "sudo", "bash", "sh"} {
			if ok, err := path.Match(shell.Base(name.Text), known); ok && err == nil {
				j.ask("a command whose name is a pattern, " + clip(name.Text))
				return
			}
		}
		return
	}
	if j.fetched(c.Args[0]) {
		return
	}
	if carriesVerb(text) {
		j.ask("a command whose name is put together at run time, " + clip(text.Source))
		return
	}
	j.unknown(text.Source)
}

// Script judges shell text that cannot be read, or not all of it.
func (j *judge) Script(c *shell.Command, w word) {
	j.showsAll()
	switch {
	case j.fetched(w):
	case carriesGit(w):
		j.ask("a command that cannot be read, " + clip(w.Source))
	case c == nil:
		j.unknown("it cannot be parsed as shell: " + w.Source)
	default:
		j.unknown(w.Source)
	}
}

// TooMuch judges a script that nobody would write by hand.
func (j *judge) TooMuch(_ *shell.Command, w word) {
	j.showsAll()
	j.ask("a command that is too long or too deep to be read, " + clip(w.Source))
}

// Code judges code of another language. It is searched for words of the rules
// where it seems to run commands, and for the names of guarded files.
func (j *judge) Code(c *shell.Command, w word) {
	j.codeShows(w.Text)
	switch {
	case j.fetched(w):
	case runsCommands(w.Text) && (carriesGit(w) || carriesKill(w)):
		j.ask("code that seems to run a command the loop forbids")
	case j.namesGuarded(w.Text):
		j.ask("code that names a guarded file")
	case !w.Static:
		j.unknown(w.Source)
	}
}

// fetchers are commands that print what the network sends.
const fetchers = "curl wget http https xh fetch lynx w3m nc ncat netcat socat ftp ssh"

// fetched tells whether the network wrote what would run.
func (j *judge) fetched(w word) bool {
	for _, name := range w.From {
		if listed(fetchers, name) {
			j.deny(RuleNetwork, "running what "+name+" prints")
			return true
		}
	}
	return false
}

// namesGuarded looks for guarded files among the quoted texts in code.
func (j *judge) namesGuarded(code string) bool {
	before := j.verdict
	defer func() { j.verdict = before }()
	writes := slices.ContainsFunc(writing, func(s string) bool { return strings.Contains(code, s) })
	for _, s := range quoted(code) {
		p := j.resolve(s)
		switch {
		case p == "":
		case j.isSecret(p), j.state(p):
			return true
		case writes && (j.isSettings(p, false) || j.protected(p, false) || inGitDir(p, false)):
			return true
		}
	}
	return false
}

// writing are words of code that changes files.
var writing = []string{
	"write", "Write", "unlink", "remove", "rmtree", "rename", "copy", "truncate", "'w", `"w`, "'a'", `"a"`, "'r+", `"r+`, "rm(", "rmSync", "symlink", ">",
}

// quoted are the texts between quotes, as far as they could be names of files.
func quoted(code string) []string {
	var out []string
	for _, q := range []string{`'`, `"`, "`"} {
		for i, s := range strings.Split(code, q) {
			if i > 0 && s != "" && len(s) < 256 && !strings.ContainsAny(s, "\n\t()<>*") && len(out) < 256 {
				out = append(out, s)
			}
		}
	}
	return out
}

// runsCommands tells whether code has the words with which languages run
// commands.
func runsCommands(code string) bool {
	code = strings.ToLower(code)
	return slices.ContainsFunc([]string{"system", "exec", "spawn", "popen", "subprocess", "command", "shell", "process", "run", "`", "%x", "qx", "|"}, func(s string) bool {
		return strings.Contains(code, s)
	})
}

// verbs are what a rule is about, as bare words.
const verbs = "push send-pack rebase filter-branch filter-repo update-ref publish --hard --amend --no-verify"

// carriesVerb looks for a rule's words in a command whose name is not known.
func carriesVerb(w word) bool {
	for _, t := range tokens(w) {
		if listed(verbs, t) {
			return true
		}
	}
	return false
}

// carriesGit looks for git and its like, and close behind it a rule's words, in
// text that is not understood. Close, for code pushes many things that are no
// commits.
func carriesGit(w word) bool {
	const close = 4
	since := close + 1
	for _, t := range tokens(w) {
		switch {
		case listed("git npm pnpm yarn cargo twine docker gem", strings.TrimLeft(t, "-")):
			since = 0
		case since < close && listed(verbs, t):
			return true
		}
		since++
	}
	return false
}

func carriesKill(w word) bool {
	return slices.ContainsFunc(tokens(w), func(t string) bool { return t == "pkill" || t == "killall" })
}

// tokens are the words in what is known of a text, and in its source.
func tokens(w word) []string {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
	}
	out := split(w.Text)
	if w.Source != w.Text {
		out = append(append(out, ""), split(w.Source)...)
	}
	if strings.Contains(w.Text, shell.Hole) {
		out = append(append(out, ""), split(strings.ReplaceAll(w.Text, shell.Hole, ""))...)
	}
	return out
}

// listed tells whether a word is in a blank-separated list.
func listed(list, w string) bool {
	if w == "" {
		return false
	}
	for rest := list; ; {
		at := strings.Index(rest, w)
		if at < 0 {
			return false
		}
		end := at + len(w)
		if (at == 0 || rest[at-1] == ' ') && (end == len(rest) || rest[end] == ' ') {
			return true
		}
		rest = rest[end:]
	}
}
