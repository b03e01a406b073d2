package plan_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

func TestOutlookOfTestData(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"print dates as 2024-03-01; update testdata to match": true,
		"print a header; update testdata/people.csv":          true,
		"reword the errors and regenerate the golden files":   true,
		"new amount format, adapting its snapshots":           true,
		"change expected output of help":                      true,
		"add golden files for the help":                       false,
		"update the parser":                                   false,
		"fix the tests":                                       false,
		"cache snapshots of the store":                        false,
		"changed snapshots are shown":                         false,
	} {
		why, _ := plan.Task{Title: title}.Outlook(true)
		if got := strings.HasPrefix(why, "asks to change what tests compare with"); got != want {
			t.Errorf("%q: %q", title, why)
		}
	}
}

func TestOutlookOfTestHelper(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"let the helper item take euros as text, all tests use that":                     true,
		"Let the helper's `entry` take amounts as text (\"12.50\"), all tests use that.": true,
		"let the tests' helper return what Parse says of the file":                       true,
		"rename the shared test helper":                                                  true,
		"tests make items by a helper item(cents) in helpers.py":                         false,
		"add a test helper":                            false,
		"let the helper cache results. All tests pass": false,
		"let the helper cache results; add tests":      false,
		"changed test helpers are shown":               false,
	} {
		for _, task := range []plan.Task{{Title: text}, {Title: "Read back", Detail: text}, {Title: "Read back", Criteria: []string{text}}} {
			why, _ := task.Outlook(true)
			if got := strings.HasPrefix(why, "asks to change a helper of tests"); got != want {
				t.Errorf("%+v: %q", task, why)
			}
		}
	}
}

func TestOutlookOfRefactoring(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Refactor the parser into three files":                  true,
		"Split run() in two, no change of behaviour":            true,
		"move the cache to a package without changing behavior": true,
		"The store gets an interface; behaviour stays the same": true,
		"clean up temporary files at exit":                      false,
		"reformat telephone numbers":                            false,
		"refactoring tools are listed":                          false,
		"change the behaviour of the cache":                     false,
		"fix a crash without change of the format":              false,
	} {
		why, option := plan.Task{ID: "US-1", Title: text}.Outlook(true)
		if got := strings.HasPrefix(why, "looks like refactoring"); got != want || got && option != "--evidence US-1=unproven" {
			t.Errorf("%q: %q %q", text, why, option)
		}
	}
}

// What is decided already is no outlook.
func TestOutlookOfWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		task       plan.Task
		wantsProof bool
	}{
		{plan.Task{Title: "Update the README"}, false},
		{plan.Task{Title: "Refactor the parser"}, false},
		{plan.Task{Title: "update the golden files", AllowTestChanges: true}, true},
		{plan.Task{Title: "a logout button"}, true},
	} {
		if why, option := c.task.Outlook(c.wantsProof); why != "" || option != "" {
			t.Errorf("%q: %q %q", c.task.Title, why, option)
		}
	}
}

func TestLooksLikeProse(t *testing.T) {
	t.Parallel()
	cases := []struct {
		title string
		want  bool
	}{
		{"Update README.md", true},
		{"Update the README with install steps", true},
		{"Write docs for the config API", true},
		{"Add a CHANGELOG entry", true},
		{"Add docstrings to all public functions", true},
		{"Improve documentation", true},
		{"Document how retries work", true},
		{"Document the parser", true},
		{"docs: explain the parser", true},
		{"docs(api): explain", true},
		{"Add docs endpoint", false},
		{"Serve docs at /docs", false},
		{"Add README parser", false},
		{"Add document upload", false},
		{"Document upload page", false},
		{"Add comments to posts", false},
		{"Fix parser", false},
		{"Generate the changelog from commits", false},
		{"Parse: handle docs", false},
		{"Docs", false},
		{"Describe both in the README", true},
		{"mention the flag in docs and changelog", true},
		{"explain in the README how to install it", true},
		{"Describe the state in a struct", false},
		{"describe in JSON what the docs server has", false},
		{"", false},
	}
	for _, c := range cases {
		if got := plan.LooksLikeProse(plan.Task{Title: c.title}); got != c.want {
			t.Errorf("LooksLikeProse(%q) = %v", c.title, got)
		}
	}
}
