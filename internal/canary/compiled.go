package canary

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

var (
	goPackage  = regex.New(`(?m)^package\s+(\w+)`)
	goBuildTag = regex.New(`(?m)^//go:build .*$`)
)

// goTests returns a separate file, since the package's inits and TestMain run for it too.
func (f testFile) goTests() (Canary, bool) {
	clause := goPackage.FindStringSubmatchIndex(f.text)
	if clause == nil || !strings.HasSuffix(f.path, "_test.go") {
		return Canary{}, false
	}
	head := ""
	if build := goBuildTag.FindString(f.text[:clause[0]]); build != "" {
		head = build + "\n\n"
	}
	text := []byte(head + f.fill(`package `+f.text[clause[2]:clause[3]]+`

import (
	"strconv"
	"testing"
)

func Test_TOKEN_1(t *testing.T) {
	got, err := strconv.Atoi("ONE")
	if want := TWO; err != nil || got != want {
		t.Fatalf("%d, not %d", got, want)
	}
}
`))
	return Canary{
		Path: path.Join(path.Dir(f.path), f.token+"_test.go"), WithTests: text, Standalone: text,
		Tests: f.testNames("Test_", []assertion{{name: "t.Fatalf"}}),
	}, true
}

// rustTests appends to the file: an integration test, or a source file with tests.
func (f testFile) rustTests() (Canary, bool) {
	inSource := f.contains("#[cfg(test)]")
	if !inSource && !f.contains("#[test]") {
		return Canary{}, false
	}
	all := []assertion{
		{"assert_eq!", `assert_eq!("ONE".parse::<u32>().ok(), "TWO".parse::<u32>().ok());`},
		{"assert!", `assert!("ONE".parse::<u32>().ok() == "TWO".parse::<u32>().ok());`},
	}
	tests := f.testNames("test_", all)
	var body strings.Builder
	for i, t := range tests {
		body.WriteString("\n    #[test]\n    fn " + t.Name + "() {\n        " + all[i].code + "\n    }\n")
	}
	text := f.fill("\n#[cfg(test)]\nmod TOKEN {" + strings.TrimPrefix(body.String(), "\n") + "}\n")
	text = strings.Replace(text, "{    #[test]", "{\n    #[test]", 1)
	c := Canary{Path: f.path, WithTests: []byte(f.withFinalNewline() + text), Tests: tests}
	if !inSource || path.Base(path.Dir(f.path)) == "tests" {
		c.Standalone = []byte(text)
	}
	return c, true
}

var javaPackage = regex.New(`(?m)^package\s+[\w.]+;`)

// javaTests adds methods at the end of the class, for JUnit 4 and 5.
func (f testFile) javaTests() (Canary, bool) {
	api, assertions := "org.junit.jupiter.api.Test", "org.junit.jupiter.api.Assertions"
	switch {
	case f.contains("org.junit.jupiter.api"):
	case f.contains("org.junit.Test"), f.contains("org.junit.*"):
		api, assertions = "org.junit.Test", "org.junit.Assert"
	default:
		return Canary{}, false
	}
	end := strings.LastIndex(f.text, "}")
	class := strings.TrimSuffix(path.Base(f.path), ".java")
	if end < 0 || !f.contains("class "+class) || f.contains("@Suite") || f.contains("@RunWith") {
		return Canary{}, false
	}
	tests := f.testNames("test_", []assertion{{name: "assertEquals"}})
	method := f.fill("\n    @" + api + "\n    public void " + tests[0].Name + "() {\n        " +
		assertions + ".assertEquals(Integer.parseInt(\"ONE\"), Integer.parseInt(\"TWO\"));\n    }\n")
	return Canary{
		Path: f.path, WithTests: []byte(f.text[:end] + method + f.text[end:]),
		Standalone: []byte(javaPackage.FindString(f.text) + "\n\npublic class " + class + " {" + method + "}\n"),
		Tests:      tests,
	}, true
}
