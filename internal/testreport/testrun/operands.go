package testrun

import (
	"path"
	"slices"
	"strings"
)

// fileRunners lists the runners whose operands are test files. Operands of others (go, zig, cargo)
// are sources.
var fileRunners = []string{
	"ava", "bats", "bun", "busted", "cypress", "deno", "jasmine", "jest", "minitest", "mocha", "node", "phpunit", "playwright", "prove",
	"pytest", "rspec", "tap", "unittest", "vitest",
}

// flagsWithoutValue lists options of these runners without a value.
var flagsWithoutValue = []string{"--test", "--run", "--ci", "--runInBand", "--verbose", "--silent", "--watch=false", "-i", "-q", "-s", "-v", "-vv", "-x", "--"}

// sourceOptions lists words that make a runner's operands sources, for which it finds the tests.
var sourceOptions = []string{"--findRelatedTests", "related", "--doctest-modules"}

// TestFiles returns the test files that are operands of a test run, relative to the folder of the
// command and with slashes. They need not exist.
func (c Call) TestFiles() []string {
	if !c.IsTestRun || !slices.Contains(fileRunners, c.Runner) || slices.ContainsFunc(c.Words, func(w string) bool { return slices.Contains(sourceOptions, w) }) {
		return nil
	}
	var files []string
	for i, word := range c.Words {
		last := c.Words[max(i-1, 0)]
		if i == 0 || strings.HasPrefix(word, "-") || strings.HasPrefix(last, "-") && !slices.Contains(flagsWithoutValue, last) {
			continue
		}
		word, _, _ = strings.Cut(word, "::") // without the names of pytest's tests
		if path.Ext(word) != "" && !strings.ContainsAny(word, "*?[{\\") {
			files = append(files, path.Join(c.Dir, word))
		}
	}
	return files
}
