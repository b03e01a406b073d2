package planfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/prompt"
)

// TestFeatureListIsRead checks the rows of docs/reference/feature-loop.md on feature_list.json, by name:
// the next task, its prompt, and the file after a tick.
func TestFeatureListIsRead(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, task, ticked string }{
		{
			"wrapped, ids are numbers",
			`{"features":[{"id":1,"description":"One","passes":true}, {"id":2,"description":"Two","steps":["do", "see"],"passes":false}],"total_features":2}`,
			"id: 2\ntitle: Two\n\nit is done when:\n- do\n- see\n",
			`{"features":[{"id":1,"description":"One","passes":true}, {"id":2,"description":"Two","steps":["do", "see"],"passes":true}],"total_features":2}`,
		},
		{"a bare list", `[{"id":7,"description":"One","passes":false}]`, "id: 7\ntitle: One\n", `[{"id":7,"description":"One","passes":true}]`},
		{"total_features is wrong", `{"total_features":9,"features":[{"id":1,"description":"One"}]}`, "id: 1\ntitle: One\n", `{"total_features":9,"features":[{"id":1,"description":"One","passes":true}]}`},
		{"an id of letters", `[{"id":"auth-1","description":"One","passes":false}]`, "id: auth-1\ntitle: One\n", `[{"id":"auth-1","description":"One","passes":true}]`},
		{"no id", `[{"description":"One","passes":true},{"description":"Two","passes":false}]`, "id: 2\ntitle: Two\n", `[{"description":"One","passes":true},{"description":"Two","passes":true}]`},
		{"a title of its own", `[{"id":1,"title":"T","description":"One","passes":false}]`, "id: 1\ntitle: T\n\nOne\n", `[{"id":1,"title":"T","description":"One","passes":true}]`},
		{"a long description", `[{"id":1,"description":"One\nand \"more\"","passes":false}]`, "id: 1\ntitle: One and \"more\"\n\nOne\nand \"more\"\n", `[{"id":1,"description":"One\nand \"more\"","passes":true}]`},
		{"steps in one text", `[{"id":1,"description":"One","steps":"abc","passes":false}]`, "id: 1\ntitle: One\n\nit is done when:\n- abc\n", `[{"id":1,"description":"One","steps":"abc","passes":true}]`},
		{"steps that are objects", `[{"id":1,"description":"One","steps":[{"a":1}],"passes":false}]`, "id: 1\ntitle: One\n\nit is done when:\n- {\"a\":1}\n", `[{"id":1,"description":"One","steps":[{"a":1}],"passes":true}]`},
		{"no steps", `[{"id":1,"description":"One","steps":[],"passes":false}]`, "id: 1\ntitle: One\n", `[{"id":1,"description":"One","steps":[],"passes":true}]`},
		{"passes is null", `[{"id":1,"description":"One","passes":null}]`, "id: 1\ntitle: One\n", `[{"id":1,"description":"One","passes":true}]`},
		{"a list with a byte order mark", "\ufeff" + `[{"id":1,"description":"Zwölf","passes":false}]`, "id: 1\ntitle: Zwölf\n", "\ufeff" + `[{"id":1,"description":"Zwölf","passes":true}]`},
	}
	prompts, err := prompt.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := decode(t, "feature_list.json", tt.file)
			task, ok := f.Plan().Next(nil)
			if !ok || f.Plan().Format != planfile.FeatureList {
				t.Fatalf("nothing to do in a plan of format %s", f.Plan().Format)
			}
			for _, kind := range []prompt.Kind{prompt.First, prompt.Next, prompt.Fresh, prompt.Continue} {
				told, err := prompts.Render(kind, prompt.Data{Task: task, Retell: true})
				if err != nil || !strings.Contains(told, tt.task) {
					t.Errorf("the agent is told (%v):\n%s\nwant in it:\n%s", err, told, tt.task)
				}
			}
			ticked, err := f.Tick(task.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.ticked, string(ticked.Bytes())); diff != "" {
				t.Errorf("ticked (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFeatureListErrors checks the rows on invalid lists, by name.
func TestFeatureListErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, want string }{
		{"the list is broken", `{"features":[`, "feature_list.json:1: this is not JSON: it ends too early"},
		{"the list is an empty file", "", "feature_list.json:1: the file is empty"},
		{"no features in the list", `{"features":[],"total_features":0}`, "feature_list.json:1: the plan has no tasks"},
		{"no features key", "{\n\"total_features\":2}", "feature_list.json:1: this JSON is not a known plan format"},
		{"features is no list", `{"features":{"a":1}}`, "feature_list.json:1: this JSON is not a known plan format"},
		{"a feature is no object", "[\n\"One\"]", "feature_list.json:2: task 1 is not an object"},
		{"no description", "[\n{\"id\":4}]", "feature_list.json:2: task \"4\" has no title"},
		{"an id twice", "[{\"id\":1,\"description\":\"One\"},\n{\"id\":1,\"description\":\"Two\"}]", `feature_list.json:2: task id "1" is used twice, first on line 1`},
		{"passes is text", "[{\"id\":1,\"description\":\"One\",\n\"passes\":\"true\"}]", `feature_list.json:2: "passes" is neither true nor false`},
		{"passes is a number", "[{\"id\":1,\"description\":\"One\",\n\"passes\":1}]", `feature_list.json:2: "passes" is neither true nor false`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := planfile.Decode("feature_list.json", []byte(tt.file))
			if _, ok := errors.AsType[*planfile.Invalid](err); !ok || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
