package planfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
)

func TestInvalidPlansAreRefused(t *testing.T) {
	t.Parallel()
	const knownJSON = `{"userStories": [{"id": "US-001", "title": "…", "passes": false}]}`
	cases := []struct {
		name, file, data string
		want             []string
	}{
		{"no tasks", "plan.md", "# Plan\n\n- a\n", []string{`plan.md:1: the plan has no tasks: expected a line such as "- [ ] first task"`}},
		{"empty", "plan.md", "", []string{`plan.md:1: the plan has no tasks: expected a line such as "- [ ] first task"`}},
		{"no tasks in JSON", "a.json", "[]", []string{`a.json:1: the plan has no tasks: expected [{"description": "…", "passes": false}]`}},
		{"empty JSON", "a.json", " \n", []string{`a.json:1: the file is empty: expected a JSON plan such as ` + knownJSON}},
		{"cut off JSON", "a.json", "[\n {\"title\":\n", []string{`a.json:2: this is not JSON: it ends too early: expected a JSON plan such as ` + knownJSON}},
		{"malformed JSON", "a.json", "[\n {\"title\": \"a\",}\n]", []string{`a.json:2: this is not JSON: column 16: invalid character '}' looking for beginning of object key string: expected a JSON plan such as ` + knownJSON}},
		{"more after JSON", "a.json", "[]\n[]", []string{`a.json:2: this is not JSON: column 1: invalid character '[' after top-level value: expected a JSON plan such as ` + knownJSON}},
		{"unknown shape", "a.json", "\n{\"prd\": {}}", []string{`a.json:2: this JSON is not a known plan format: expected ` + knownJSON + ` or [{"description": "…", "passes": false}] or {"master": {"tasks": [{"id": 1, "title": "…", "status": "pending"}]}} or {"tasks": [{"title": "…", "completed": false}]}`}},
		{"state in another field", "a.json", `{"userStories":[{"id":1,"title":"a","status":"pending"}]}`, []string{`a.json:1: task "1" keeps its state in "status": expected "passes": false or true`}},
		{
			"several tags", "a.json", `{"a":{"tasks":[{"id":1,"title":"x","status":"done"}]},"b":{"tasks":[{"id":1,"title":"y","status":"pending"}]}}`,
			[]string{`a.json:1: there are tasks under several tags: a, b: expected one of them; make a plan of it:  jq '{tag: .["a"]}' FILE > plan.json`},
		},
		{"odd fields", "a.json", "[\n{\"title\":\"a\",\"passes\":\"no\"},\n{\"title\":\"b\",\"evidence\":\"none\"},\n{\"title\":\"c\",\"allow_test_changes\":1},\n{\"id\":\"d\"},\n7]", []string{
			`a.json:2: "passes" is neither true nor false: expected true or false`,
			`a.json:3: the evidence wanted is "none": expected proven, reviewed, unproven`,
			`a.json:4: "allow_test_changes" is neither true nor false: expected true or false`,
			`a.json:5: task "d" has no title: expected "title" or "description" with a text`,
			`a.json:6: task 5 is not an object: expected [{"description": "…", "passes": false}]`,
		}},
		{"duplicate ids", "plan.md", "- [ ] US-1: a\n- [x] US-1: b\n", []string{`plan.md:2: task id "US-1" is used twice, first on line 1: expected a different id for each task`}},
		{"a long id", "a.json", `[{"id":"` + strings.Repeat("x", 101) + `","title":"a"}]`, []string{`a.json:1: task id "xxxxxxxxxxxxxxxxxxx…" is 101 bytes long: expected an id of at most 100`}},
		{"unknown dependency and a circle", "plan.md", "- [ ] a <!-- pawl: depends_on=2 -->\n- [ ] b <!-- pawl: depends_on=1,9 -->\n", []string{
			`plan.md:1: tasks depend on each other in a circle: 1 → 2 → 1: expected dependencies that end somewhere`,
			`plan.md:2: task "2" depends on "9", which is not in the plan: expected the id of a task of this plan, which begins its text ("W1: …") or is named in a comment there (<!-- pawl: id=W1 -->)`,
		}},
		{"odd settings", "plan.md", "- [ ] a <!-- pawl: evidence=none priority=high colour=red very odd id= depends_on= allow_test_changes=maybe -->\n", []string{
			`plan.md:1: the pawl comment says "evidence=none": expected evidence=proven, reviewed, unproven`,
			`plan.md:1: the pawl comment says "priority=high": expected priority=N`,
			`plan.md:1: the pawl comment says "id=": expected id=ID`,
			`plan.md:1: the pawl comment says "depends_on=": expected depends_on=ID,ID`,
			`plan.md:1: the pawl comment says "allow_test_changes=maybe": expected allow_test_changes=true or false`,
			`plan.md:1: the pawl comment says "colour=red", "very", "odd": expected evidence, scope, allow_test_changes, depends_on, priority, optional or id`,
		}},
		{"scopes that are no globs below the root", "a.json", "[\n{\"title\":\"a\",\"scope\":[\"/etc/*\",\n\"../b\", \"src/[a\", 7, \"src/**\"]}]", []string{
			`a.json:2: "scope" has "/etc/*": expected a glob such as src/** or docs/*.md, below the root`,
			`a.json:3: "scope" has "../b": expected a glob such as src/** or docs/*.md, below the root`,
			`a.json:3: "scope" has "src/[a": expected a glob such as src/** or docs/*.md, below the root`,
			`a.json:3: "scope" has 7: expected a glob such as src/** or docs/*.md, below the root`,
		}},
		{"such in Markdown", "plan.md", "- [ ] a <!-- pawl: scope=src/**,/etc -->\n- [ ] b <!-- pawl: scope= -->\n", []string{
			`plan.md:1: the pawl comment says "scope=src/**,/etc": expected scope=GLOB,GLOB, such as src/** or docs/*.md, below the root`,
			`plan.md:2: the pawl comment says "scope=": expected scope=GLOB,GLOB, such as src/** or docs/*.md, below the root`,
		}},
		{"a comment without end", "plan.md", "- [ ] a <!-- pawl: depends_on=2\n- [ ] b <!-- pawl: evidence=unproven\n  -->\n", []string{
			`plan.md:1: the pawl comment has no end: expected "-->" behind it`,
		}},
		{"a section without boxes", "plan.md", "### Task 1: a\n\ntext\n", []string{`plan.md:1: task 1 has no box to tick: expected "- [ ] item" below its heading`}},
		{"binary", "plan.md", "- [ ] a\n\x00", []string{`plan.md:2: this is a binary file, or not UTF-8: expected a plan in UTF-8 text`}},
		{"not UTF-8", "plan.md", "- [ ] a\n- [ ] \xe9t\xe9\n", []string{`plan.md:2: byte 0xe9 is not UTF-8: expected a plan in UTF-8 text`}},
		{"too large", "plan.md", strings.Repeat("x", planfile.MaxSize+1), []string{`plan.md:1: the file is larger than 20 MB: expected a plan: a list of tasks`}},
		{"nested too deep", "plan.md", "- [ ] a\n" + strings.Repeat("> ", 300) + "b", []string{`plan.md:2: lists are nested too deep: expected at most 512 characters before the text of a line`}},
		{"YAML", "tasks.yaml", "tasks:\n", []string{`tasks.yaml:1: YAML plans are not read: expected Markdown (.md) or JSON (.json)`}},
		{"a hostile name", "a\x1b[2J\n.md", "", []string{`a .md:1: the plan has no tasks: expected a line such as "- [ ] first task"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := planfile.Decode(c.file, []byte(c.data))
			var invalid *planfile.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("error = %v", err)
			}
			if diff := cmp.Diff(c.want, invalid.Lines()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(err.Error(), c.want[0]) {
				t.Errorf("error %q does not begin with the first problem", err)
			}
			if more := strings.HasSuffix(err.Error(), " more)"); more != (len(c.want) > 1) {
				t.Errorf("error %q for %d problems", err, len(c.want))
			}
			if failure.CodeOf(err) != failure.Usage || failure.Hint(err) == "" {
				t.Errorf("code %d, hint %q", failure.CodeOf(err), failure.Hint(err))
			}
		})
	}
}

// An invalid plan keeps its warnings.
func TestInvalidKeepsWarnings(t *testing.T) {
	t.Parallel()
	_, err := planfile.Decode("plan.md", []byte("- [ ] a <!-- pawl: depends_on=9 -->\n\n-[ ] no space\n\n- [?] b\n"))
	invalid, ok := errors.AsType[*planfile.Invalid](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	want := []string{
		`plan.md:3: this line looks like a task but has no space before the box: expected "- [ ] task"`,
		`plan.md:5: task 2 is marked [?], so it counts as open: expected "[ ]" for open, "[x]" for done`,
	}
	if diff := cmp.Diff(want, planfile.Lines("plan.md", invalid.Warnings)); diff != "" {
		t.Error(diff)
	}
}

func TestAllDoneIsValid(t *testing.T) {
	t.Parallel()
	if p := decode(t, "plan.md", "- [x] a\n").Plan(); p.Open() != 0 {
		t.Errorf("plan = %+v", p)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := filepath.Join(dir, "big.md")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, planfile.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, path, want string }{
		{"absent", filepath.Join(dir, "x.md"), "there is no plan"},
		{"folder", dir, "is a folder"},
		{"large", big, "larger than 20 MB"},
		{"below a file", filepath.Join(big, "x.md"), "plan"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := planfile.Load(c.path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q", err, c.want)
			}
		})
	}
}
