package verify

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// listed matches names that a task lists: Name, Bio and Website.
var listed = regex.New(`\b\w+(?:,\s+\w+){0,6},?\s+(?:and|or)\s+\w+\b`)

// halfDone returns a sign for each list of the task of which the work changes some members, functions or
// what is done with the program's data, and not the others.
func (in *inspection) halfDone(ctx context.Context) (found []sign.Sign, err error) {
	if found, err = in.halfReplaced(ctx); err != nil {
		return nil, err
	}
	lists := listed.FindAllString(in.r.Asked, maxNamed)
	if len(lists) == 0 {
		return found, nil
	}
	var was, is []string
	functions := map[string]string{} // those that stay as they are, with their code
	var changed []string
	first := ""
	for _, f := range in.work() {
		if f.Status != 'M' || !isFile(f.To) || !sign.IsProgram(f.Path) {
			continue
		}
		was, is = append(was, clauses(sign.WithoutComments(f.Path, f.before))...), append(is, clauses(sign.WithoutComments(f.Path, f.after))...)
		first = cmp.Or(first, f.Path)
		for _, name := range mutant.ChangedNames(f.Path, f.before, f.after) {
			changed = append(changed, mutant.BareName(name))
		}
		maps.Copy(functions, mutant.FunctionCode(f.Path, f.after))
	}
	if first == "" {
		return found, nil
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

// halfReplaced returns a sign for each name that the task has replaced everywhere, and that is gone from
// some programs and not from others.
func (in *inspection) halfReplaced(ctx context.Context) (found []sign.Sign, err error) {
	if !everywhere.MatchString(in.r.Asked) {
		return nil, nil
	}
	names := codeName.FindAllString(in.r.Asked, maxNamed)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		done := ""
		for _, f := range in.work() {
			if isFile(f.To) && sign.IsProgram(f.Path) && strings.Contains(sign.WithoutComments(f.Path, f.before), name) && !strings.Contains(sign.WithoutComments(f.Path, f.after), name) {
				done = cmp.Or(done, f.Path)
			}
		}
		if done == "" {
			continue
		}
		programs, err := contentsOf(ctx, in.repo, in.r.After, in.r.files.programs, maxCalled)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(programs, func(file string, content []byte) bool {
			return !strings.Contains(sign.WithoutComments(file, content), name) || slices.Contains(declaredNames(file, content), strings.TrimSuffix(name, "()"))
		})
		if left := slices.Sorted(maps.Keys(programs)); len(left) > 0 {
			found = append(found, sign.Sign{Path: done, Kind: sign.HalfDone, Does: "replaces " + name + " and not in " + strings.Join(left[:min(len(left), maxNamed)], ", "), Text: name})
		}
	}
	return found, nil
}

var (
	everywhere = regex.New(`(?i)\b(?:replac|migrat|renam|remov|convert|switch|mov)\w*\b.*\b(?:everywhere|throughout|(?:the )?(?:whole|entire|all|every|each)|codebase)\b`)
	codeName   = regex.New(`\b[A-Za-z_]\w*(?:\.\w+)*\(\)|\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+(?:\.[a-z]\w+)+\b|\b[a-z]+[A-Z]\w*\b`)
)
