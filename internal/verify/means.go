package verify

import (
	"context"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// lacking are signs that no program that the work changed has the means for what the task
// asks for, at the first of them. Names that the work made for itself are no means.
func (in inspection) lacking(ctx context.Context) ([]sign.Sign, error) {
	if len(sign.Lacking(in.r.Asked, "")) == 0 { // the task asks for nothing of the kind
		return nil, nil
	}
	var all strings.Builder
	var names []string
	first := ""
	for _, c := range in.changes[:min(len(in.changes), maxBroken)] {
		if c.Status == 'D' || IsTest(in.r.Tests, c.Path) || !sign.Knows(c.Path) {
			continue
		}
		was, is, err := contents(ctx, in.repo, c)
		if err != nil {
			return nil, err
		}
		all.WriteString(sign.Said(c.Path, is))
		changed := mutant.ChangedNames(c.Path, was, is)
		if names = append(names, changed...); len(changed) > 0 && first == "" {
			first = c.Path
		}
	}
	if first == "" {
		return nil, nil
	}
	program := all.String()
	for _, name := range names {
		program = regex.New(`\b`+regexp.QuoteMeta(name[strings.LastIndexAny(name, ".:")+1:])+`\b`).ReplaceAllString(program, "_")
	}
	var found []sign.Sign
	for _, does := range sign.Lacking(in.r.Asked, program) {
		found = append(found, sign.Sign{Path: first, Kind: sign.Means, Does: does, Text: strings.Join(names[:min(len(names), maxNamed)], ", ")})
	}
	return found, nil
}

// within names the functions that signs of a changed file stand in, or the tables.
func (in inspection) within(c git.Change, found []sign.Sign, is []byte) {
	if len(found) == 0 || IsTest(in.r.Tests, c.Path) {
		return
	}
	for i, s := range found {
		if s.Line > 0 {
			found[i].In = mutant.NameAt(c.Path, is, s.Line)
		}
	}
}
