package verify

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/frozen"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/work"
)

// A change of a gate input (package work) accuses nobody. It counts like a change of an
// old test: the gates run once more with the input as it was.

// shapers have the name of a test, and change what the tests do that were there.
const shapers = `
	**/conftest.py **/__mocks__/** **/spec_helper.rb **/rails_helper.rb **/test_helper.rb **/test_helper.exs **/TestCase.php`

// goShapes is what a new test file of Go can do to the tests beside it.
var goShapes = regexp.MustCompile(`(?m)^func (?:init\(\)|TestMain\()`)

// inputs tells the gate inputs among the changes of a claim.
type inputs struct {
	v     *Verifier
	r     Request
	rules func() (work.Rules, error)
}

func (v *Verifier) inputsOf(ctx context.Context, r Request) inputs {
	return inputs{v: v, r: r, rules: sync.OnceValues(func() (work.Rules, error) { return v.workRules(ctx, r) })}
}

// workRules say what is work in the repository of a request.
func (v *Verifier) workRules(ctx context.Context, r Request) (work.Rules, error) {
	entries, err := v.Repo.Entries(ctx, r.Judge)
	if err != nil {
		return work.Rules{}, err
	}
	rules := work.Rules{Globs: r.Work, Shell: true}
	for file := range entries {
		if work.IsSource(file) && !v.isTest(file) {
			rules.Shell = false
			break
		}
	}
	commands := frozen.Reached(v.Root, r.Gates)
	for _, word := range frozen.Words(commands) {
		if _, there := entries[word]; there && work.IsScript(word) {
			content, err := v.content(ctx, r.Judge, word)
			if err != nil {
				return work.Rules{}, err
			}
			commands = append(commands, string(content))
		}
	}
	named := frozen.Words(compares.Split(strings.Join(commands, "\n"), -1))
	rules.Checked = func(file string) bool {
		return slices.ContainsFunc(named, func(word string) bool { return path.Base(word) == path.Base(file) })
	}
	rules.Make = slices.ContainsFunc(commands, makes.MatchString)
	rules.Settled = func(dir string) bool {
		for file := range entries {
			if dir == "." || strings.HasPrefix(file, dir+"/") {
				return true
			}
		}
		return false
	}
	return rules, nil
}

// compares are commands that hold one file against another.
var compares = regexp.MustCompile(`\b(diff|cmp|comm)\b[^|;&\n]*`)

// makes are commands that ask for targets.
var makes = regexp.MustCompile(`\b(g?make|ninja)\b`)

// changed reports whether a change between the judge's tree and the claim's is one of a
// gate input that is no test, or of what the tests do that were there.
func (in inputs) changed(ctx context.Context, ch git.Change) (bool, error) {
	if in.v.isTest(ch.Path) {
		return in.shapes(ctx, ch)
	}
	if in.v.isMark(ch.Path) || ch.To.ID != "" && !ch.To.IsFile() { // of a submodule there is no copy
		return false, nil
	}
	rules, err := in.rules()
	if err != nil {
		return false, err
	}
	if work.IsManifest(ch.Path) && ch.Status == 'M' {
		was, err := in.v.content(ctx, in.r.Judge, ch.Path)
		if err != nil {
			return false, err
		}
		now, err := in.v.content(ctx, in.r.Tree, ch.Path)
		return err == nil && !work.DependenciesOnly(ch.Path, was, now), err
	}
	return !rules.Is(work.Change{Path: ch.Path, Added: ch.Status == 'A', Executable: ch.To.IsExecutable()}), nil
}

// shapes reports whether a new test changes what the tests do that were there.
func (in inputs) shapes(ctx context.Context, ch git.Change) (bool, error) {
	if ch.Status != 'A' {
		return false, nil
	}
	may := matchesAny(shapers, ch.Path)
	if strings.HasSuffix(ch.Path, "_test.go") {
		content, err := in.v.content(ctx, in.r.Tree, ch.Path)
		if err != nil {
			return false, err
		}
		may = goShapes.Match(content)
	}
	return may && in.v.hasTests(ctx, in.r.Judge), nil
}

// isMark: Pawl itself writes the file.
func (v *Verifier) isMark(file string) bool {
	return v.Marks != nil && slices.Contains(v.Marks(), file)
}

func matchesAny(globs, file string) bool {
	return work.Matches(strings.Fields(globs), file)
}

// hasTests: there are tests in a tree whose doing could change.
func (v *Verifier) hasTests(ctx context.Context, tree string) bool {
	entries, err := v.Repo.Entries(ctx, tree)
	if err != nil {
		return true // it could not be asked: there may be
	}
	for file := range entries {
		if v.isTest(file) {
			return true
		}
	}
	return false
}
