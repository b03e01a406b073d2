package planfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Convert writes a plan in a format: a new file, in which every task has the id,
// title, mark, dependencies, priority and wanted evidence it had. What a
// Markdown format has no place for stands in a comment beside the title. An
// unknown format is an error, and so is an id that Markdown cannot hold.
func Convert(p plan.Plan, format string) ([]byte, error) {
	var out []byte
	var err error
	switch format {
	case PRDJSON, FeatureList, Ralphy:
		out, err = writeJSON(p, format)
	case Checklist, Ralphex, PRD:
		out, err = writeMarkdown(p, format)
	default:
		err = failure.New(failure.Usage, "the formats are "+strings.Join(Convertible(), ", "), "no format %q", format)
	}
	if err != nil {
		return nil, fmt.Errorf("convert the plan: %w", err)
	}
	return out, nil
}

// Convertible are the formats that Convert writes.
func Convertible() []string {
	var names []string
	for _, f := range Formats() {
		if f.Written {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// writeMarkdown lays the tasks out one after another, each with its criteria
// and its detail below it.
func writeMarkdown(p plan.Plan, format string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", cmp.Or(inert(p.Title), "Plan"))
	if p.Overview != "" {
		fmt.Fprintf(&b, "\n%s\n", quoted(p.Overview, ""))
	}
	if format == Ralphex && len(p.Gates) > 0 {
		b.WriteString("\n## Validation Commands\n\n")
		for _, g := range p.Gates {
			if g = plan.OneLine(g, 0); strings.Contains(g, "`") { // its own substitution would end the code span
				fmt.Fprintf(&b, "\n```sh\n%s\n```\n\n", g)
				continue
			}
			fmt.Fprintf(&b, "- `%s`\n", g)
		}
	}
	if format == Checklist {
		b.WriteByte('\n')
	}
	for i, t := range p.Tasks {
		t.Detail = paragraphs(append([]string{t.Detail}, t.Context...)...)
		for _, id := range append([]string{t.ID}, t.DependsOn...) {
			if !plainID.MatchString(id) {
				return nil, failure.New(failure.Usage, "give the task an id of letters, digits and - . _ :",
					"the task id %q cannot stand in Markdown", id)
			}
		}
		writeTask(&b, t, format, i+1)
	}
	return b.Bytes(), nil
}

// plainID matches ids that can be written in a comment.
var plainID = regex.New(`^[\p{L}\p{N}._:/#@+]+(?:-[\p{L}\p{N}._:/#@+]+)*$`)

func writeTask(b *bytes.Buffer, t plan.Task, format string, position int) {
	mark := " "
	if t.Done {
		mark = "x"
	}
	title := headline(t, format, position)
	switch format {
	case Checklist:
		fmt.Fprintf(b, "- [%s] %s\n", mark, title)
		for _, c := range t.Criteria {
			if inert(c) != "" {
				fmt.Fprintf(b, "  - %s\n", quoted(plan.OneLine(c, 0), ""))
			}
		}
		if t.Detail != "" {
			fmt.Fprintf(b, "\n%s\n\n", quoted(t.Detail, "  "))
		}
		return
	case PRD:
		fmt.Fprintf(b, "\n### [%s] %s\n\n", mark, title)
	case Ralphex:
		fmt.Fprintf(b, "\n### Task %d: %s\n\n", position, title)
	}
	if t.Detail != "" {
		fmt.Fprintf(b, "%s\n\n", quoted(t.Detail, ""))
	}
	criteria := t.Criteria
	if format == Ralphex && !slices.ContainsFunc(criteria, func(c string) bool { return inert(c) != "" }) {
		criteria = []string{"Done"} // the section needs a box to tick
	}
	for _, c := range criteria {
		if inert(c) == "" {
			continue
		}
		fmt.Fprintf(b, "- [%s] %s\n", mark, inert(c))
	}
}

// headline is a task's title with its id before it or, where the format would
// read another id out of that, in a comment with whatever else is to be said.
func headline(t plan.Task, format string, position int) string {
	title := cmp.Or(inert(t.Title), fmt.Sprintf("Task %d", position))
	var said []string
	switch {
	case leadingID.MatchString(t.ID+": "+title) && format != Ralphex && !leadingID.MatchString(title):
		title = t.ID + ": " + title
	case t.ID != fmt.Sprint(position) || leadingID.MatchString(title) || storyID.MatchString(title) || ownNumber.MatchString(title):
		said = append(said, "id="+t.ID)
	}
	if len(t.DependsOn) > 0 {
		said = append(said, "depends_on="+strings.Join(t.DependsOn, ","))
	}
	if t.Priority != 0 {
		said = append(said, fmt.Sprintf("priority=%d", t.Priority))
	}
	if slices.Contains(levels, t.Evidence) {
		said = append(said, "evidence="+t.Evidence)
	}
	if len(t.Scope) > 0 {
		said = append(said, "scope="+strings.Join(t.Scope, ","))
	}
	if t.Optional {
		said = append(said, "optional=true")
	}
	if t.AllowTestChanges {
		said = append(said, "allow_test_changes=true")
	}
	if len(said) > 0 {
		title += " <!-- pawl: " + strings.Join(said, " ") + " -->"
	}
	return title
}

// inert is text as one line that begins no comment and no box.
func inert(text string) string {
	text = strings.ReplaceAll(plan.OneLine(text, 0), "<!--", "<! --")
	text = strings.TrimSpace(strings.TrimLeft(text, "[] "))
	return closing.ReplaceAllString(text, `$1\$2`)
}

// closing matches what a heading may end with, and does not count as its text.
var closing = regex.New(`(^|\s)(#+)$`)

// quoted is text of several lines that stays prose wherever it is put: each
// line behind an indent, and one that Markdown would take for structure behind
// a quote mark's worth of escape.
func quoted(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		l = inert(l)
		if structure.MatchString(l) {
			l = `\` + l
		}
		lines[i] = strings.TrimRight(indent+l, " ")
	}
	return strings.Join(lines, "\n")
}

// structure matches a line that Markdown might take for more than prose.
var structure = regex.New("^(?:[#>*+=<|~`_-]|\\d+[.)])")

// jsonTask is a task in the order of fields of the formats that hold it.
type jsonTask struct {
	ID          string   `json:"id"`
	Category    string   `json:"category,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Criteria    []string `json:"acceptanceCriteria,omitempty"`
	Steps       []string `json:"steps,omitempty"`
	Priority    int      `json:"priority,omitempty"`
	Passes      *bool    `json:"passes,omitempty"`
	Completed   *bool    `json:"completed,omitempty"`
	Notes       string   `json:"notes,omitempty"`
	DependsOn   []string `json:"dependsOn,omitempty"`
	Evidence    string   `json:"evidence,omitempty"`
	Scope       []string `json:"scope,omitempty"`
	AllowTests  bool     `json:"allow_test_changes,omitempty"`
	Optional    bool     `json:"optional,omitempty"`
}

func writeJSON(p plan.Plan, format string) ([]byte, error) {
	tasks := []jsonTask{}
	for _, t := range p.Tasks {
		t.Detail = paragraphs(append([]string{t.Detail}, t.Context...)...)
		j := jsonTask{
			Optional: t.Optional, ID: t.ID, Title: t.Title, Description: t.Detail, Criteria: t.Criteria, Priority: t.Priority,
			Passes: &t.Done, DependsOn: t.DependsOn, Evidence: t.Evidence, Scope: t.Scope, AllowTests: t.AllowTestChanges,
		}
		switch format {
		case FeatureList:
			j.Category, j.Title, j.Description, j.Notes = "functional", "", t.Title, t.Detail
			j.Criteria, j.Steps = nil, t.Criteria
		case Ralphy:
			j.Passes, j.Completed = nil, &t.Done
		}
		tasks = append(tasks, j)
	}
	var root any = tasks
	switch format {
	case PRDJSON:
		root = struct {
			Project     string     `json:"project"`
			Description string     `json:"description"`
			Stories     []jsonTask `json:"userStories"`
		}{p.Title, p.Overview, tasks}
	case Ralphy:
		root = struct {
			Tasks []jsonTask `json:"tasks"`
		}{tasks}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
