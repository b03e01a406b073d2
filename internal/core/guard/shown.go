package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// What a call shows of files is told generously: whoever read a file in whatever
// way is not to be sent to read it again. So a folder that was searched stands for
// all that is in it, a diff without paths for the whole work tree, and the operand
// of a program that nobody knows for a file that it printed.

// silent are commands that show nothing of the files they name.
const silentCommands = "[ basename cd chgrp chmod chown cp df dirname du echo find fd fdfind ln ls mkdir mktemp mv printf pushd readlink " +
	"realpath rm rmdir stat test touch tree type wc which"

// everything below a folder.
const allBelow = "/**"

// all of the work tree may have been shown.
func (j *checker) touchAll() { j.touchPath(cleanPath(j.rules.Root) + allBelow) }

// shows notes what a command may show of files, beyond those that it reads by the
// rules for readers.
func (j *checker) touchShown(c *shell.Command, name string, args []word) {
	of, reads := readCommands[name]
	switch {
	case inList("rg ag ack", name), inList("grep egrep fgrep diff", name) && hasOptionAmongValued(args, "--recursive", "rR", of.valued):
		j.touchSearched(args, of.valued, name != "diff")
	case reads && c.Outer != nil && len(c.Outer.Args) > 0 && inList("find fd fdfind", shell.Name(c.Outer.Args[0].Text)):
		for _, w := range operands(args) {
			j.touchBelow(word{Text: path.Dir(w.Text), Static: w.Static})
			j.touchBelow(w)
		}
	case reads:
		for _, w := range operands(dropValueOptions(args, of.valued, "")) {
			if !w.Static {
				j.touchBelow(w)
			}
		}
	case inList(silentCommands, name):
	default:
		for _, w := range args {
			j.touchNamed(w.Text)
		}
	}
}

// searches notes the folders that a search goes through: its operands behind the
// pattern, or else the current one. One that lists names shows no file.
func (j *checker) touchSearched(args []word, valued string, pattern bool) {
	if pattern && (hasOptionAmongValued(args, "--files-with-matches", "lLqc", valued) || hasOption(args, "--files", "") || hasOption(args, "--count", "")) {
		return
	}
	ops := operands(dropValueOptions(args, valued, "--include --exclude --glob --type --regexp --file"))
	if pattern && len(ops) > 0 && !hasOption(args, "--regexp", "") && !hasOptionAmongValued(args, "", "ef", valued) {
		ops = ops[1:]
	}
	for _, w := range ops {
		j.touchBelow(w)
	}
	if len(ops) == 0 {
		j.touchBelow(word{Text: ".", Static: true})
	}
}

// showsBelow notes a file or folder with all that is in it. Of a name that can be
// told in part, the folder that can be told is meant.
func (j *checker) touchBelow(w word) {
	name, _, _ := strings.Cut(w.Text, shell.Hole)
	if name != w.Text {
		name = name[:strings.LastIndexByte(name, '/')+1]
	}
	p := j.resolve(name)
	if p == "" || name == "" {
		j.touchAll()
		return
	}
	j.touchPath(p)
	j.touchPath(strings.TrimSuffix(p, "/") + allBelow)
}

// names notes the file that a word may name, also behind an option's equals sign.
func (j *checker) touchNamed(text string) {
	if _, value, ok := strings.Cut(text, "="); ok {
		j.touchNamed(value)
	}
	if text == "" || strings.HasPrefix(text, "-") || len(text) > 1024 || strings.ContainsAny(text, "\n"+shell.Hole) {
		return
	}
	if p := j.resolve(text); p != "" {
		j.touchPath(p)
	}
}

// somewhere notes a file whose folder cannot be told.
func (j *checker) touchSomewhere(name string) {
	j.touchPath(cleanPath(j.rules.Root) + allBelow + "/" + path.Base(name))
}

// gitShows notes what a git command shows.
func (j *checker) touchGitShown(sub string, args []word) {
	patch := hasOptionAmongValued(args, "--patch", "pu", "SGnO") || hasOption(args, "--cc", "")
	switch ops := operands(args); sub {
	case "grep":
		j.touchSearched(args, "efABCmO", true)
		return
	case "diff", "show", "format-patch", "range-diff", "difftool":
		if !patch && slices.ContainsFunc(args, func(w word) bool {
			return inList("-s --no-patch --quiet --name-only --name-status --numstat --shortstat --stat --summary", w.Text)
		}) {
			return
		}
	case "log", "reflog", "whatchanged":
		if !patch && !hasOptionAmongValued(args, "", "L", "SGnO") {
			return
		}
	case "stash":
		if !patch || len(ops) == 0 || ops[0].Text != "show" {
			return
		}
	case "blame", "annotate", "cat-file":
	default:
		return
	}
	j.touchDiff(args)
}

// diffs notes the paths among the operands of a diff: those behind --, or that
// look like a file's name; all of the work tree where there are none.
func (j *checker) touchDiff(args []word) {
	found, paths := false, false
	for _, w := range args {
		rev, file, ofRev := strings.Cut(w.Text, ":")
		j.checkShownSecret(w)
		switch {
		case paths:
			j.touchBelow(w)
			found = true
		case w.Text == "--":
			paths = true
		case strings.HasPrefix(w.Text, "-"):
		case ofRev && rev != "" && file != "" && w.Static:
			j.touchNamed(cleanPath(j.rules.Root) + "/" + file)
			j.touchNamed(file)
			found = true
		case w.Static && isFileName(w.Text):
			j.touchNamed(w.Text)
			found = true
		}
	}
	if !found {
		j.touchAll()
	}
}

// shownSecret judges a file that git shows, of a revision (HEAD:.env) or as it is.
func (j *checker) checkShownSecret(w word) {
	name := w.Text[strings.LastIndexByte(w.Text, ':')+1:]
	if p := j.resolve(name); !strings.HasPrefix(w.Text, "-") && p != "" && j.isSecret(p) {
		j.checkReadAt(name, p, false)
	}
}

// fileName tells a file's name from a revision's: it has an ending that begins
// with a letter.
func isFileName(s string) bool {
	ext := path.Ext(s)
	return len(ext) > 1 && !strings.Contains(s, "..") && !strings.ContainsAny(s, "^~@{") && strings.Trim(ext[1:2], "0123456789") != ""
}

// codeShows notes the files that code of another language names; what it looks for
// itself may be any.
func (j *checker) touchCode(code string) {
	for _, looks := range []string{"glob", "walk", "listdir", "scandir", "readdir", "iterdir", "popen", "subprocess", "spawn", "exec"} {
		if strings.Contains(strings.ToLower(code), looks) {
			j.touchAll()
			return
		}
	}
	for _, s := range stringLiterals(code) {
		if at := strings.IndexAny(s, "{%$"); at >= 0 && strings.Contains(s, "/") {
			j.touchBelow(word{Text: s[:at] + shell.Hole})
		}
		j.touchNamed(s)
	}
}
