package verify

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/shell"
)

// MissingProgram names the program that a gate's command begins with where it is not there,
// or is no program; "" where it is, or where that cannot be told without running
// it. root is the work tree, env what Environment gives. A command that looks for
// its programs itself (`||`, if, a PATH or functions of its own) is left alone, and so is a path
// that a set-up may make.
func MissingProgram(g gate.Gate, root string, env []string, setUp bool) string {
	command := g.ShellCommand()
	makes := slices.ContainsFunc([]string{"||", "PATH=", "()"}, func(s string) bool { return strings.Contains(command, s) })
	if runtime.GOOS == "windows" || makes || slices.ContainsFunc(strings.FieldsFunc(command, notInWord), branches) {
		return ""
	}
	dir := filepath.Join(root, filepath.FromSlash(g.Dir))
	var first firstCommand
	shell.Read(command, shell.Options{Dir: dir, Root: root, Vars: map[string]string{"PWD": dir}}, &first)
	if first.name == "" {
		return ""
	}
	if strings.Contains(first.name, "/") {
		if setUp || first.dir == "" || isProgram(absolute(first.dir, first.name)) {
			return ""
		}
		return first.name
	}
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok && !slices.ContainsFunc(filepath.SplitList(path), func(at string) bool {
			return isProgram(filepath.Join(absolute(dir, at), first.name))
		}) {
			return first.name
		}
	}
	return ""
}

func notInWord(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", r) }

// branches are words of a shell after which a command may fail and be right, or be
// another one.
func branches(word string) bool {
	return slices.Contains([]string{"if", "while", "until", "case", "function", "alias"}, word)
}

// firstCommand hears which program a script starts first.
type firstCommand struct {
	name string // "" = none that is known
	dir  string
	done bool
}

// Shell commands that need no program, and after which the next one is the first.
const (
	before   = " cd set export : "
	builtins = " . [ alias bg break command continue declare echo eval exec exit false fc fg getopts hash jobs kill let local printf pushd pwd read readonly " +
		"return shift shopt source test time times trap true type typeset ulimit umask unalias unset wait "
)

// Run is told of each command in turn.
func (f *firstCommand) Run(c *shell.Command) {
	if f.done || c.Outer != nil || len(c.Args) == 0 || c.Args[0].Static && strings.Contains(before, " "+c.Args[0].Text+" ") {
		return
	}
	f.done = true
	if name := c.Args[0]; name.Static && !name.Glob && name.Text != "" && !strings.Contains(builtins, " "+name.Text+" ") {
		f.name, f.dir = name.Text, c.Dir
	}
}

// Script is told of what cannot be read: then nothing is known.
func (f *firstCommand) Script(*shell.Command, shell.Word) { f.done = true }

// TooMuch is the same.
func (f *firstCommand) TooMuch(*shell.Command, shell.Word) { f.done = true }

// Code of another language starts no program here.
func (*firstCommand) Code(*shell.Command, shell.Word) {}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
