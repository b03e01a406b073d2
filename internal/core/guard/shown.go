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
const silent = "[ basename cd chgrp chmod chown cp df dirname du echo find fd fdfind ln ls mkdir mktemp mv printf pushd readlink " +
	"realpath rm rmdir stat test touch tree type wc which"

// everything below a folder.
const everything = "/**"

// all of the work tree may have been shown.
func (j *check) showsAll() { j.touch(slashed(j.rules.Root) + everything) }

// shows notes what a command may show of files, beyond those that it reads by the
// rules for readers.
func (j *check) shows(c *shell.Command, name string, args []word) {
	of, reads := readers[name]
	switch {
	case listed("rg ag ack", name), listed("grep egrep fgrep diff", name) && flag(args, "--recursive", "rR", of.valued):
		j.searches(args, of.valued, name != "diff")
	case reads && c.Outer != nil && len(c.Outer.Args) > 0 && listed("find fd fdfind", shell.Name(c.Outer.Args[0].Text)):
		for _, w := range operands(args) {
			j.showsBelow(word{Text: path.Dir(w.Text), Static: w.Static})
			j.showsBelow(w)
		}
	case reads:
		for _, w := range operands(without(args, of.valued, "")) {
			if !w.Static {
				j.showsBelow(w)
			}
		}
	case listed(silent, name):
	default:
		for _, w := range args {
			j.names(w.Text)
		}
	}
}

// searches notes the folders that a search goes through: its operands behind the
// pattern, or else the current one. One that lists names shows no file.
func (j *check) searches(args []word, valued string, pattern bool) {
	if pattern && (flag(args, "--files-with-matches", "lLqc", valued) || has(args, "--files", "") || has(args, "--count", "")) {
		return
	}
	ops := operands(without(args, valued, "--include --exclude --glob --type --regexp --file"))
	if pattern && len(ops) > 0 && !has(args, "--regexp", "") && !flag(args, "", "ef", valued) {
		ops = ops[1:]
	}
	for _, w := range ops {
		j.showsBelow(w)
	}
	if len(ops) == 0 {
		j.showsBelow(word{Text: ".", Static: true})
	}
}

// showsBelow notes a file or folder with all that is in it. Of a name that can be
// told in part, the folder that can be told is meant.
func (j *check) showsBelow(w word) {
	name, _, _ := strings.Cut(w.Text, shell.Hole)
	if name != w.Text {
		name = name[:strings.LastIndexByte(name, '/')+1]
	}
	p := j.resolve(name)
	if p == "" || name == "" {
		j.showsAll()
		return
	}
	j.touch(p)
	j.touch(strings.TrimSuffix(p, "/") + everything)
}

// names notes the file that a word may name, also behind an option's equals sign.
func (j *check) names(text string) {
	if _, value, ok := strings.Cut(text, "="); ok {
		j.names(value)
	}
	if text == "" || strings.HasPrefix(text, "-") || len(text) > 1024 || strings.ContainsAny(text, "\n"+shell.Hole) {
		return
	}
	if p := j.resolve(text); p != "" {
		j.touch(p)
	}
}

// somewhere notes a file whose folder cannot be told.
func (j *check) somewhere(name string) {
	j.touch(slashed(j.rules.Root) + everything + "/" + path.Base(name))
}

// gitShows notes what a git command shows.
func (j *check) gitShows(sub string, args []word) {
	patch := flag(args, "--patch", "pu", "SGnO") || has(args, "--cc", "")
	switch ops := operands(args); sub {
	case "grep":
		j.searches(args, "efABCmO", true)
		return
	case "diff", "show", "format-patch", "range-diff", "difftool":
		if !patch && slices.ContainsFunc(args, func(w word) bool {
			return listed("-s --no-patch --quiet --name-only --name-status --numstat --shortstat --stat --summary", w.Text)
		}) {
			return
		}
	case "log", "reflog", "whatchanged":
		if !patch && !flag(args, "", "L", "SGnO") {
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
	j.diffs(args)
}

// diffs notes the paths among the operands of a diff: those behind --, or that
// look like a file's name; all of the work tree where there are none.
func (j *check) diffs(args []word) {
	found, paths := false, false
	for _, w := range args {
		rev, file, ofRev := strings.Cut(w.Text, ":")
		j.shownSecret(w)
		switch {
		case paths:
			j.showsBelow(w)
			found = true
		case w.Text == "--":
			paths = true
		case strings.HasPrefix(w.Text, "-"):
		case ofRev && rev != "" && file != "" && w.Static:
			j.names(slashed(j.rules.Root) + "/" + file)
			j.names(file)
			found = true
		case w.Static && fileName(w.Text):
			j.names(w.Text)
			found = true
		}
	}
	if !found {
		j.showsAll()
	}
}

// shownSecret judges a file that git shows, of a revision (HEAD:.env) or as it is.
func (j *check) shownSecret(w word) {
	name := w.Text[strings.LastIndexByte(w.Text, ':')+1:]
	if p := j.resolve(name); !strings.HasPrefix(w.Text, "-") && p != "" && j.isSecret(p) {
		j.readAt(name, p, false)
	}
}

// fileName tells a file's name from a revision's: it has an ending that begins
// with a letter.
func fileName(s string) bool {
	ext := path.Ext(s)
	return len(ext) > 1 && !strings.Contains(s, "..") && !strings.ContainsAny(s, "^~@{") && strings.Trim(ext[1:2], "0123456789") != ""
}

// codeShows notes the files that code of another language names; what it looks for
// itself may be any.
func (j *check) codeShows(code string) {
	for _, looks := range []string{"glob", "walk", "listdir", "scandir", "readdir", "iterdir", "popen", "subprocess", "spawn", "exec"} {
		if strings.Contains(strings.ToLower(code), looks) {
			j.showsAll()
			return
		}
	}
	for _, s := range quoted(code) {
		if at := strings.IndexAny(s, "{%$"); at >= 0 && strings.Contains(s, "/") {
			j.showsBelow(word{Text: s[:at] + shell.Hole})
		}
		j.names(s)
	}
}
