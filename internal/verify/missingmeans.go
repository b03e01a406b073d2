package verify

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
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
func (in *inspection) nameFunctions(c git.Change, found []sign.Sign, is []byte) {
	if len(found) == 0 || in.r.files.isTest(c.Path) {
		return
	}
	for i, s := range found {
		if s.Line > 0 {
			found[i].In = mutant.NameAt(c.Path, is, s.Line)
		}
	}
}
