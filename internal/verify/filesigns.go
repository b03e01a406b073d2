package verify

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/work"
)

// newFile is a new program file, and the names by which others may use it.
type newFile struct {
	path  string
	names []string // of the file, its functions and their types
}

// unusedFiles returns the signs of new program files that nothing uses but tests, if the task names
// neither them nor what is in them.
func (in *inspection) unusedFiles(ctx context.Context) (found []sign.Sign, err error) {
	var added []newFile
	changed := map[string][]byte{}
	err = eachText(ctx, in.repo, in.first(), func(c changedFile) error {
		if !in.r.files.isTest(c.Path) && !isDocument(c.Path) {
			changed[c.Path], changed["before/"+c.Path] = c.after, c.before // what is moved was there
		}
		if c.Status == 'A' && isFile(c.To) && !in.r.files.isTest(c.Path) && mutant.Knows(c.Path) && !sign.IsMain(c.Path, c.after) {
			if f := namesOfFile(c.Path, c.after); len(f.names) > 1 && !slices.Contains(f.names, "init") && !f.isNamedBy(in.r.Asked) {
				added = append(added, f)
			}
		}
		return nil
	})
	added = slices.DeleteFunc(added, func(f newFile) bool { return usedByOthers(f, changed) })
	if err != nil || len(added) == 0 {
		return nil, err
	}
	texts, err := contentsOf(ctx, in.repo, in.r.After, in.r.files.others, maxProgramsRead)
	if err != nil || len(texts) < 2 || len(texts) == maxProgramsRead {
		return nil, err
	}
	for _, f := range added {
		if !usedByOthers(f, texts) && !in.foundByFolder(f.path, texts) {
			found = append(found, sign.Sign{Path: f.path, Kind: sign.Unused, Does: "is used by tests alone"})
		}
	}
	return found, nil
}

// namesOfFile returns a new file with its names.
func namesOfFile(file string, content []byte) newFile {
	f := newFile{file, []string{strings.TrimSuffix(path.Base(file), path.Ext(file))}}
	for _, made := range mutant.Changed(file, nil, content) {
		owner, _, _ := strings.Cut(made.Name, ".")
		f.names = append(f.names, mutant.BareName(made.Name), owner)
	}
	f.names = slices.DeleteFunc(f.names, func(name string) bool { return name == "" }) // it would be in any text
	return f
}

// isNamedBy reports whether a task names a new file, or one of its names as code. A plain word of a task
// may be the name of a function by chance.
func (f newFile) isNamedBy(task string) bool {
	return usesAny(task, f.names[:1]) || slices.ContainsFunc(f.names[1:], func(name string) bool {
		q := regexp.QuoteMeta(name)
		if looksLikeCode.MatchString(name) {
			return regex.New(`\b` + q + `\b`).MatchString(task)
		}
		return regex.New("\\b" + q + "(?:\\(|`)|[`.]" + q + "\\b").MatchString(task)
	})
}

// looksLikeCode matches names that are no plain words.
var looksLikeCode = regex.New(`[A-Z_]`)

// usesAny reports whether a text contains one of some names, in any case.
func usesAny(text string, names []string) bool { return anyOf(names).MatchString(text) }

// anyOf matches one of some names, in any case.
func anyOf(names []string) *regex.Regex {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return regex.New(`(?i)\b(?:` + strings.Join(quoted, "|") + `)\b`)
}

// usedByOthers reports whether another file contains a name of a new file.
func usedByOthers(f newFile, texts map[string][]byte) bool {
	names := anyOf(f.names)
	for file, text := range texts {
		if file != f.path && names.Match(text) {
			return true
		}
	}
	return false
}

// foundByFolder reports whether a file is in a folder whose other files nothing names: a framework
// finds them there.
func (in *inspection) foundByFolder(file string, texts map[string][]byte) bool {
	dir := path.Dir(file)
	if dir == "." {
		return false
	}
	for other, text := range texts {
		if other != file && path.Dir(other) == dir && path.Ext(other) == path.Ext(file) && !usedByOthers(namesOfFile(other, text), texts) {
			return true
		}
	}
	return false
}

// asksForNew matches tasks that ask for something new, which the program need not use yet.
var asksForNew = regex.New(`(?i)\b(?:add|writ|creat|implement|introduc|provid|new|build|extract|split|port|mak|need)\w*\b`)

