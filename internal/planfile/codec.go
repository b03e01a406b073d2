package planfile

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

//go:generate env UPDATE=1 go test -run TestReferenceIsFresh .

// Format names a format of plans.
type Format struct {
	Name    string   // as in plan.Plan.Format
	Places  []string // where pawl run looks for it, globs below the project
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
	folder := codec{Format: Format{Name: Backlog, Places: []string{backlogTasks}}}
	return slices.Concat(markdownCodecs(), []codec{folder}, jsonCodecs())
}

func markdownCodecs() []codec {
	return []codec{
		{
			Format: Format{Name: Ralphex, Places: []string{"docs/plans/*.md"}, Written: true},
			is:     isRalphex, read: readRalphex,
		},
		{
			Format: Format{Name: PRD, Places: []string{".ralph/PRD-*/plan.md"}, Written: true},
			is:     isPRD, read: readPRD,
		},
		{
			Format: Format{Name: SpecKit, Places: []string{"specs/*/tasks.md"}},
			is:     isSpecKit, read: readChecklist, dialect: dialect{done: "X", refine: refineSpecKit}, related: storyOfSpec,
		},
		{
			Format: Format{Name: Kiro, Places: []string{".kiro/specs/*/tasks.md"}},
			is:     isKiro, read: readChecklist, dialect: dialect{begun: "-~", refine: refineKiro}, related: requirements,
		},
		{
			Format: Format{Name: OpenSpec, Places: []string{"openspec/changes/*/tasks.md"}},
			is:     func(name string, _ *document) bool { return openSpecChange.MatchString(name) }, read: readChecklist, related: scenarios,
		},
		{
			Format: Format{Name: Checklist, Places: []string{"plan.md", "docs/plans/*.md"}, Written: true},
			is:     func(string, *document) bool { return true }, read: readChecklist,
		},
	}
}

var openSpecChange = regex.New(`(^|/)openspec/changes/[^/]+/tasks\.md$`)

func jsonCodecs() []codec {
	return []codec{
		{
			Format: Format{Name: PRDJSON, Places: []string{"prd.json"}, Written: true},
			list:   "userStories", key: "passes", want: prdJSONWant,
		},
		{
			Format: Format{Name: FeatureList, Places: []string{"feature_list.json"}, Written: true},
			list:   "features", key: "passes", want: featureListWant,
		},
		{
			Format: Format{Name: TaskMaster, Places: []string{".taskmaster/tasks/tasks.json"}},
			key:    "status", want: taskMasterWant,
		},
		{
			Format: Format{Name: Ralphy, Written: true},
			list:   "tasks", key: "completed", want: ralphyWant,
		},
	}
}
