package verify

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// listed matches names that a task lists: Name, Bio and Website.
var listed = regex.New(`\b\w+(?:,\s+\w+){0,6},?\s+(?:and|or)\s+\w+\b`)

// halfDone returns a sign for each list of the task of which the work changes some members, functions or
// what is done with the program's data, and not the others.
func (in *inspection) halfDone(ctx context.Context) (found []sign.Sign, err error) {
	lists := listed.FindAllString(in.r.Asked, maxNamed)
	if len(lists) == 0 {
		return nil, nil
	}
	var was, is []string
	functions := map[string]string{} // those that stay as they are, with their code
	var changed []string
	first := ""
	err = eachText(ctx, in.repo, in.changes[:min(len(in.changes), maxChangedFiles)], func(c git.Change, before, after []byte) error {
		if c.Status != 'M' || !isFile(c.To) || !sign.IsProgram(c.Path) || in.r.files.isTest(c.Path) {
			return nil
		}
		was, is = append(was, clauses(sign.WithoutComments(c.Path, before))...), append(is, clauses(sign.WithoutComments(c.Path, after))...)
		first = cmp.Or(first, c.Path)
		for _, name := range mutant.ChangedNames(c.Path, before, after) {
			changed = append(changed, mutant.BareName(name))
		}
		maps.Copy(functions, mutant.FunctionCode(c.Path, after))
		return nil
	})
	if err != nil || first == "" {
		return nil, err
	}
	for _, list := range lists {
		var done, left []string
		for _, name := range listedName.FindAllString(list, -1) {
			before, after := with(name, was), with(name, is)
			code, declared := functions[name]
			switch {
			case len(name) < minListedName:
			case slices.Contains(changed, name):
				done = append(done, name)
			case declared:
				if !slices.ContainsFunc(changed, func(other string) bool { return isNamed(other, code, 1) }) {
					left = append(left, name)
				}
			case len(before) == 0 || len(after) == 0: // no member, or a new one
			case slices.Equal(before, after):
				left = append(left, name)
			default:
				done = append(done, name)
			}
		}
		if len(done) > 0 && len(left) > 0 {
			found = append(found, sign.Sign{Path: first, Kind: sign.HalfDone, Does: "does something else with " + strings.Join(done, ", ") + " and not with " + strings.Join(left, ", "), Text: list})
		}
	}
	return found, nil
}

// minListedName is the length of the shortest name that is looked for.
const minListedName = 3

var listedName = regex.New(`\w+`)

// clauses returns the parts of a program between commas and ends of statements, without white space.
func clauses(program string) (all []string) {
	for clause := range strings.FieldsFuncSeq(program, func(r rune) bool { return strings.ContainsRune(",;\n", r) }) {
		all = append(all, strings.Join(strings.Fields(clause), ""))
	}
	return all
}

// with returns the sorted clauses that use a member of a name.
func with(name string, clauses []string) []string {
	member := regex.New(`[.\["'>]` + regexp.QuoteMeta(name) + `\b`)
	found := slices.DeleteFunc(slices.Clone(clauses), func(clause string) bool { return !member.MatchString(clause) })
	slices.Sort(found)
	return found
}
