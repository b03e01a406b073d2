package frozen

import (
	"cmp"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/shell"
)

// A gate reaches further than to the root of the work tree: into the folders that it
// names (`cd web && npm test`, `make -C lib`, `npm -w api test`), to what Makefiles
// include, and to the configuration that it names to a tool.

// dirs are the root, the folders that gates run in and those that their commands
// name, each "" or with a slash; not what git ignores, for that is built anew.
func (f *Files) dirs() []string {
	dirs := f.starts()
	words := slices.Compact(slices.Sorted(slices.Values(Words(f.commands()))))
	for i := 0; i < len(dirs); i++ {
		for _, word := range words {
			_, value, _ := strings.Cut(word, "=") // --prefix=web
			dir := path.Clean(dirs[i] + cmp.Or(value, word))
			if dir == "." || !filepath.IsLocal(dir) || slices.Contains(dirs, dir+"/") {
				continue
			}
			if info, err := os.Lstat(f.Where(dir)); err == nil && info.IsDir() && !f.built(dir) {
				dirs = append(dirs, dir+"/")
			}
		}
	}
	dirs = append(dirs, f.workspaces(words)...)
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// starts are the root and the folders that gates run in.
func (f *Files) starts() []string {
	dirs := []string{""}
	for _, g := range f.o.Gates {
		if dir := filepath.ToSlash(filepath.Clean(filepath.FromSlash(g.Dir))); g.Dir != "" && dir != "." && filepath.IsLocal(dir) {
			dirs = append(dirs, dir+"/")
		}
	}
	return dirs
}

// workspaceWords have npm and its like run the scripts of packages below.
const workspaceWords = "-w -ws -r --workspace --workspaces --recursive --filter workspace workspaces foreach run-many lerna turbo nx"

// workspaces are the folders of a manifest's packages, where gates run scripts there.
func (f *Files) workspaces(words []string) []string {
	if !slices.ContainsFunc(words, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains(strings.Fields(workspaceWords), name)
	}) {
		return nil
	}
	m, _ := members(f.files["package.json"].Content)
	var globs []string
	if json.Unmarshal(m["workspaces"].raw, &globs) != nil {
		var yarn struct{ Packages []string }
		_ = json.Unmarshal(m["workspaces"].raw, &yarn) // absent, or of no known shape: none
		globs = yarn.Packages
	}
	found := map[string]bool{}
	for _, glob := range globs {
		_ = f.match(found, strings.TrimSuffix(glob, "/")+"/package.json") // what is no pattern names nothing
	}
	var dirs []string
	for manifest := range found {
		dirs = append(dirs, path.Dir(manifest)+"/")
	}
	return dirs
}

// makefiles are the contents of the frozen Makefiles, of what they include and of
// what gates name by -f, as far as these are frozen.
func (f *Files) makefiles() map[string][]byte {
	all := map[string][]byte{}
	var todo []string
	for file := range f.files {
		if isMakefile(file) {
			todo = append(todo, file)
		}
	}
	x := executed{dir: f.o.Root}
	for _, command := range f.beforeMake() {
		shell.Read(command, shell.Options{Dir: x.dir, Root: x.dir}, &x)
	}
	todo = append(todo, f.known(x.made, "")...)
	for len(todo) > 0 {
		file := todo[0]
		todo = todo[1:]
		if _, done := all[file]; done {
			continue
		}
		all[file] = f.files[file].Content
		todo = append(todo, f.known(included(all[file]), path.Dir(file))...)
	}
	return all
}

// makeWords are those among which the targets are that gates make: in a recipe a word
// is seldom a target, but where it calls make again.
func (f *Files) makeWords() []string {
	const depth = 3
	words := Words(f.beforeMake())
	all := f.makefiles()
	for range depth {
		for _, content := range all {
			for _, line := range recipes(content, words) {
				if makeSelf.MatchString(line) {
					words = append(words, Words([]string{line})...)
				}
			}
		}
		slices.Sort(words)
		words = slices.Compact(words)
	}
	return words
}

// known are the frozen files that some names stand for, seen from the root or from
// a folder: make reads a name from where it was started.
func (f *Files) known(names []string, dir string) []string {
	var files []string
	for _, name := range names {
		for file := range f.files {
			in, _ := path.Match(path.Join(dir, name), file)
			top, _ := path.Match(path.Clean(name), file)
			if in || top || strings.HasSuffix(file, "/"+path.Clean(name)) {
				files = append(files, file)
			}
		}
	}
	return files
}

// madeBy are the files that a command names to make.
func madeBy(args []string) []string {
	if !slices.ContainsFunc(args, func(arg string) bool { return arg == "make" || arg == "gmake" }) {
		return nil
	}
	return valuesOf("-f --file --makefile", args)
}

// tellable are the tools that take their configuration by an option; a letter alone
// means other things to other programs.
const (
	tellable = "jest vitest playwright mocha ava pytest eslint ruff mypy flake8 pylint golangci-lint rubocop prettier biome stylelint phpunit phpstan"
	tellBy   = "-c --config --rcfile --config-file --config-path --configuration"
)

// configured are the files by which a command tells a tool what to find fault with.
func configured(args []string) []string {
	tool := slices.IndexFunc(args, func(arg string) bool { return slices.Contains(strings.Fields(tellable), path.Base(arg)) })
	if tool < 0 {
		return nil
	}
	return valuesOf(tellBy, args[tool:])
}

// valuesOf are those of some options, behind them or behind "=".
func valuesOf(options string, args []string) []string {
	var values []string
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !slices.Contains(strings.Fields(options), name) {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if value != "" {
			values = append(values, value)
		}
	}
	return values
}

// Reached are the commands of gates in a work tree, and those that they lead to, as far
// as it can be read.
func Reached(root string, gates []gate.Gate) []string {
	f, _ := Look(Options{Root: root, Gates: gates}) // what cannot be read leads to nothing more
	return f.commands()
}
