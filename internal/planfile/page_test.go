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

// formatDoc describes a format for the people who write plans in it.
type formatDoc struct {
	tool   string // the tool that owns the format
	task   string // what a task is
	ids    string // where its id comes from
	done   string // what Pawl writes for a done task
	prompt string // what the prompt contains besides the task's text, "" = the sections around it
	limits string // what is not read or written
}

var formatDocs = map[string]formatDoc{
	planfile.Ralphex: {
		tool: "ralphex", task: "a section `### Task N: title`", ids: "N", done: "`[x]` in each box of the section",
		limits: "boxes outside such sections are not tasks, and `pawl plan check` names them; the list under `## Validation Commands` becomes the gates",
	},
	planfile.PRD: {
		tool: "ralph-cli", task: "a story: a heading `### [ ] US-001: title`, or an item that names one", ids: "`US-001`", done: "`[x]` in the heading or item",
		limits: "boxes within a story are its criteria and stay as they are",
	},
	planfile.SpecKit: {
		tool: "spec-kit", task: "an item `- [ ] T001 [P] [US1] text`", ids: "`T001`", done: "`[X]`",
		prompt: "the user story in `spec.md` beside it",
		limits: "a phase begins when all tasks of the phase before are done, except optional ones; `(depends on T012)` counts too; `checklists/` are neither read as tasks nor ticked",
	},
	planfile.Kiro: {
		tool: "Kiro", task: "a numbered item without numbered items below it; `- [ ]*` is optional", ids: "`2.1`", done: "`[x]`, and in the box of 2 once 2.1 and 2.2 are done, except optional ones",
		prompt: "the acceptance criteria in `requirements.md` that `_Requirements: 1.1, 2.3_` names",
		limits: "`[-]` and `[~]` are open; `_Depends: 1.1_` counts, `_Boundary: …_` is told to the agent only",
	},
	planfile.OpenSpec: {
		tool: "OpenSpec", task: "an item with a box", ids: "`1.2`", done: "`[x]`",
		prompt: "requirements and scenarios of the change (`specs/*/spec.md`)",
		limits: "`openspec archive` is yours to run; boxes in code are not tasks, and `pawl plan check` names them",
	},
	planfile.Checklist: {
		tool: "any Markdown", task: "an item with a box that has no boxes below it; `- [ ]*` is optional", ids: "`US-001:`, `T01`, `W1:`, `2.3` or `#12` at the beginning of the title, if no two are the same (`US-001` without a colon if all titles begin so); else the position", done: "`[x]`, and in the box above once all below it are done",
		limits: "an unknown mark, such as `[?]`, is open; `pawl plan check` names it",
	},
	planfile.Backlog: {
		tool: "Backlog.md", task: "a file with front matter", ids: "`id`", done: "the last one of `statuses` in `config.yml`, and `[x]` in each acceptance criterion",
		prompt: "description, plan and notes; acceptance criteria and definition of done as criteria",
		limits: "the plan is the folder; a task with `parent_task_id` comes before its parent; the definition of done is yours to tick; `updated_date` is not written; drafts and completed tasks are not read",
	},
	planfile.PRDJSON: {
		tool: "ralph (snarktank), ralph-tui", task: "an object in `userStories`", ids: "`id`", done: "`\"passes\": true`",
	},
	planfile.FeatureList: {
		tool: "feature-list loops", task: "an object in the list, or in `features`", ids: "`id`, else the position", done: "`\"passes\": true`",
		prompt: "with `pawl run DIR`, `RALPH_PROMPT.md` beside it",
		limits: "`pawl run DIR` also follows the limit in `progress.txt` and keeps its status",
	},
	planfile.TaskMaster: {
		tool: "task-master", task: "a subtask, or a task without any", ids: "`5.2`, `5`", done: "`\"status\": \"done\"`, of a task once all its subtasks are done",
		prompt: "`testStrategy` as a criterion; for a subtask, the text of its task",
		limits: "deferred and cancelled tasks are left out, and `pawl plan check` names them; `updatedAt` is not written; Pawl refuses a file with tasks under several tags",
	},
	planfile.Ralphy: {
		tool: "ralphy", task: "an object in `tasks` without a `status`", ids: "`id`, else the position", done: "`\"completed\": true`",
	},
}

// The page of the formats is generated from formatDocs and from the globs of the codecs.
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
	b.WriteString(`<!-- Made of internal/planfile/page_test.go; go generate ./internal/planfile writes it. -->
# Plan formats

For users who have a plan already.

` + "```text\npawl run                  the plan in one of the places below; with several open plans it asks\npawl run FILE             any plan file; Pawl finds the format by content and place\npawl plan show FILE       the tasks that Pawl reads\npawl plan check FILE      what is wrong with it\n```" + `

## Where pawl run looks

`)
	for _, place := range planfile.Places() {
		fmt.Fprintf(&b, "- `%s`\n", place)
	}
	b.WriteString("\n## Formats\n\n| format | tool | a task is | its id | written when it is done | `pawl plan convert` writes it |\n|---|---|---|---|---|---|\n")
	for _, f := range planfile.Formats() {
		written := "no"
		if f.Written {
			written = "yes"
		}
		doc := formatDocs[f.Name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, doc.tool, doc.task, doc.ids, doc.done, written)
	}
	b.WriteString("\n## What else Pawl reads, and what it does not\n\n| format | also in the prompt | note |\n|---|---|---|\n")
	for _, f := range planfile.Formats() {
		if doc := formatDocs[f.Name]; doc.prompt+doc.limits != "" {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, doc.prompt, doc.limits)
		}
	}
	b.WriteString(`
## In all formats

- Pawl writes the mark and nothing else: comments, line ends and the order of keys stay.
- ` + "`pawl plan check`" + ` and ` + "`pawl run --dry-run`" + ` name lines that look like tasks and are not (in code, outside a list).
- In Markdown the agent is told the text of the sections and items above its task, and the text of all sections without tasks.
- Optional tasks come last; ` + "`--no-optional`" + ` leaves them out, and the report names them. ` + "`--task ID`" + ` works on some tasks only.
- In Markdown a comment beside a task sets more; in JSON, fields do: ` + "`<!-- pawl: id=X depends_on=A,B priority=1 optional=true evidence=unproven scope=docs/** allow_test_changes=true -->`" + `.
- Such a comment may also be below the title, in the section or item of the task. ` + "`pawl plan check`" + ` names one without a task, and a second one for the same task.
- Files beside the plan (` + "`requirements.md`, `spec.md`" + `) are read for the prompt only.
`)
	return b.String()
}
