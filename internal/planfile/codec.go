package planfile

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

//go:generate env UPDATE=1 go test -run TestReferenceIsFresh .

// Format describes a format of plans.
type Format struct {
	Name    string   // as in plan.Plan.Format
	Places  []string // globs below the project at which pawl run looks for it
	Written bool     // pawl plan convert can write it
}

// codec reads a format. A file is read by the first codec that matches it.
type codec struct {
	Format
	matches   func(name string, d *document) bool
	read      func(d *document) parseResult // for Markdown
	dialect   dialect
	listField string                                 // for JSON: the field with the list of tasks, "" for task-master's tags
	markField string                                 // for JSON: the field with the mark
	want      string                                 // for JSON: an example
	related   func(dir string, t plan.Task) []string // acceptance criteria from files beside the plan
}

// dialect holds how a format differs from a plain task list.
type dialect struct {
	doneMark   string // what is written into a box, "" = x
	inProgress string // marks of started or waiting tasks, besides "/"
	refine     func(d *document, r *parseResult, index map[*item]int)
}

// Formats returns all formats, in the order in which they are tried.
func Formats() []Format {
	var out []Format
	for _, c := range codecs() {
		out = append(out, c.Format)
	}
	return out
}

func codecs() []codec {
	folder := codec{Format: Format{Name: Backlog, Places: []string{backlogTasks}}}
	return slices.Concat(markdownCodecs(), []codec{folder}, jsonCodecs())
}

func markdownCodecs() []codec {
	return []codec{
		{
			Format:  Format{Name: Ralphex, Places: []string{"docs/plans/*.md"}, Written: true},
			matches: isRalphex, read: readRalphex,
		},
		{
			Format:  Format{Name: PRD, Places: []string{".ralph/PRD-*/plan.md"}, Written: true},
			matches: isPRD, read: readPRD,
		},
		{
			Format:  Format{Name: SpecKit, Places: []string{"specs/*/tasks.md"}},
			matches: isSpecKit, read: readChecklist, dialect: dialect{doneMark: "X", refine: refineSpecKit}, related: specKitStory,
		},
		{
			Format:  Format{Name: Kiro, Places: []string{".kiro/specs/*/tasks.md"}},
			matches: isKiro, read: readChecklist, dialect: dialect{inProgress: "-~", refine: refineKiro}, related: kiroCriteria,
		},
		{
			Format:  Format{Name: OpenSpec, Places: []string{"openspec/changes/*/tasks.md"}},
			matches: func(name string, _ *document) bool { return openSpecChange.MatchString(name) }, read: readChecklist, related: openSpecRequirements,
		},
		{
			Format:  Format{Name: Checklist, Places: []string{"plan.md", "docs/plans/*.md"}, Written: true},
			matches: func(string, *document) bool { return true }, read: readChecklist,
		},
	}
}

var openSpecChange = regex.New(`(^|/)openspec/changes/[^/]+/tasks\.md$`)

func jsonCodecs() []codec {
	return []codec{
		{
			Format:    Format{Name: PRDJSON, Places: []string{"prd.json"}, Written: true},
			listField: "userStories", markField: "passes", want: prdJSONWant,
		},
		{
			Format:    Format{Name: FeatureList, Places: []string{"feature_list.json"}, Written: true},
			listField: "features", markField: "passes", want: featureListWant,
		},
		{
			Format:    Format{Name: TaskMaster, Places: []string{".taskmaster/tasks/tasks.json"}},
			markField: "status", want: taskMasterWant,
		},
		{
			Format:    Format{Name: Ralphy, Written: true},
			listField: "tasks", markField: "completed", want: ralphyWant,
		},
	}
}
