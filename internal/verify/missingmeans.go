package verify

import (
	"cmp"
	"context"
	"fmt"
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

// unfinished returns what the task asks for and the work has not done, each with its place.
func (c *claim) unfinished(ctx context.Context) (found []string, err error) {
	lacking, err := c.signs.missingMeans(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range lacking {
		found = append(found, s.Path+" "+s.Does)
	}
	found = append(found, c.signs.changedByHand(ctx)...)
	for _, find := range []func(context.Context) ([]string, error){c.signs.onlyUnusedFiles, c.signs.shadowedDependencies, c.missingFiles, c.withoutEffect} {
		more, err := find(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// withoutEffect returns the new stub functions that nothing calls, and what the task names and a function
// ignores or leaves at zero.
func (c *claim) withoutEffect(ctx context.Context) (found []string, err error) {
	tests, err := contentsOf(ctx, c.Repo, c.Tree, c.files.tests, maxTestsRead)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	for _, text := range tests {
		all.Write(text)
	}
	for _, ch := range c.programs() {
		for _, f := range mutant.Stubs(ch.Path, ch.before, ch.after) {
			if !strings.Contains(f.Name, ".") && !isNamed(f.Name, all.String(), 1) && !isNamed(f.Name, c.signs.programs, 2) {
				found = append(found, f.Name+" in "+ch.Path+" ignores its input, and neither the program nor a test calls it")
			}
		}
		for _, l := range mutant.Literals(ch.Path, ch.before, ch.after) {
			if l.StaysZero && isNamed(l.Variable, c.Asked, 1) {
				found = append(found, fmt.Sprintf("%s:%d %s stays 0 in %s", ch.Path, l.Number, l.Variable, l.Function))
			}
		}
		taken, err := c.signs.unread(ctx, ch.sides())
		if err != nil {
			return nil, err
		}
		for _, u := range taken {
			for name := range strings.SplitSeq(u.parameters, ", ") {
				if len(name) > 1 && isNamed(name, c.Asked, 1) {
					found = append(found, fmt.Sprintf("%s (%s:%d) has no effect", name, u.Path, u.Line))
				}
			}
		}
	}
	return found, nil
}

// isNamed reports whether a text contains a name at least times times.
func isNamed(name, text string, times int) bool {
	for at := 0; name != "" && times > 0; times-- {
		for {
			i := strings.Index(text[at:], name)
			if i < 0 {
				return false
			}
			from, to := at+i, at+i+len(name)
			if at = from + 1; isWordBoundary(text, from) && isWordBoundary(text, to) {
				at = to
				break
			}
		}
	}
	return name != ""
}

// isWordBoundary is \b of regular expressions, for which a letter is an ASCII one.
func isWordBoundary(text string, at int) bool {
	inWord := func(i int) bool {
		if i < 0 || i >= len(text) {
			return false
		}
		b := text[i]
		return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
	}
	return inWord(at-1) != inWord(at)
}
