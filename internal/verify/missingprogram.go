package verify

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/regex"
)

var (
	firstProgram = regex.New(`^[\s(!]*(?:\w+=\S*\s+)*'?([\w./+-]+)'?(?:[\s);&|]|$)`)
	// interpreterCommand matches commands that begin with an interpreter and its script.
	interpreterCommand = regex.New(`^(?:\w+=\S*\s+)*'?(?:[\w./+-]*/)?(?:(?:ba|da|k|z)?sh|python[\d.]*|node|ruby|perl|php)'?\s+(?:'?-[euxB]+'?\s+)*'?([\w./+][\w./+-]*\.\w+)'?(?:[\s);&|]|$)`)
	// findsProgramsItself matches commands that look for their programs themselves.
	findsProgramsItself = regex.New(`\|\||PATH=|\(\)|\b(?:if|while|until|case|function|alias)\b`)
)

// builtins are shell commands without a program.
const builtins = " . alias bg break cd command continue declare echo eval exec exit export false fc fg for getopts hash jobs kill let local printf pushd " +
	"pwd read readonly return set shift shopt source test time times trap true type typeset ulimit umask unalias unset wait "

// MissingProgram returns the program that a gate's command begins with if it does not exist or is
// not executable, else "". It runs nothing, and ignores paths that a setup may create. root is the
// work tree, env comes from Environment.
func MissingProgram(g gate.Gate, root string, env []string, setUp bool) string {
	command := g.ShellCommand()
	first := firstProgram.FindStringSubmatch(command)
	if runtime.GOOS == "windows" || first == nil || strings.Contains(builtins, " "+first[1]+" ") || findsProgramsItself.MatchString(command) {
		return ""
	}
	dir := filepath.Join(root, filepath.FromSlash(g.Dir))
	folders := filepath.SplitList(environment.Variable(env, "PATH"))
	if strings.Contains(first[1], "/") {
		folders = []string{""}
		if setUp {
			return ""
		}
	}
	if len(folders) == 0 || slices.ContainsFunc(folders, func(folder string) bool {
		program := filepath.Join(folder, first[1])
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		info, err := os.Stat(program)
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	}) {
		return ""
	}
	return first[1]
}

// MissingScript returns the script that a gate's interpreter gets if it does not exist, else "".
// outside means outside the work tree, so that no agent should write it.
func MissingScript(g gate.Gate, root string, setUp bool) (script string, outside bool) {
	command := g.ShellCommand()
	first := interpreterCommand.FindStringSubmatch(command)
	if first == nil || setUp || findsProgramsItself.MatchString(command) {
		return "", false
	}
	path := first[1]
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, filepath.FromSlash(g.Dir), path)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	below, err := filepath.Rel(root, path)
	return first[1], err != nil || !filepath.IsLocal(below)
}

// MissingFolder returns the folder in which a gate is to run if it does not exist and no setup may
// create it, else "".
func MissingFolder(g gate.Gate, root string, setUp bool) string {
	if setUp || folderExists(root, g.Dir) {
		return ""
	}
	return g.Dir
}

// folderExists reports whether a gate's folder exists below a root, or cannot be asked for.
func folderExists(root, dir string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir)))
	return !errors.Is(err, fs.ErrNotExist)
}
