package verify

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// maxNamesRead bounds the files searched for the names of new tests.
const maxNamesRead = 1000

// addedTests returns the test names that the work added, by the gates that can run these alone. It
// omits names that any test had before: the runner would run those too.
func (c *claim) addedTests(ctx context.Context) (map[string][]string, error) {
	var names []string
	for _, file := range c.seen.Tests.New {
		before, after, err := c.texts(ctx, file)
		if err != nil {
			return nil, err
		}
		names = append(names, testdiff.Added(file, before, after)...)
	}
	if len(names) == 0 {
		return nil, nil
	}
	tests, err := c.Repo.Select(ctx, c.Base, c.files.tests)
	if err != nil {
		return nil, err
	}
	tests = maps.Clone(tests)
	maps.DeleteFunc(tests, func(file string, _ git.Entry) bool { return !testdiff.Knows(file) })
	old, err := c.Repo.Contents(ctx, tests, maxNamesRead, maxTextRead)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return wasTestName(name, old) })
	added := map[string][]string{}
	_, narrowed := narrowToTests(c.Root, c.Gates, names)
	for name := range narrowed {
		added[name] = names
	}
	return added, nil
}

// wasTestName reports whether a test in the files may have this name.
func wasTestName(name string, files map[string][]byte) bool {
	leaf := strings.TrimSpace(name[strings.LastIndexByte(name, '>')+1:])
	literal := gate.TitlePattern(leaf) == regexp.QuoteMeta(leaf)
	for file, text := range files {
		if mutant.Names(string(text), leaf) || !literal && slices.ContainsFunc(testdiff.Added(file, nil, text), func(old string) bool { return gate.MatchesTestName(old, name) }) {
			return true
		}
	}
	return false
}
