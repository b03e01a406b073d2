package frozen

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/shell"
)

// scripts are the files that gates execute, where they run in one of dirs, what
// Makefiles include, and what tools are told by; but not what git ignores: that is
// built, of what the agent writes.
func (f *Files) scripts(dirs []string) []string {
	var all []string
	makefiles := f.makefiles()
	for _, x := range f.hear(dirs) {
		for file, content := range makefiles {
			for _, name := range included(content) {
				x.add(x.dir, name)
				x.add(f.o.Root, path.Join(path.Dir(file), name))
			}
		}
		all = append(all, x.files...)
	}
	return slices.DeleteFunc(f.within(all), f.built)
}

// Checks are the files that gates in a work tree have an interpreter run with nothing
// to work on, and whose names say that they check, sorted. Where a shell runs them
// they are frozen; other languages are as often what is checked.
func Checks(root string, gates []gate.Gate) []string {
	f, _ := Look(Options{Root: root, Gates: gates}) // what cannot be read leads to nothing more
	var found []string
	for _, x := range f.hear(f.dirs()) {
		for _, file := range f.within(x.checks) {
			if info, err := os.Lstat(f.Where(file)); err == nil && info.Mode().IsRegular() {
				found = append(found, file)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// hear tells what gates execute where they run in each of dirs.
func (f *Files) hear(dirs []string) []*executed {
	all, starts := f.commands(), f.starts()
	own, led := all[:len(f.o.Gates)], slices.Compact(slices.Sorted(slices.Values(all[len(f.o.Gates):])))
	heard := make([]*executed, 0, len(dirs))
	for _, dir := range dirs {
		x := &executed{dir: f.Where(dir)}
		commands := led
		if slices.Contains(starts, dir) { // else it is a folder that they name: what they lead to may run there
			commands = slices.Concat(own, led)
		}
		for _, command := range commands {
			shell.Read(command, shell.Options{Dir: x.dir, Root: f.o.Root}, x)
		}
		heard = append(heard, x)
	}
	return heard
}

// within are those of some files that lie in the work tree, relative to the root.
func (f *Files) within(files []string) []string {
	var found []string
	for _, file := range files {
		rel, err := filepath.Rel(f.o.Root, filepath.FromSlash(file))
		if rel = filepath.ToSlash(rel); err == nil && filepath.IsLocal(rel) {
			found = append(found, rel)
		}
	}
	return found
}

// built tells what git ignores from what dependencies brought, which it ignores too.
func (f *Files) built(rel string) bool {
	_, known := f.files[rel]
	brought := slices.ContainsFunc(strings.Fields(binDirs), func(dir string) bool { return strings.HasSuffix("/"+path.Dir(rel), "/"+dir) })
	if known || brought || f.o.Ignores == nil {
		return false
	}
	ignored, err := f.o.Ignores(rel)
	f.err = cmp.Or(f.err, err)
	return ignored
}

// checks is the name of a script that checks.
var checks = regexp.MustCompile(`(?i)(?:^|[/._-])(?:checks?|checker|verify|validate|lint|ci|gates?|smoke|e2e|acceptance|selftest)(?:[._-][^/]*)?\.\w+$`)

// executed hears which files a gate executes: a command that is a path, and what a
// shell is given to run.
type executed struct {
	dir    string   // where the gate runs, absolute
	files  []string // absolute, with slashes
	made   []string // named to make, as the commands name them
	checks []string // see Checks
}

// Run is told of each command, and of what that would run in turn.
func (x *executed) Run(c *shell.Command) {
	if len(c.Args) == 0 {
		return
	}
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		args[i] = arg.Text
	}
	made := madeBy(args)
	for _, file := range slices.Concat(configured(args), made) {
		x.add(c.Dir, file)
	}
	x.made = append(x.made, made...)
	name := args[0]
	switch shell.Name(name) {
	case "python", "python3", "node", "bun", "tsx", "ts-node", "ruby", "perl", "php", "lua", "Rscript":
		if len(args) == 2 && checks.MatchString(args[1]) {
			x.checks = append(x.checks, shell.Abs(cmp.Or(c.Dir, x.dir), "", args[1]))
		}
	case "sh", "bash", "dash", "zsh", "ksh", "source", ".":
		for args := c.Args[1:]; len(args) > 0; args = args[1:] {
			switch t := args[0].Text; {
			case !strings.HasPrefix(t, "-"):
				x.add(c.Dir, t)
				return
			case strings.HasSuffix(t, "o") && len(args) > 1: // -euo pipefail
				args = args[1:]
			}
		}
	default:
		if strings.Contains(name, "/") {
			x.add(c.Dir, name)
		}
	}
}

func (x *executed) add(dir, name string) {
	x.files = append(x.files, shell.Abs(cmp.Or(dir, x.dir), "", name))
}

// Script cannot be read: what it executes is not known.
func (*executed) Script(*shell.Command, shell.Word) {}

// TooMuch is the same.
func (*executed) TooMuch(*shell.Command, shell.Word) {}

// Code of another language is no script of a shell's.
func (*executed) Code(*shell.Command, shell.Word) {}
