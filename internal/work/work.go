// Package work tells an agent's work from what gates read to decide.
//
// Work is what an agent may change without a word: program source, markup, styles,
// templates, translations, migrations, pictures, documentation and plain data. Everything
// else is a gate input, whatever its name: the configuration of runners and tools, scripts,
// Makefiles, toolchain files, settings, vendored libraries. A name that nobody thought of
// is a gate input, so a trick that nobody thought of is found: the gates run once more on
// the tree with every gate input as it was, see package verify.
//
// Being a gate input accuses nobody. It costs a run of the gates, and it matters only where
// they pass with the change and fail without it.
package work

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Rules say what is work in one repository.
type Rules struct {
	Globs []string // what the user calls work: the task's scope, `work` in pawl.toml
	Shell bool     // the repository's programs are written for a shell
	Make  bool     // gates run make or its like, which takes a file for the product of a target of its name
	// Checked reports whether a gate looks into a file itself, by the name in its command or
	// script (grep -q done list.txt), and compares nothing with it; nil = into none.
	Checked func(file string) bool
	// Loaded reports whether the program names a file in its source, and neither a test nor a gate
	// does; nil = it names none.
	Loaded func(file string) bool
	// Runs reports whether gates run a script for its exit code; nil = none.
	Runs func(file string) bool
	// Asked reports whether the user's goal or task names a file; nil = it names none.
	Asked func(file string) bool
	// HasFiles reports whether there are files below a folder before the work; nil = in all.
	HasFiles func(dir string) bool
}

// Change is one file that differs between two trees.
type Change struct {
	Path       string // from the repository's top, with slashes
	Added      bool   // it was not there
	Executable bool
}

// Is reports whether a change is work. Tests and manifests are the caller's to tell
// apart first: see [DependenciesOnly].
func (r Rules) Is(c Change) bool {
	base := path.Base(c.Path)
	ext := strings.ToLower(path.Ext(base))
	switch {
	case Matches(r.Globs, c.Path), r.Asked != nil && r.Asked(c.Path):
		return true
	case inputs().Match(c.Path):
		return false
	case has(documents, ext), documentFiles().Match(c.Path), lockFiles().Match(base):
		return true
	case has(shells, ext):
		return (r.Shell || c.Added) && !checks().Match(base) && (r.Runs == nil || !r.Runs(c.Path))
	case has(sources, ext), has(assets, ext), assetFolders().Match(c.Path):
		return true
	case has(data, ext) && !IsManifest(c.Path): // CMakeLists.txt is none
		return c.Added || r.Checked != nil && r.Checked(c.Path) || r.loads(c.Path) // a test may read what was there
	case c.Executable && r.Shell && programName.MatchString(base): // a script without an ending
		return !isToolsName(base) && !has(hooks, base) && !checks().Match(base) && (r.Runs == nil || !r.Runs(c.Path))
	case plainName.MatchString(base):
		return !isToolsName(base) && !c.Executable && !(c.Added && r.Make)
	case has(packages, base): // of a part of the program that is new itself
		return c.Added && r.HasFiles != nil && !r.HasFiles(path.Dir(c.Path))
	}
	return r.loads(c.Path)
}

// loads reports whether a file is data that the program reads.
func (r Rules) loads(file string) bool {
	return r.Loaded != nil && mayBeProductData(file) && r.Loaded(file)
}

// programName is a name without an ending, as programs have it.
var programName = regex.New(`^[a-z0-9_-]+$`)

// plainName is a name without an ending, as programs and data have it.
var plainName = regex.New(`^[a-z0-9_]+$`)

// isToolsName: a tool may look for a file of this name: makefile, justfile, configure.
func isToolsName(base string) bool {
	return strings.Contains(base, "file") || strings.HasPrefix(base, "config")
}

func has(list, word string) bool {
	return word != "" && slices.Contains(strings.Fields(list), word)
}

// Matches reports whether one of some globs names a file, by its path with slashes. One
// that cannot be read names none.
func Matches(globs []string, file string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := doublestar.Match(glob, file)
		return ok && err == nil
	})
}

// Names reports whether a text names a file by its whole path.
func Names(text, file string) bool {
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-/", r) }
	for at := 0; ; {
		i := strings.Index(text[at:], file)
		if i < 0 {
			return false
		}
		before := strings.TrimSuffix(text[:at+i], "./")
		at += i + len(file)
		after := strings.TrimPrefix(text[at:], ".") // the end of a sentence, or of a longer name
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !part(last) && last != '.' && !part(next) {
			return true
		}
	}
}

// IsSource reports whether a file is program source in a language that is not a shell's.
func IsSource(file string) bool {
	return has(sources, strings.ToLower(path.Ext(file))) && !inputs().Match(file)
}

// IsData reports whether a file is plain data: a list, a table, a text.
func IsData(file string) bool {
	return has(data, strings.ToLower(path.Ext(file))) && !IsManifest(file) && !documentFiles().Match(file) && !lockFiles().Match(path.Base(file))
}

// IsScript reports whether a file is written for a shell.
func IsScript(file string) bool { return has(shells, strings.ToLower(path.Ext(file))) }
