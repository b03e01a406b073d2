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
	"github.com/pawl-dev/pawl/internal/regex"
)

var (
	firstProgram = regex.New(`^[\s(!]*(?:\w+=\S*\s+)*'?([\w./+-]+)'?(?:[\s);&|]|$)`)
	// interpreted matches commands that begin with an interpreter and its script.
	interpreted = regex.New(`^(?:\w+=\S*\s+)*'?(?:[\w./+-]*/)?(?:(?:ba|da|k|z)?sh|python[\d.]*|node|ruby|perl|php)'?\s+(?:'?-[euxB]+'?\s+)*'?([\w./+][\w./+-]*\.\w+)'?(?:[\s);&|]|$)`)
	// findsPrograms matches commands that look for their programs themselves.
	findsPrograms = regex.New(`\|\||PATH=|\(\)|\b(?:if|while|until|case|function|alias)\b`)
)

// builtins are commands of a shell that need no program.
const builtins = " . alias bg break cd command continue declare echo eval exec exit export false fc fg for getopts hash jobs kill let local printf pushd " +
	"pwd read readonly return set shift shopt source test time times trap true type typeset ulimit umask unalias unset wait "

// MissingProgram names the program that a gate's command begins with where it is not there,
// or is not a program; "" where it is, or where that cannot be told without running
// it. root is the work tree, env what Environment gives. A path that a set-up may make is
// left alone.
func MissingProgram(g gate.Gate, root string, env []string, setUp bool) string {
	command := g.ShellCommand()
	first := firstProgram.FindStringSubmatch(command)
	if runtime.GOOS == "windows" || first == nil || strings.Contains(builtins, " "+first[1]+" ") || findsPrograms.MatchString(command) {
		return ""
	}
	dir := filepath.Join(root, filepath.FromSlash(g.Dir))
	folders := filepath.SplitList(variable(env, "PATH"))
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

// MissingScript names the script that a gate's command begins with, behind its interpreter,
// where it is not there; "" where it is, or where that cannot be told. outside reports
// whether it is no part of the work tree: no agent is to write it.
func MissingScript(g gate.Gate, root string, setUp bool) (script string, outside bool) {
	command := g.ShellCommand()
	first := interpreted.FindStringSubmatch(command)
	if first == nil || setUp || findsPrograms.MatchString(command) {
		return "", false
	}
	path := first[1]
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, filepath.FromSlash(g.Dir), path)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	within, err := filepath.Rel(root, path)
	return first[1], err != nil || !filepath.IsLocal(within)
}
