package arch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each rule catches what it is there for, and lets pass what it is not.
func TestRulesFindViolations(t *testing.T) {
	t.Parallel()
	const header = "// Package x is.\npackage x\n"
	tests := []struct {
		name, path, text string
		rule             func([]source) []string
		want             []string
	}{
		{
			"core imports only core", "internal/core/loop/a.go",
			`import ("github.com/pawl-dev/pawl/internal/core/plan"; "github.com/pawl-dev/pawl/internal/git")`, folderFaults,
			[]string{"internal/core/loop/a.go:3: core/loop may not import git"},
		},
		{
			"surfaces do not reach down", "internal/term/a.go",
			`import "github.com/pawl-dev/pawl/internal/runner"`, folderFaults,
			[]string{"internal/term/a.go:3: term may not import runner"},
		},
		{
			"a folder needs a line", "internal/stuff/a.go", ``, folderFaults,
			[]string{`internal/stuff/a.go: folder "stuff" has no line in the import policy`},
		},
		{"tests may import all", "internal/core/loop/a_test.go", `import "os"`, packageFaults, nil},
		{
			"core is pure", "internal/core/loop/a.go", `import ("os"; "strings")`, packageFaults,
			[]string{`internal/core/loop/a.go:3: core is pure and may not import "os"`},
		},
		{"core/shell parses shell", "internal/core/shell/a.go", `import "mvdan.cc/sh/v3/syntax"`, packageFaults, nil},
		{
			"others do not", "internal/core/plan/a.go", `import "mvdan.cc/sh/v3/syntax"`, packageFaults,
			[]string{`internal/core/plan/a.go:3: core/plan may not import "mvdan.cc/sh/v3/syntax"`},
		},
		{
			"environment", "internal/git/a.go", "import env \"os\"\nfunc f() { _ = env.Getenv(\"X\") }", callFaults,
			[]string{"internal/git/a.go:4: git may not use os.Getenv"},
		},
		{"environment reads it", "internal/environment/a.go", "import \"os\"\nfunc f() { _ = os.Getenv(\"X\") }", callFaults, nil},
		{
			"clock", "internal/core/gate/a.go", "import \"time\"\nvar f = time.Now\ntype d = time.Time", callFaults,
			[]string{"internal/core/gate/a.go:4: core may not use time.Now: an event carries its time"},
		},
		{
			"init", "internal/git/a.go", "func init() {}\ntype t int\nfunc (t) init() {}", stateFaults,
			[]string{"internal/git/a.go:3: no init functions: what they do is hidden, and every start pays for it"},
		},
		{
			"constant variables", "internal/git/a.go",
			"import (\"errors\"; \"embed\"; \"github.com/pawl-dev/pawl/internal/regex\")\nvar e = errors.New(\"\")\nvar r = regex.New(\"\")\n" +
				"var _ = 1\nvar ErrGone = os.ErrNotExist\nvar table = map[string]int{}\nvar page = &T{}\n//go:embed x\nvar files embed.FS\nfunc f() { table := table; table[\"\"] = 1 }",
			stateFaults, nil,
		},
		{
			"variables that change", "internal/git/a.go",
			"var a int\nvar b = 1\nvar c = []int{1}\nvar D = []int{}\nvar e = f()\nfunc f() int { c[0] = 2; return 0 }", stateFaults,
			[]string{
				"internal/git/a.go:3: package variable a has no value of its own, so somebody must set it",
				"internal/git/a.go:4: package variable b should be a constant or a function",
				"internal/git/a.go:5: package variable c is written to",
				"internal/git/a.go:6: package variable D is exported, so that anyone may change it",
				"internal/git/a.go:7: package variable e is made by a function that is not known to make constants",
			},
		},
		{
			"long file", "internal/git/a_test.go", strings.Repeat("\n", 400), sizeFaults,
			[]string{"internal/git/a_test.go: 402 lines; at most 400"},
		},
		{
			"long function", "internal/git/a.go", "func f() {" + strings.Repeat("\n", 62) + "}", sizeFaults,
			[]string{"internal/git/a.go:3: f has 61 lines; at most 60"},
		},
		{
			"many parameters", "internal/git/a.go", "import \"context\"\nfunc f(c context.Context, a, b int, d, e string) {}\nfunc g(a, b, c, d, e int) {}", sizeFaults,
			[]string{"internal/git/a.go:5: g has 5 parameters; at most 4"},
		},
		{"documented package", "internal/x/a.go", ``, packageNameFaults, nil},
		{
			"a client's words", "internal/record/a.go", "func f(tool string) bool { return tool == \"Bash\" }\ntype T struct { P string `json:\"turnOrigin\"` }", clientFaults,
			[]string{"internal/record/a.go:3: Bash is a client's word: its codec has it in ours", "internal/record/a.go:4: turnOrigin is a client's word: its codec has it in ours"},
		},
		{
			"comments", "internal/x/a.go", "// f calls x.Gone, see gone.go. x.G is there (a.go), as is fmt.Print.\nfunc f() {}\nfunc G() {}", commentFaults,
			[]string{"internal/x/a.go:3: the comment names x.Gone, which does not exist", "internal/x/a.go:3: the comment names gone.go, which does not exist"},
		},
		{"the adapter knows it", "internal/agent/claude/codec/a.go", "const shell = \"Bash\"", clientFaults, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.rule([]source{parse(t, tt.path, []byte(header+tt.text))})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVaguePackageNamesAreFound(t *testing.T) {
	t.Parallel()
	got := packageNameFaults([]source{
		parse(t, "internal/helper/a.go", []byte("package helper")),
		parse(t, "cmd/pawl/main.go", []byte("// Command pawl runs.\npackage main")),
		parse(t, "internal/x/x_test.go", []byte("package x")),
	})
	want := []string{
		`internal/helper/a.go: package name "helper" says nothing`,
		`internal/helper: its package comment does not begin with "Package helper "`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
