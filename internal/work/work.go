// Package work distinguishes an agent's work from gate inputs.
//
// Work is what an agent may change freely: program source, markup, styles, templates,
// translations, migrations, pictures, documentation and plain data. Every other file is a
// gate input: the configuration of test runners and tools, scripts, Makefiles, toolchain
// files, settings, vendored libraries. Unknown names are gate inputs, so that unknown ways to
// cheat are found: the gates run once more with the original gate inputs, see package verify.
//
// A changed gate input costs a run of the gates. It matters only if the gates pass with the
// change and fail without it.
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
	ShellIsWork bool     // the program is written in shell
	RunsMake    bool     // gates run make or a similar tool, for which a file is up to date if it has the name of a target
	// IsChecked reports whether a gate checks the content of a file, such as grep -q done list.txt,
	// and compares nothing with it; nil = of no file.
	IsChecked func(file string) bool
	// IsLoaded reports whether the program's source names a file, but no test and no gate does; nil =
	// it names none.
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
	Added      bool   // the file is new
	Executable bool
}

// IsWork reports whether a change is work. The caller handles tests and manifests first, see
// [DependenciesOnly].
func (r Rules) IsWork(c Change) bool {
	base := path.Base(c.Path)
	ext := strings.ToLower(path.Ext(base))
	switch {
	case Matches(r.Globs, c.Path), r.IsRequested != nil && r.IsRequested(c.Path):
		return true
	case gateInputs().Match(c.Path):
		return false
	case IsDocument(c.Path), lockFiles().Match(base):
		return true
	case contains(shellExts, ext):
		return (r.ShellIsWork || c.Added) && !checkScripts().Match(base) && (r.IsRun == nil || !r.IsRun(c.Path))
	case contains(sourceExts, ext), contains(assetExts, ext), assetFolders().Match(c.Path):
		return true
	case contains(dataExts, ext) && !IsManifest(c.Path): // CMakeLists.txt is a manifest
		return c.Added || r.IsChecked != nil && r.IsChecked(c.Path) || r.isLoadedData(c.Path) // a test may read what was there
	case c.Executable && r.ShellIsWork && programBaseName.MatchString(base): // a script without an ending
		return !isToolFileName(base) && !contains(gitHookNames, base) && !checkScripts().Match(base) && (r.IsRun == nil || !r.IsRun(c.Path))
	case plainBaseName.MatchString(base):
		return !isToolFileName(base) && !c.Executable && !(c.Added && r.RunsMake)
	case contains(packageManifests, base): // in a new folder, that is, of a new part of the program
		return c.Added && r.HasFiles != nil && !r.HasFiles(path.Dir(c.Path))
	}
	return r.isLoadedData(c.Path)
}

// IsProgramText reports whether a text is part of the program, though it has the extension of a
// document: a template, or data that the program reads.
func (r Rules) IsProgramText(file string) bool {
	return assetFolders().Match(file) && !documentFiles().Match(file) && !inDocFolder.MatchString(file) || r.isLoadedData(file)
}

// inDocFolder matches files below a folder of documents.
var inDocFolder = regex.New(`(^|/)docs?/`)

// isLoadedData reports whether a file is data that the program reads.
func (r Rules) isLoadedData(file string) bool {
	return r.IsLoaded != nil && mayBeProgramData(file) && r.IsLoaded(file)
}

// programBaseName matches the name of a program without an extension.
var programBaseName = regex.New(`^[a-z0-9_-]+$`)

// plainBaseName matches the name of a program or of data without an extension.
var plainBaseName = regex.New(`^[a-z0-9_]+$`)

// isToolFileName reports whether a tool may read a file of this name: makefile, justfile, configure.
func isToolFileName(base string) bool {
	return strings.Contains(base, "file") || strings.HasPrefix(base, "config")
}

func contains(list, word string) bool {
	return word != "" && slices.Contains(strings.Fields(list), word)
}

// Matches reports whether one of the globs matches a file, given as path with slashes. An
// invalid glob matches nothing.
func Matches(globs []string, file string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := doublestar.Match(glob, file)
		return ok && err == nil
	})
}

// MentionsPath reports whether a text contains the path of a file, and not only as part of a
// longer path.
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

// IsDocument reports whether a file is documentation, by its name.
func IsDocument(file string) bool {
	return contains(documentExts, strings.ToLower(path.Ext(file))) || documentFiles().Match(file)
}

// IsSource reports whether a file is program source in a language other than shell.
func IsSource(file string) bool {
	return contains(sourceExts, strings.ToLower(path.Ext(file))) && !gateInputs().Match(file)
}

// IsData reports whether a file is plain data: a list, a table, a text.
func IsData(file string) bool {
	return contains(dataExts, strings.ToLower(path.Ext(file))) && !IsManifest(file) && !documentFiles().Match(file) && !lockFiles().Match(path.Base(file))
}

// IsScript reports whether a file is a shell script.
func IsScript(file string) bool { return contains(shellExts, strings.ToLower(path.Ext(file))) }
