package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/work"
)

// maxCalled bounds the files searched for called functions.
const maxCalled = 1000

// missingMeans returns signs for what the task asks for, if neither the changed programs nor what
// they call have the means. Example: atomic, without a rename or lock. Names that the work declares
// do not count.
func (in *inspection) missingMeans(ctx context.Context) ([]sign.Sign, error) {
	if len(sign.MissingMechanisms(in.r.Asked, "", "", nil)) == 0 { // the task asks for nothing of the kind
		return nil, nil
	}
	var all strings.Builder
	var names []string
	first := ""
	for _, c := range in.first() {
		if c.Status == 'D' && !in.r.files.isTest(c.Path) && namesPath(in.r.Asked, c.Path) {
			all.WriteString("unlink(\n") // the agent did it: the task asks for no call that does
		}
	}
	for _, f := range in.work() {
		if f.Status == 'D' || !sign.IsProgram(f.Path) {
			continue
		}
		all.WriteString(sign.WithoutComments(f.Path, testdiff.Program(f.Path, f.after)))
		changed := mutant.ChangedNames(f.Path, f.before, f.after)
		if names = append(names, changed...); len(changed) > 0 {
			first = cmp.Or(first, f.Path)
		}
	}
	if first == "" {
		return nil, nil
	}
	program := all.String()
	var own []string
	for _, name := range names {
		own = append(own, mutant.BareName(name))
	}
	lacks := sign.MissingMechanisms(in.r.Asked, program, "", own)
	if len(lacks) > 0 {
		called, others, err := in.calledCode(ctx, sign.WithoutNames(program, own))
		if err != nil {
			return nil, err
		}
		lacks = sign.MissingMechanisms(in.r.Asked, program+called, others, own)
	}
	var found []sign.Sign
	for _, does := range lacks {
		found = append(found, sign.Sign{Path: first, Kind: sign.MissingMechanism, Does: does, Text: strings.Join(names[:min(len(names), maxNamed)], ", ")})
	}
	return found, nil
}

// namesPath reports whether a task names a file or a folder that it is in.
func namesPath(asked, file string) bool {
	return slices.ContainsFunc(strings.Split(file, "/"), func(part string) bool {
		stem, _, _ := strings.Cut(part, ".")
		return len(stem) > 2 && isNamed(stem, asked, 1)
	})
}

// calledCode returns the functions that a program calls in unchanged files, and the text of these.
func (in *inspection) calledCode(ctx context.Context, program string) (called, others string, err error) {
	texts, err := contentsOf(ctx, in.repo, in.r.After, in.r.files.programs, maxCalled)
	var some, all strings.Builder
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		if !slices.ContainsFunc(in.changes, func(c git.Change) bool { return c.Path == file }) {
			some.WriteString(mutant.CalledCode(file, texts[file], program))
			all.Write(texts[file])
		}
	}
	return some.String(), all.String(), err
}

// nameFunctions adds the enclosing function or table to the signs of a changed file.
func (in *inspection) nameFunctions(f changedFile, found []sign.Sign) {
	if len(found) == 0 || in.r.files.isTest(f.Path) {
		return
	}
	for i, s := range found {
		if s.Line > 0 {
			found[i].In = mutant.NameAt(f.Path, f.after, s.Line)
		}
	}
}

