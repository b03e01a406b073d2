package planfile

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

//go:generate env UPDATE=1 go test -run TestReferenceIsFresh .

// Format describes a format of plans, for people: the page docs/reference/plan-formats.md
// is made of it.
type Format struct {
	Name    string   // as in plan.Plan.Format
	Tool    string   // whose format it is
	Places  []string // where pawl run looks for it, globs below the project
	Task    string   // what a task is there
	IDs     string   // where its id comes from
	Done    string   // what Pawl writes when a task is done
	Prompt  string   // what reaches the prompt beside the task's own text, "" for the sections around it
	Limits  string   // what is not read or written
	Written bool     // pawl plan convert can write it
}

// codec reads a format. Only the first that a file has the signs of is asked.
type codec struct {
	Format
	is      func(name string, d *document) bool
	read    func(d *document) reading // of Markdown
	dialect dialect
	list    string                                 // of JSON: the member that holds the tasks, "" for a bare list
	key     string                                 // of JSON: the member that is the mark
	want    string                                 // of JSON: what it looks like
	related func(dir string, t plan.Task) []string // acceptance criteria in files beside the plan
}

// dialect is what a format makes of the marks and texts of a task list.
type dialect struct {
	done   string // written into the box, x if empty
	begun  string // marks of work that is begun or waits, beside "/"
	refine func(d *document, r *reading, index map[*item]int)
}

// Formats describes all formats, in the order in which a file is tried.
func Formats() []Format {
	var out []Format
	for _, c := range codecs() {
		out = append(out, c.Format)
	}
	return out
}

func codecs() []codec {
	return slices.Concat(markdownCodecs(), folderCodecs(), jsonCodecs())
}

func markdownCodecs() []codec {
	return []codec{
		{
			Format: Format{
				Name: Ralphex, Tool: "ralphex", Places: []string{"docs/plans/*.md"}, Written: true,
				Task: "a section `### Task N: title`", IDs: "N", Done: "`[x]` in each box of the section",
				Limits: "boxes outside of such sections are no tasks: `pawl plan check` names them; the list under `## Validation Commands` is the gates",
			},
			is: isRalphex, read: readRalphex,
		},
		{
			Format: Format{
				Name: PRD, Tool: "ralph-cli", Places: []string{".ralph/PRD-*/plan.md"}, Written: true,
				Task: "a story: a heading `### [ ] US-001: title`, or an item that names one", IDs: "`US-001`", Done: "`[x]` in the heading or item",
				Limits: "boxes within a story are its criteria and stay as they are",
			},
			is: isPRD, read: readPRD,
		},
		{
			Format: Format{
				Name: SpecKit, Tool: "spec-kit", Places: []string{"specs/*/tasks.md"},
				Task: "an item `- [ ] T001 [P] [US1] text`", IDs: "`T001`", Done: "`[X]`",
				Prompt: "the user story in `spec.md` beside it",
				Limits: "a phase begins when all tasks of the one before are done, optional ones aside; `(depends on T012)` counts too; `checklists/` are yours: never read as tasks, never ticked",
			},
			is: isSpecKit, read: readChecklist, dialect: dialect{done: "X", refine: refineSpecKit}, related: storyOfSpec,
		},
		{
			Format: Format{
				Name: Kiro, Tool: "Kiro", Places: []string{".kiro/specs/*/tasks.md"},
				Task: "a numbered item without numbered items below it; `- [ ]*` is optional", IDs: "`2.1`", Done: "`[x]`, and in the box of 2 once all of 2.1, 2.2 are done that are not optional",
				Prompt: "the acceptance criteria in `requirements.md` that `_Requirements: 1.1, 2.3_` names",
				Limits: "`[-]` and `[~]` are open; `_Depends: 1.1_` counts, `_Boundary: …_` is told to the agent only",
			},
			is: isKiro, read: readChecklist, dialect: dialect{begun: "-~", refine: refineKiro}, related: requirements,
		},
		{
			Format: Format{
				Name: OpenSpec, Tool: "OpenSpec", Places: []string{"openspec/changes/*/tasks.md"},
				Task: "an item with a box", IDs: "`1.2`", Done: "`[x]`",
				Prompt: "requirements and scenarios of the change (`specs/*/spec.md`)",
				Limits: "`openspec archive` is yours to run; boxes in code are named by `pawl plan check`, and are no tasks",
			},
			is: func(name string, _ *document) bool { return openSpecChange.MatchString(name) }, read: readChecklist, related: scenarios,
		},
		{
			Format: Format{
				Name: Checklist, Tool: "any Markdown", Places: []string{"plan.md", "docs/plans/*.md"}, Written: true,
				Task: "an item with a box that has no boxes below it; `- [ ]*` is optional", IDs: "`US-001`, `T01`, `W1:`, `2.3`, `#12` where the title begins with one and no two are the same; else the position", Done: "`[x]`, and in the box above once all below it are done",
				Limits: "an unknown mark, such as `[?]`, is open; `pawl plan check` names it",
			},
			is: func(string, *document) bool { return true }, read: readChecklist,
		},
	}
}

var openSpecChange = regex.New(`(^|/)openspec/changes/[^/]+/tasks\.md$`)

// folderCodecs are the formats whose plan is a folder.
func folderCodecs() []codec {
	return []codec{{
		Format: Format{
			Name: Backlog, Tool: "Backlog.md", Places: []string{backlogTasks},
			Task: "a file with front matter", IDs: "`id`", Done: "the last one of `statuses` in `config.yml`, and `[x]` in each acceptance criterion",
			Prompt: "description, plan and notes; acceptance criteria and definition of done as what it is done when",
			Limits: "the plan is the folder; a task with `parent_task_id` comes before its parent; the definition of done is yours to tick; `updated_date` is not written; drafts and completed tasks are not read",
		},
	}}
}

func jsonCodecs() []codec {
	return []codec{
		{
			Format: Format{
				Name: PRDJSON, Tool: "ralph (snarktank), ralph-tui", Places: []string{"prd.json"}, Written: true,
				Task: "an object in `userStories`", IDs: "`id`", Done: "`\"passes\": true`",
			},
			list: "userStories", key: "passes", want: prdJSONWant,
		},
		{
			Format: Format{
				Name: FeatureList, Tool: "feature-list loops", Places: []string{"feature_list.json"}, Written: true,
				Task: "an object in the list, or in `features`", IDs: "`id`, else the position", Done: "`\"passes\": true`",
				Prompt: "with `pawl run DIR`, `RALPH_PROMPT.md` beside it", Limits: "`pawl run DIR` follows the limit in `progress.txt`, too, and keeps its status",
			},
			list: "features", key: "passes", want: featureListWant,
		},
		{
			Format: Format{
				Name: TaskMaster, Tool: "task-master", Places: []string{".taskmaster/tasks/tasks.json"},
				Task: "a subtask, or a task without any", IDs: "`5.2`, `5`", Done: "`\"status\": \"done\"`, of a task once all its subtasks are done",
				Prompt: "`testStrategy` as what it is done when; of a subtask, what its task says",
				Limits: "deferred and cancelled tasks are left out, and named by `pawl plan check`; `updatedAt` is not written; a file with tasks under several tags is refused",
			},
			key: "status", want: taskMasterWant,
		},
		{
			Format: Format{
				Name: Ralphy, Tool: "ralphy", Written: true,
				Task: "an object in `tasks` without a `status`", IDs: "`id`, else the position", Done: "`\"completed\": true`",
			},
			list: "tasks", key: "completed", want: ralphyWant,
		},
	}
}
