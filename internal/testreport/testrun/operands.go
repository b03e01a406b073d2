package testrun

import (
	"path"
	"slices"
	"strings"
)

// byFile are the runners to which the files of the tests are named; to others (go,
// zig, cargo) sources are.
var byFile = []string{
	"ava", "bats", "bun", "busted", "cypress", "deno", "jasmine", "jest", "minitest", "mocha", "node", "phpunit", "playwright", "prove",
	"pytest", "rspec", "tap", "unittest", "vitest",
}

// alone are options of theirs that take no value.
var alone = []string{"--test", "--run", "--ci", "--runInBand", "--verbose", "--silent", "--watch=false", "-i", "-q", "-s", "-v", "-vv", "-x", "--"}

// ofSources are words with which a runner is named sources to find the tests of.
var ofSources = []string{"--findRelatedTests", "related", "--doctest-modules"}

// TestFiles are the files that a test run is told to run, from the folder of the
// command and with slashes. They need not be there.
func (c Call) TestFiles() []string {
	if !c.Sure || !slices.Contains(byFile, c.Runner) || slices.ContainsFunc(c.Words, func(w string) bool { return slices.Contains(ofSources, w) }) {
		return nil
	}
	var files []string
	for i, word := range c.Words {
		last := c.Words[max(i-1, 0)]
		if i == 0 || strings.HasPrefix(word, "-") || strings.HasPrefix(last, "-") && !slices.Contains(alone, last) {
			continue
		}
		word, _, _ = strings.Cut(word, "::") // pytest's tests in it
		if path.Ext(word) != "" && !strings.ContainsAny(word, "*?[{\\") {
			files = append(files, path.Join(c.Dir, word))
		}
	}
	return files
}
