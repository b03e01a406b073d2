package canary

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

var (
	goClause = regex.New(`(?m)^package\s+(\w+)`)
	goBuild  = regex.New(`(?m)^//go:build .*$`)
)

// golang is a file of its own: the package runs its inits and TestMain for it too.
func (f source) golang() (Canary, bool) {
	clause := goClause.FindStringSubmatchIndex(f.text)
	if clause == nil || !strings.HasSuffix(f.path, "_test.go") {
		return Canary{}, false
	}
	head := ""
	if build := goBuild.FindString(f.text[:clause[0]]); build != "" {
		head = build + "\n\n"
	}
	text := []byte(head + f.filled(`package `+f.text[clause[2]:clause[3]]+`

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
		Path: path.Join(path.Dir(f.path), f.token+"_test.go"), Beside: text, Alone: text,
		Tests: f.named("Test_", []assertion{{name: "t.Fatalf"}}),
	}, true
}

// rust stands at the end of the file: of an integration test, or of a source with tests.
func (f source) rust() (Canary, bool) {
	inside := f.uses("#[cfg(test)]")
	if !inside && !f.uses("#[test]") {
		return Canary{}, false
	}
	all := []assertion{
		{"assert_eq!", `assert_eq!("ONE".parse::<u32>().ok(), "TWO".parse::<u32>().ok());`},
		{"assert!", `assert!("ONE".parse::<u32>().ok() == "TWO".parse::<u32>().ok());`},
	}
	tests := f.named("test_", all)
	var body strings.Builder
	for i, t := range tests {
		body.WriteString("\n    #[test]\n    fn " + t.Name + "() {\n        " + all[i].code + "\n    }\n")
	}
	text := f.filled("\n#[cfg(test)]\nmod TOKEN {" + strings.TrimPrefix(body.String(), "\n") + "}\n")
	text = strings.Replace(text, "{    #[test]", "{\n    #[test]", 1)
	c := Canary{Path: f.path, Beside: []byte(f.ended() + text), Tests: tests}
	if !inside || path.Base(path.Dir(f.path)) == "tests" {
		c.Alone = []byte(text)
	}
	return c, true
}

var javaPackage = regex.New(`(?m)^package\s+[\w.]+;`)

// java stands at the end of the class, for JUnit 4 and 5.
func (f source) java() (Canary, bool) {
	api, assertions := "org.junit.jupiter.api.Test", "org.junit.jupiter.api.Assertions"
	switch {
	case f.uses("org.junit.jupiter.api"):
	case f.uses("org.junit.Test"), f.uses("org.junit.*"):
		api, assertions = "org.junit.Test", "org.junit.Assert"
	default:
		return Canary{}, false
	}
	end := strings.LastIndex(f.text, "}")
	class := strings.TrimSuffix(path.Base(f.path), ".java")
	if end < 0 || !f.uses("class "+class) || f.uses("@Suite") || f.uses("@RunWith") {
		return Canary{}, false
	}
	tests := f.named("test_", []assertion{{name: "assertEquals"}})
	method := f.filled("\n    @" + api + "\n    public void " + tests[0].Name + "() {\n        " +
		assertions + ".assertEquals(Integer.parseInt(\"ONE\"), Integer.parseInt(\"TWO\"));\n    }\n")
	return Canary{
		Path: f.path, Beside: []byte(f.text[:end] + method + f.text[end:]),
		Alone: []byte(javaPackage.FindString(f.text) + "\n\npublic class " + class + " {" + method + "}\n"),
		Tests: tests,
	}, true
}
