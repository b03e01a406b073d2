package verify

import (
	"context"
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

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
