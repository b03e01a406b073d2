package verify

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
)

// frameworkImports match imports of test frameworks, by file extension. A file with one and no test
// is a shared test helper. Assertion libraries that programs use too (node:assert) are not listed.
var frameworkImports = sync.OnceValue(func() map[string]*regex.Regex {
	script := regex.New(`\b(?:from|require\(|import)\s*["'](?:node:test|vitest|@jest/globals|chai|mocha|ava|tape|@playwright/test)["']`)
	return map[string]*regex.Regex{
		".go": regex.New(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"testing"\s*$`),
		".py": regex.New(`(?m)^\s*(?:import|from)\s+(?:pytest|unittest|nose|hypothesis)\b`),
		".js": script, ".mjs": script, ".cjs": script, ".ts": script, ".mts": script, ".jsx": script, ".tsx": script,
		".java": regex.New(`(?m)^\s*import\s+(?:static\s+)?(?:org\.junit|junit\.framework|org\.testng|org\.assertj|org\.hamcrest)\b`),
		".kt":   regex.New(`(?m)^\s*import\s+(?:org\.junit|kotlin\.test|io\.kotest)\b`),
		".rb":   regex.New(`(?m)^\s*require\s+["'](?:minitest|test/unit|rspec)\b`),
	}
})

// testDeclaration matches tests inside a source file.
var testDeclaration = regex.New(`(?m)^\s*(?:async\s+)?def test|^\s*class\s+\w+\(.*TestCase|@(?:Parameterized)?Test\b|^\s*(?:await\s+)?(?:test|it|describe)\(`)

// isTestHelper reports whether a file without a test's name uses a test framework and contains no
// test.
func isTestHelper(file string, content []byte) bool {
	uses := frameworkImports()[strings.ToLower(path.Ext(file))]
	return uses != nil && uses.Match(content) && !testDeclaration.Match(content)
}

// failsTests matches what fails a test in a language without a test framework.
var failsTests = regex.New(`\bAssertionError\b`)

// withoutHelpers returns the work without new files that contain assertions for tests: each function
// fails a test, and no program mentions them. Mutating these proves nothing. It returns all of the
// work if nothing else changed.
func (v *Verifier) withoutHelpers(ctx context.Context, tree string, work []git.Change) ([]git.Change, error) {
	helpers, others := map[string]bool{}, false
	err := eachText(ctx, v.Repo, programsIn(work), func(ch changedFile) error {
		helper := ch.Status == 'A' && isAssertHelper(ch.Path, ch.after)
		if others = others || !helper; helper {
			helpers[ch.Path] = true
		}
		return nil
	})
	if err != nil || len(helpers) == 0 || !others {
		return work, err
	}
	entries, err := v.Repo.Entries(ctx, tree)
	if err != nil {
		return nil, err
	}
	var all []git.Change
	for file, e := range entries {
		if !helpers[file] {
			all = append(all, git.Change{Path: file, Status: 'A', To: e})
		}
	}
	err = eachText(ctx, v.Repo, programsIn(v.workIn(all)), func(ch changedFile) error {
		for helper := range helpers {
			if mutant.Names(string(ch.after), strings.TrimSuffix(path.Base(helper), path.Ext(helper))) {
				delete(helpers, helper)
			}
		}
		return nil
	})
	return slices.DeleteFunc(slices.Clone(work), func(ch git.Change) bool { return helpers[ch.Path] }), err
}

// ownFiles returns the paths that Pawl itself writes.
func (v *Verifier) ownFiles() []string {
	if v.Marks == nil {
		return nil
	}
	return v.Marks()
}

// workIn returns the changes that are neither of tests nor of Pawl's own files.
func (v *Verifier) workIn(changes []git.Change) []git.Change {
	own := v.ownFiles()
	return slices.DeleteFunc(slices.Clone(changes), func(ch git.Change) bool { return v.isTest(ch.Path) || slices.Contains(own, ch.Path) })
}

// programsIn returns the changes of files with known functions that are there now.
func programsIn(work []git.Change) []git.Change {
	return slices.DeleteFunc(slices.Clone(work), func(ch git.Change) bool { return !isFile(ch.To) || !mutant.Knows(ch.Path) })
}

// isAssertHelper reports whether a file has functions, each of which fails a test.
func isAssertHelper(file string, text []byte) bool {
	if !failsTests.Match(text) {
		return false
	}
	lines := bytes.Split(text, []byte("\n"))
	all := mutant.Changed(file, nil, text)
	return len(all) > 0 && !slices.ContainsFunc(all, func(f mutant.Function) bool {
		end := min(f.Line-1+f.Lines, len(lines))
		return !failsTests.Match(bytes.Join(lines[min(f.Line-1, end):end], []byte("\n")))
	})
}
