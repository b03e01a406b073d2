package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// The files that a call shows are counted generously: an agent that read a file in any
// way should not have to read it again. A searched folder counts with all files in it, a
// diff without paths counts as the whole work tree, and an operand of an unknown program
// counts as a file that it printed.

// silentCommands are commands that print no content of the files they name.
const silentCommands = "[ basename cd chgrp chmod chown cp df dirname du echo find fd fdfind ln ls mkdir mktemp mv printf pushd readlink " +
	"realpath rm rmdir stat test touch tree type wc which"

// allBelow is the glob of everything below a folder.
const allBelow = "/**"

// touchAll records that the call may have shown any file of the work tree.
func (j *checker) touchAll() { j.touchPath(cleanPath(j.rules.Root) + allBelow) }

// touchShown records the files that a command may show, beyond those that checkReadCommand
// records.
func (j *checker) touchShown(c *shell.Command, name string, args []word) {
	of, reads := readCommands[name]
	switch {
	case inList("rg ag ack", name), inList("grep egrep fgrep diff", name) && hasOptionAmongValued(args, "--recursive", "rR", of.valueLetters):
		j.touchSearched(args, of.valueLetters, name != "diff")
	case reads && c.Outer != nil && len(c.Outer.Args) > 0 && inList("find fd fdfind", shell.CommandName(c.Outer.Args[0].Text)):
		for _, w := range operands(args) {
			j.touchBelow(word{Text: path.Dir(w.Text), Static: w.Static})
			j.touchBelow(w)
		}
	case reads:
		for _, w := range operandsAmongValued(args, of.valueLetters, "") {
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

// touchSearched records the folders that a search reads: its operands after the pattern, or else
// the current folder. A search that lists names only shows no file.
func (j *checker) touchSearched(args []word, valueLetters string, pattern bool) {
	if pattern && (hasOptionAmongValued(args, "--files-with-matches", "lLqc", valueLetters) || hasOption(args, "--files", "") || hasOption(args, "--count", "")) {
		return
	}
	ops := operandsAmongValued(args, valueLetters, "--include --exclude --glob --type --regexp --file")
	if pattern && len(ops) > 0 && !hasOption(args, "--regexp", "") && !hasOptionAmongValued(args, "", "ef", valueLetters) {
		ops = ops[1:]
	}
	for _, w := range ops {
		j.touchBelow(w)
	}
	if len(ops) == 0 {
		j.touchBelow(word{Text: ".", Static: true})
	}
}

// touchBelow records a file or folder with everything in it. If a name is known in part, it
// records the folder that is known.
func (j *checker) touchBelow(w word) {
	name, _, _ := strings.Cut(w.Text, shell.Unknown)
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

// touchNamed records the file that a word may name, also after an option's equals sign.
func (j *checker) touchNamed(text string) {
	if _, value, ok := strings.Cut(text, "="); ok {
		j.touchNamed(value)
	}
	if text == "" || strings.HasPrefix(text, "-") || len(text) > 1024 || strings.ContainsAny(text, "\n"+shell.Unknown) {
		return
	}
	if p := j.resolve(text); p != "" {
		j.touchPath(p)
	}
}

// touchSomewhere records a file whose folder is unknown.
func (j *checker) touchSomewhere(name string) {
	j.touchPath(cleanPath(j.rules.Root) + allBelow + "/" + path.Base(name))
}

// touchGitShown records the files that a git command shows.
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

// touchDiff records the paths among the operands of a diff: those after --, and those that look
// like file names. Without paths it records the whole work tree.
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

// checkShownSecret checks a file that git shows, of a revision (HEAD:.env) or of the work tree.
func (j *checker) checkShownSecret(w word) {
	name := w.Text[strings.LastIndexByte(w.Text, ':')+1:]
	if p := j.resolve(name); !strings.HasPrefix(w.Text, "-") && p != "" && j.isSecret(p) {
		j.checkReadAt(name, p, false)
	}
}

// isFileName reports whether a word is a file name rather than a revision: its extension begins
// with a letter.
func isFileName(s string) bool {
	ext := path.Ext(s)
	return len(ext) > 1 && !strings.Contains(s, "..") && !strings.ContainsAny(s, "^~@{") && strings.Trim(ext[1:2], "0123456789") != ""
}

// touchCode records the files that code of another language names. Code that searches for files
// may show any file.
func (j *checker) touchCode(code string) {
	for _, looks := range []string{"glob", "walk", "listdir", "scandir", "readdir", "iterdir", "popen", "subprocess", "spawn", "exec"} {
		if strings.Contains(strings.ToLower(code), looks) {
			j.touchAll()
			return
		}
	}
	for _, s := range stringLiterals(code) {
		if at := strings.IndexAny(s, "{%$"); at >= 0 && strings.Contains(s, "/") {
			j.touchBelow(word{Text: s[:at] + shell.Unknown})
		}
		j.touchNamed(s)
	}
}

// ShownFiles holds the files that an agent was shown in one context. Its method Has serves as
// Rules.KnowsContent. The zero value is a new context.
type ShownFiles struct {
	paths map[string]bool
	globs []string
}

// Add records the paths that an allowed call touched; see Verdict.Touched. It ignores case, as
// some file systems do.
func (k *ShownFiles) Add(touched ...string) {
	if k.paths == nil {
		k.paths = map[string]bool{}
	}
	for _, p := range touched {
		p = strings.ToLower(cleanPath(p))
		if !k.paths[p] && strings.ContainsAny(p, "*?[") {
			k.globs = append(k.globs, p)
		}
		k.paths[p] = true
	}
}

// AddMentions records the files that a prompt mentions as @FILE, relative to root. Clients add the
// content of these files to the prompt.
func (k *ShownFiles) AddMentions(prompt, root string) {
	for f := range strings.FieldsSeq(prompt) {
		if name, ok := strings.CutPrefix(strings.TrimLeft(f, "(\"'`"), "@"); ok {
			k.Add(path.Join(cleanPath(root), strings.TrimRight(name, ".,;:!?)\"'`")))
		}
	}
}

// Has reports whether the file at an absolute path was shown.
func (k *ShownFiles) Has(file string) bool {
	file = strings.ToLower(cleanPath(file))
	return k.paths[file] || slices.ContainsFunc(k.globs, func(glob string) bool {
		dir, below := strings.CutSuffix(glob, allBelow)
		return below && isWithin(file, dir) || matchGlob(glob, file)
	})
}

// instructionFiles are files of instructions that clients show their agents unasked.
const instructionFiles = "claude.md claude.local.md agents.md gemini.md"

// isUnread reports whether the agent does not know the content of a file in the work tree.
func (j *checker) isUnread(p string) bool {
	p = j.followLinks(p)
	root := cleanPath(j.rules.Root)
	if j.rules.KnowsContent == nil || inList(instructionFiles, strings.ToLower(path.Base(p))) || isWithin(p, root+"/.claude") {
		return false
	}
	return !j.rules.KnowsContent(p)
}
