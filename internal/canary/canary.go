// Package canary writes tests that must fail. If a gate run does not report one of them as
// failed, its results cannot be trusted: some code exits the process, patches assertions or
// prints fake results.
//
//	c, ok := canary.New("sum_test.py", content, token)
//	// write c.WithTests to the file c.Path, run the gate, and look for c.Tests
//
// A canary compares different values with the assertions that the test file uses, one test
// for each. If the language allows it, the canary is appended to the test file: so it runs
// even if the command names its test files, and it fails only if the run reaches the end.
package canary

import (
	"fmt"
	"hash/fnv"
	"path"
	"strings"
)

// Canary is a file of tests that must fail.
type Canary struct {
	Path      string // of the canary, which may be the test file itself
	WithTests []byte // content of the file with the existing tests and the canary
	// Standalone is the content without the existing tests, for a tree in which these fail. It
	// is nil if the file also holds source of the program.
	Standalone []byte
	Tests      []Test // the same number in the same order for every token
}

// Test is a test that must fail.
type Test struct {
	Name      string // contains the token
	Assertion string // the assertion that it uses
}

// maxFileBytes bounds the files that are read, in bytes: a larger test file was generated.
const maxFileBytes = 512 << 10

// New returns a canary for a test file. Names and values are derived from the token: at
// least eight lower-case letters and digits, beginning with a letter. It returns false for
// an unknown language or test runner, and for a file that selects which of its tests run.
func New(file string, content []byte, token string) (Canary, bool) {
	if len(content) > maxFileBytes || token == "" {
		return Canary{}, false
	}
	f := testFile{path: file, text: strings.ReplaceAll(string(content), "\r\n", "\n"), token: token}
	h := fnv.New32a()
	_, _ = h.Write([]byte(token))
	f.number = 10_000 + int(h.Sum32()%80_000)
	switch path.Ext(file) {
	case ".go":
		return f.goTests()
	case ".py":
		return f.pythonCanary()
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return f.javascriptTests()
	case ".rs":
		return f.rustTests()
	case ".java":
		return f.javaTests()
	}
	return Canary{}, false
}

// testFile is the file that a canary is made for.
type testFile struct {
	path, text, token string
	number            int // differs from value+1
}

// fill replaces the placeholders in a text by the token and the two numbers.
func (f testFile) fill(text string) string {
	return strings.NewReplacer(
		"TOKEN", f.token, "Token", strings.ToUpper(f.token[:1])+f.token[1:],
		"ONE", fmt.Sprint(f.number), "TWO", fmt.Sprint(f.number+1),
	).Replace(text)
}

// contains reports whether the file contains a text.
func (f testFile) contains(text string) bool { return strings.Contains(f.text, text) }

// withFinalNewline returns the file's text, ending with a newline.
func (f testFile) withFinalNewline() string {
	if f.text == "" || strings.HasSuffix(f.text, "\n") {
		return f.text
	}
	return f.text + "\n"
}

// assertion is one way to compare, with code that compares two different values.
type assertion struct{ name, code string }

// testNames returns the tests of a canary, one for each assertion. A name is prefix, token and
// number.
func (f testFile) testNames(prefix string, all []assertion) []Test {
	tests := make([]Test, len(all))
	for i, a := range all {
		tests[i] = Test{Name: fmt.Sprintf("%s%s_%d", prefix, f.token, i+1), Assertion: a.name}
	}
	return tests
}