// onlyUnusedFiles returns the new files that nothing uses, if the work changed nothing else, and the task
// is about what the program has. What a task asks of a library may well be a file that only tests use yet.
func (in *inspection) onlyUnusedFiles(ctx context.Context) (files []string, err error) {
	programs := 0
	for _, c := range in.changes {
		switch {
		case in.r.files.isTest(c.Path) || isDocument(c.Path):
		case c.Status != 'A':
			return nil, nil
		case mutant.Knows(c.Path):
			programs++
		}
	}
	if programs == 0 || asksForNew.MatchString(in.r.Asked) {
		return nil, nil
	}
	unused, err := in.unusedFiles(ctx)
	if err != nil || len(unused) < programs {
		return nil, err
	}
	if named, err := in.namesWhatWasThere(ctx); err != nil || !named {
		return nil, err
	}
	for _, s := range unused {
		files = append(files, "the program does not use "+s.Path)
	}
	return files, nil
}

// namesWhatWasThere reports whether the task names a program file that was there before, or what is in it,
// in the singular or the plural.
func (in *inspection) namesWhatWasThere(ctx context.Context) (bool, error) {
	texts, err := contentsOf(ctx, in.repo, in.r.Before, in.r.files.others, maxProgramsRead)
	if err != nil {
		return false, err
	}
	for file, text := range texts {
		names := namesOfFile(file, text).names
		for _, name := range slices.Clone(names) {
			names = append(names, name+"s", name+"es")
		}
		if mutant.Knows(file) && usesAny(in.r.Asked, names) {
			return true, nil
		}
	}
	return false, nil
}

// generatedFiles returns the signs of generated files, if the work changed nothing else: the next
// build loses the change.
func (in *inspection) generatedFiles(ctx context.Context) []sign.Sign {
	var files []string
	edited, saysSo, from := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, c := range in.first() {
		if !in.r.files.isTest(c.Path) {
			files, edited[c.Path] = append(files, c.Path), c.Status == 'M'
		}
	}
	for _, f := range in.work() {
		if f.Status != 'M' || !isFile(f.To) || !sign.IsProgram(f.Path) {
			continue
		}
		if names, generated := sign.GeneratorNames(f.before); generated {
			saysSo[f.Path], from[f.Path] = true, in.firstFile(ctx, f.Path, names)
		}
	}
	found := sign.GeneratedFileSigns(files, func(file string) bool { return edited[file] }, func(file string) bool { return saysSo[file] })
	for i, s := range found {
		found[i].MadeFrom = from[s.Path]
	}
	return found
}

// firstFile returns the first of some names that is another file of the repository, seen from a file's
// folder or from the top. "" if there is none.
func (in *inspection) firstFile(ctx context.Context, file string, names []string) string {
	for _, name := range names {
		for _, at := range []string{path.Join(path.Dir(file), name), path.Clean(name)} {
			if at == file || path.IsAbs(at) || strings.HasPrefix(at, "../") {
				continue
			}
			if _, err := in.repo.Show(ctx, in.r.After, at); err == nil {
				return at
			}
		}
	}
	return ""
}

// regenerates matches tasks that ask to generate again: the generator itself may be another one.
var regenerates = regex.New(`(?i)\bre-?generat|\bgenerat\w+ (?:again|anew)\b`)

// changedByHand returns the generated files that were changed although the repository has what they
// are made from, and that did not change.
func (in *inspection) changedByHand(ctx context.Context) (found []string) {
	if regenerates.MatchString(in.r.Asked) {
		return nil
	}
	for _, s := range in.generatedFiles(ctx) {
		if s.MadeFrom != "" {
			found = append(found, s.Path+" is made with "+s.MadeFrom+", which was not changed")
		}
	}
	return found
}

// shadowedDependencies returns the new Python modules that have the name of a dependency which the
// repository still declares. Programs and tests import these instead of the library.
func (in *inspection) shadowedDependencies(ctx context.Context) (found []string, err error) {
	var declared map[string][]byte
	for _, c := range in.first() {
		module := sign.PythonModule(c.Path)
		if c.Status != 'A' || module == "" {
			continue
		}
		if declared == nil {
			files := git.NewSelection(func(file string, _ git.Entry) bool { return work.DeclaresPython(file) })
			if declared, err = contentsOf(ctx, in.repo, in.r.After, files, maxDocumentsRead); err != nil {
				return nil, err
			}
		}
		for _, file := range slices.Sorted(maps.Keys(declared)) {
			if work.DependsOn(file, declared[file], module) {
				found = append(found, c.Path+" takes the place of the library "+module+", which "+file+" declares")
				break
			}
		}
	}
	return found, nil
}
