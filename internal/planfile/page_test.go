package planfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/planfile"
)

// The page of the formats is made of what the codecs say.
func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "reference", "plan-formats.md")
	want := formatsPage()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale (UPDATE=1 go test writes it):\n%s", path, diff)
	}
}

func formatsPage() string {
	var b strings.Builder
	b.WriteString(`<!-- Made of internal/planfile/codec.go; go generate ./internal/planfile writes it. -->
# Plan formats

For users who have a plan already. ` + "`pawl run`" + ` without arguments looks in these places and takes the plan that has open tasks; it asks
if there are several. ` + "`pawl run FILE`" + ` takes any file. The format is told by the content and the place.

`)
	for _, place := range planfile.Places() {
		fmt.Fprintf(&b, "- `%s`\n", place)
	}
	b.WriteString("\n## Formats\n\n| format | of | a task | its id | written when it is done | `pawl plan convert` writes it |\n|---|---|---|---|---|---|\n")
	for _, f := range planfile.Formats() {
		written := "no"
		if f.Written {
			written = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, f.Tool, f.Task, f.IDs, f.Done, written)
	}
	b.WriteString("\n## What else is read, and what is not\n\n| format | also in the prompt | note |\n|---|---|---|\n")
	for _, f := range planfile.Formats() {
		if f.Prompt+f.Limits != "" {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Prompt, f.Limits)
		}
	}
	b.WriteString(`
## The same for all

- Pawl writes the mark and nothing else: comments, line ends, the order of keys stay.
- Every box is a task. Lines that look like a task and are none (in code, outside of a list) are named by ` + "`pawl plan check`" + ` and ` + "`pawl run --dry-run`" + `.
- In Markdown the text of the sections and items above a task is told with that task; the text of sections without tasks is told with all.
- Optional tasks come last; ` + "`--no-optional`" + ` leaves them out, and the report names them. ` + "`--task ID`" + ` works on some tasks only.
- In Markdown a comment beside a task sets more: ` + "`<!-- pawl: id=X depends_on=A,B priority=1 optional=true evidence=unproven scope=docs/** allow_test_changes=true -->`" + `.
- Files beside the plan (` + "`requirements.md`, `spec.md`" + `) are read for the prompt only.
`)
	return b.String()
}