// findUnfinished finds new stub functions that nothing calls, and parameters that the task names
// and a function ignores.
func (c *claim) findUnfinished(ctx context.Context) error {
	if len(c.seen.Mutation.Functions) == 0 || len(c.changes) > maxChangedFiles {
		return nil
	}
	tests, err := contentsOf(ctx, c.Repo, c.Tree, c.files.tests, maxTestsRead)
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, text := range tests {
		all.Write(text)
	}
	for _, ch := range c.programs() {
		for _, f := range mutant.Stubs(ch.Path, ch.before, ch.after) {
			if !strings.Contains(f.Name, ".") && !isNamed(f.Name, all.String(), 1) && !isNamed(f.Name, c.signs.programs, 2) {
				c.seen.Work.StubFunctions = append(c.seen.Work.StubFunctions, f.Name+" in "+ch.Path)
			}
		}
		for _, l := range mutant.Literals(ch.Path, ch.before, ch.after) {
			if l.StaysZero && isNamed(l.Variable, c.Asked, 1) {
				c.seen.Work.MissingMeans = append(c.seen.Work.MissingMeans, fmt.Sprintf("%s:%d %s stays 0 in %s", ch.Path, l.Number, l.Variable, l.Function))
			}
		}
		taken, err := c.signs.unread(ctx, ch.sides())
		if err != nil {
			return err
		}
		for _, u := range taken {
			for name := range strings.SplitSeq(u.parameters, ", ") {
				if len(name) > 1 && isNamed(name, c.Asked, 1) {
					c.seen.Work.UnusedParameters = append(c.seen.Work.UnusedParameters, fmt.Sprintf("%s (%s:%d)", name, u.Path, u.Line))
				}
			}
		}
	}
	return nil
}

// isNamed reports whether a text contains a name at least times times.
func isNamed(name, text string, times int) bool {
	return len(regex.New(`\b`+regexp.QuoteMeta(name)+`\b`).FindAllStringIndex(text, times)) == times
}

// filePath matches a path with a folder in a text.
var filePath = regex.New(`(?:^|[^\w/.:*@-])((?:[\w-]+/)+[\w.-]*\w\.\w+)\b`)

// maxFilePaths bounds the paths of a text that are looked for.
const maxFilePaths = 20

// missingFiles returns the source files that the task names and that do not exist, now or before the
// work, although their folder does. Without the folder, the path may be an example.
func (c *claim) missingFiles(ctx context.Context) (missing []string, err error) {
	named := map[string]bool{}
	for _, m := range filePath.FindAllStringSubmatch(c.Asked, maxFilePaths) {
		file := m[1]
		if named[file] || !work.IsSource(file) || c.isTest(file) || c.isInWorkTree(file) {
			continue
		}
		named[file] = true
		isFile := func(p string) bool { return p == file || strings.HasSuffix(p, "/"+file) }
		inFolder := func(p string) bool { return strings.Contains("/"+p, "/"+path.Dir(file)+"/") }
		exists := false
		for _, tree := range []string{c.Tree, c.Base, c.ProtectedTree} {
			if exists || err != nil {
				break
			}
			exists, err = c.Repo.HasAny(ctx, tree, isFile)
		}
		hasFolder := false
		if err == nil && !exists {
			hasFolder, err = c.Repo.HasAny(ctx, c.Tree, inFolder)
		}
		if err != nil {
			return nil, err
		}
		if hasFolder {
			missing = append(missing, "there is no "+file+", which the task names")
		}
	}
	return missing, nil
}

// keeps matches tasks that want something removed from one place only, or under one name.
var keeps = regex.New(`(?i)\b(?:renam|mov|extract|inlin|privat|internal|keep|convert|turn|merg|split|replac)\w*\b|\binstead\b|\bin favou?r\b`)

// keptRemovals returns the functions that the task asks to remove and that have another name now.
func (c *claim) keptRemovals() (found []string) {
	if keeps.MatchString(c.Asked) || len(c.changes) > maxChangedFiles {
		return nil
	}
	texts := map[string][2][]byte{}
	for _, f := range c.signs.work() {
		if (f.hasFunctions() || f.isDeletedProgram()) && !slices.Contains(c.own, f.Path) {
			texts[f.Path] = [2][]byte{f.before, f.after}
		}
	}
	for _, r := range mutant.Renames(texts) {
		if testdiff.AsksToRemove(c.Asked, mutant.BareName(r.Old)) {
			found = append(found, fmt.Sprintf("%s is still there: %s:%d %s has its text", r.Old, r.Path, r.Line, r.New))
		}
	}
	return found
}
