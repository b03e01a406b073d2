package verify

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/frozen"
	"github.com/pawl-dev/pawl/internal/git"
)

// Some files change what the tests do that were there, by being there: a
// conftest.py, a runner's configuration where there was none, a mock that is
// taken for a module. To add one is right where the work needs it; it is nobody's
// tampering, but no new test either. So it counts as a change of old tests: the
// gates run once more without it.

// The same is true of what tells a tool of the gates what to find fault with (a
// ruff.toml, where there was none), of what a Makefile includes if it is there, and of
// what a tsconfig.json demands of the code.

// shapers are such files, when they are new.
const shapers = `
	**/conftest.py **/__mocks__/** **/sitecustomize.py **/usercustomize.py **/*.pth **/setupTests.* **/setupJest.* **/jest.setup.*
	**/GNUmakefile **/makefile **/.npmrc **/vitest.setup.* **/spec_helper.rb **/rails_helper.rb **/test_helper.rb **/test_helper.exs **/TestCase.php
	**/*.{dist,egg}-info/entry_points.txt
	{unittest,pytest,_pytest,doctest,difflib,traceback,fnmatch,pprint,argparse,coverage,nose2,behave,mypy,ruff,flake8,pylint}{.py,/__init__.py,/__main__.py}`

// shapersChanged are such files also when they change: product and tests share
// them, and no reader tells whose part is whose.
const shapersChanged = `**/vite.config.{js,ts,mjs,cjs,mts,cts}`

// goShapes is what a new test file of Go can do to the tests beside it.
var goShapes = regexp.MustCompile(`(?m)^func (?:init\(\)|TestMain\()`)

// shapes reports whether a change between two trees is one of what old tests do
// that is no change of their text.
func (v *Verifier) shapes(ctx context.Context, ch git.Change, r Request, reach func() frozen.Reach) (bool, error) {
	base, added := path.Base(ch.Path), ch.Status == 'A'
	leads, err := v.ledElsewhere(ctx, frozen.Leads(ch.Path), ch.Path, r)
	if err != nil {
		return false, err
	}
	may := leads || matchesAny(shapersChanged, ch.Path)
	switch {
	case leads:
	case ch.Status == 'D':
		return false, nil
	case added && reach().Tells(ch.Path):
		return true, nil
	case base == "package.json" || base == "pyproject.toml" || base == "setup.cfg":
		return v.appeared(ctx, ch.Path, r, reach().Words)
	case added && strings.HasSuffix(base, "_test.go"):
		content, err := v.content(ctx, r.Tree, ch.Path)
		if err != nil {
			return false, err
		}
		may = goShapes.Match(content)
	case added:
		may = may || matchesAny(shapers, ch.Path) || matchesAny(frozen.RunnerFiles, base)
	default:
		demands, err := v.ledElsewhere(ctx, frozen.Demands(ch.Path), ch.Path, r)
		if err != nil || demands && reach().Tells(ch.Path) {
			return demands, err
		}
	}
	return may && v.hasTests(ctx, r.Judge), nil
}

func matchesAny(globs, file string) bool {
	return slices.ContainsFunc(strings.Fields(globs), func(glob string) bool {
		ok, err := doublestar.Match(glob, file)
		return ok && err == nil
	})
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

// ledElsewhere: by what stands in a file, what old tests import leads to something
// else than it did, or a tool demands something else.
func (v *Verifier) ledElsewhere(ctx context.Context, led func(was, now []byte) bool, file string, r Request) (bool, error) {
	if led == nil {
		return false, nil
	}
	was, err := v.content(ctx, r.Judge, file)
	if err != nil {
		return false, err
	}
	now, err := v.content(ctx, r.Tree, file)
	if err != nil {
		return false, err
	}
	return led(was, now), nil
}

// appeared: settings of a test runner, or of a tool that gates use by name, stand in a
// file that had none of it.
func (v *Verifier) appeared(ctx context.Context, file string, r Request, words []string) (bool, error) {
	was, err := v.content(ctx, r.Judge, file)
	if err != nil {
		return false, err
	}
	now, err := v.content(ctx, r.Tree, file)
	if err != nil {
		return false, err
	}
	news := func(words []string) bool {
		before := frozen.RunnerSettings(file, was, words)
		return slices.ContainsFunc(frozen.RunnerSettings(file, now, words), func(key string) bool { return !slices.Contains(before, key) })
	}
	return news(words) && (!news(nil) || v.hasTests(ctx, r.Judge)), nil
}
