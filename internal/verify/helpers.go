package verify

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// imports are, by file extension, imports of test frameworks. A file that has one and no
// test is a helper that tests share. Assertion libraries that programs use too
// (node:assert) are not listed.
var imports = sync.OnceValue(func() map[string]*regexp.Regexp {
	script := regexp.MustCompile(`\b(?:from|require\(|import)\s*["'](?:node:test|vitest|@jest/globals|chai|mocha|ava|tape|@playwright/test)["']`)
	return map[string]*regexp.Regexp{
		".go": regexp.MustCompile(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"testing"\s*$`),
		".py": regexp.MustCompile(`(?m)^\s*(?:import|from)\s+(?:pytest|unittest|nose|hypothesis)\b`),
		".js": script, ".mjs": script, ".cjs": script, ".ts": script, ".mts": script, ".jsx": script, ".tsx": script,
		".java": regexp.MustCompile(`(?m)^\s*import\s+(?:static\s+)?(?:org\.junit|junit\.framework|org\.testng|org\.assertj|org\.hamcrest)\b`),
		".kt":   regexp.MustCompile(`(?m)^\s*import\s+(?:org\.junit|kotlin\.test|io\.kotest)\b`),
		".rb":   regexp.MustCompile(`(?m)^\s*require\s+["'](?:minitest|test/unit|rspec)\b`),
	}
})

// ownTests are tests that a source file holds beside its program.
var ownTests = regexp.MustCompile(`(?m)^\s*(?:async\s+)?def test|^\s*class\s+\w+\(.*TestCase|@(?:Parameterized)?Test\b|^\s*(?:await\s+)?(?:test|it|describe)\(`)

// helpsTests reports whether a file that has not the name of a test is one that tests
// share: it uses a test framework, and holds no test.
func helpsTests(file string, content []byte) bool {
	uses := imports()[strings.ToLower(path.Ext(file))]
	return uses != nil && uses.Match(content) && !ownTests.Match(content)
}
