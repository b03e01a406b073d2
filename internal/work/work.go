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
	Globs       []string // what the user calls work: the task's scope, `work` in pawl.toml
	ShellIsWork bool     // the repository's programs are written for a shell
	RunsMake    bool     // gates run make or its like, which takes a file for the product of a target of its name
	// IsChecked reports whether a gate looks into a file itself, by the name in its command or
	// script (grep -q done list.txt), and compares nothing with it; nil = into none.
	IsChecked func(file string) bool
	// IsLoaded reports whether the program names a file in its source, and neither a test nor a gate
	// does; nil = it names none.
	IsLoaded func(file string) bool
	// IsRun reports whether gates run a script for its exit code; nil = none.
	IsRun func(file string) bool
	// IsRequested reports whether the user's goal or task names a file; nil = it names none.
	IsRequested func(file string) bool
	// HasFiles reports whether there are files below a folder before the work; nil = in all.
	HasFiles func(dir string) bool
}

// Change is one file that differs between two trees.
type Change struct {
	Path       string // from the repository's top, with slashes
	Added      bool   // it was not there
	Executable bool
}

// IsWork reports whether a change is work. Tests and manifests are the caller's to tell
// apart first: see [DependenciesOnly].
func (r Rules) IsWork(c Change) bool {
	base := path.Base(c.Path)
	ext := strings.ToLower(path.Ext(base))
	switch {
	case Matches(r.Globs, c.Path), r.IsRequested != nil && r.IsRequested(c.Path):
		return true
	case gateInputs().Match(c.Path):
		return false
	case contains(documentExts, ext), documentFiles().Match(c.Path), lockFiles().Match(base):
		return true
	case contains(shellExts, ext):
		return (r.ShellIsWork || c.Added) && !checkScripts().Match(base) && (r.IsRun == nil || !r.IsRun(c.Path))
	case contains(sourceExts, ext), contains(assetExts, ext), assetFolders().Match(c.Path):
		return true
	case contains(dataExts, ext) && !IsManifest(c.Path): // CMakeLists.txt is none
		return c.Added || r.IsChecked != nil && r.IsChecked(c.Path) || r.isLoadedData(c.Path) // a test may read what was there
	case c.Executable && r.ShellIsWork && programBaseName.MatchString(base): // a script without an ending
		return !isToolFileName(base) && !contains(gitHookNames, base) && !checkScripts().Match(base) && (r.IsRun == nil || !r.IsRun(c.Path))
	case plainBaseName.MatchString(base):
		return !isToolFileName(base) && !c.Executable && !(c.Added && r.RunsMake)
	case contains(packageManifests, base): // of a part of the program that is new itself
		return c.Added && r.HasFiles != nil && !r.HasFiles(path.Dir(c.Path))
	}
	return r.isLoadedData(c.Path)
}

// isLoadedData reports whether a file is data that the program reads.
func (r Rules) isLoadedData(file string) bool {
	return r.IsLoaded != nil && mayBeProgramData(file) && r.IsLoaded(file)
}

// programBaseName is a name without an ending, as programs have it.
var programBaseName = regex.New(`^[a-z0-9_-]+$`)

// plainBaseName is a name without an ending, as programs and data have it.
var plainBaseName = regex.New(`^[a-z0-9_]+$`)

// isToolFileName: a tool may look for a file of this name: makefile, justfile, configure.
func isToolFileName(base string) bool {
	return strings.Contains(base, "file") || strings.HasPrefix(base, "config")
}

func contains(list, word string) bool {
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

// MentionsPath reports whether a text names a file by its whole path.
func MentionsPath(text, file string) bool {
	isPathRune := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-/", r) }
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
		if !isPathRune(last) && last != '.' && !isPathRune(next) {
			return true
		}
	}
}

// IsSource reports whether a file is program source in a language that is not a shell's.
func IsSource(file string) bool {
	return contains(sourceExts, strings.ToLower(path.Ext(file))) && !gateInputs().Match(file)
}

// IsData reports whether a file is plain data: a list, a table, a text.
func IsData(file string) bool {
	return contains(dataExts, strings.ToLower(path.Ext(file))) && !IsManifest(file) && !documentFiles().Match(file) && !lockFiles().Match(path.Base(file))
}

// IsScript reports whether a file is written for a shell.
func IsScript(file string) bool { return contains(shellExts, strings.ToLower(path.Ext(file))) }
