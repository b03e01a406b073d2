// Package canary writes tests that must fail. A run that does not report one of them as
// failed cannot be believed: code that ends the process, patches assertions or prints
// results of its own does that.
//
//	c, ok := canary.For("sum_test.py", content, token)
//	// lay c.Beside over the file c.Path, run the gate, and look for c.Tests
//
// A canary compares values that differ with the assertions that the test file beside it
// uses, one test for each. Where the language allows it stands in that file itself, at
// its end: so it runs where the command names its test files, and only if the run gets
// as far as that.
package canary

import (
	"fmt"
	"hash/fnv"
	"path"
	"strings"
)

// Canary is a file of tests that must fail.
type Canary struct {
	Path      string // of the file, which may be that of the test file itself
	WithTests []byte // its content: with the tests that are in it
	// Standalone is its content without these, for a tree in which they fail. Of a program's
	// source that holds tests there is none.
	Standalone []byte
	Tests      []Test // as many, in the same order, whatever the token
}

// Test is one that must fail.
type Test struct {
	Name      string // has the token in it
	Assertion string // what it asserts with
}

// maxFileBytes bounds the files that are read, in bytes: a larger test file was generated.
const maxFileBytes = 512 << 10

// New gives a canary for a test file. The token makes names and values: letters and
// digits in lower case, a letter first, at least eight. It is false for a language or a
// runner that is not known, and where a file decides by itself which of its tests run.
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

// fill puts the token and the two values into a text.
func (f testFile) fill(text string) string {
	return strings.NewReplacer(
		"TOKEN", f.token, "Token", strings.ToUpper(f.token[:1])+f.token[1:],
		"ONE", fmt.Sprint(f.number), "TWO", fmt.Sprint(f.number+1),
	).Replace(text)
}

// contains reports whether a text stands somewhere in the file.
func (f testFile) contains(text string) bool { return strings.Contains(f.text, text) }

// withFinalNewline is the file with a line end at its end.
func (f testFile) withFinalNewline() string {
	if f.text == "" || strings.HasSuffix(f.text, "\n") {
		return f.text
	}
	return f.text + "\n"
}

// assertion is one way to compare, and how it looks with two values that differ.
type assertion struct{ name, code string }

// testNames are the tests of a canary, one for each assertion: prefix, token, number.
func (f testFile) testNames(prefix string, all []assertion) []Test {
	tests := make([]Test, len(all))
	for i, a := range all {
		tests[i] = Test{Name: fmt.Sprintf("%s%s_%d", prefix, f.token, i+1), Assertion: a.name}
	}
	return tests
}
