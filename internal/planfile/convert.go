package planfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Convert writes a plan as a new file in a format. Every task keeps its id, title, mark,
// dependencies, priority and required evidence; Markdown holds some of them in a comment beside the
// title. It fails for an unknown format, and for an id that Markdown cannot hold.
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

// Convertible returns the names of the formats that Convert writes.
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

// writeMarkdown writes the tasks one after another, each with its criteria and its detail.
func writeMarkdown(p plan.Plan, format string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", cmp.Or(plainLine(p.Title), "Plan"))
	if p.Overview != "" {
		fmt.Fprintf(&b, "\n%s\n", plainText(p.Overview, ""))
	}
	if format == Ralphex && len(p.Gates) > 0 {
		b.WriteString("\n## Validation Commands\n\n")
		for _, g := range p.Gates {
			if g = plan.OneLine(g, 0); strings.Contains(g, "`") { // a backtick would end the code span
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
	title := titleWithSettings(t, format, position)
	switch format {
	case Checklist:
		fmt.Fprintf(b, "- [%s] %s\n", mark, title)
		for _, c := range t.Criteria {
			if plainLine(c) != "" {
				fmt.Fprintf(b, "  - %s\n", plainText(plan.OneLine(c, 0), ""))
			}
		}
		if t.Detail != "" {
			fmt.Fprintf(b, "\n%s\n\n", plainText(t.Detail, "  "))
		}
		return
	case PRD:
		fmt.Fprintf(b, "\n### [%s] %s\n\n", mark, title)
	case Ralphex:
		fmt.Fprintf(b, "\n### Task %d: %s\n\n", position, title)
	}
	if t.Detail != "" {
		fmt.Fprintf(b, "%s\n\n", plainText(t.Detail, ""))
	}
	criteria := t.Criteria
	if format == Ralphex && !slices.ContainsFunc(criteria, func(c string) bool { return plainLine(c) != "" }) {
		criteria = []string{"Done"} // the section needs a box to tick
	}
	for _, c := range criteria {
		if plainLine(c) == "" {
			continue
		}
		fmt.Fprintf(b, "- [%s] %s\n", mark, plainLine(c))
	}
}

// titleWithSettings returns a task's title with its id and settings. The id precedes the title, or
// is in a comment if the format would read another id there. The comment also holds the settings.
func titleWithSettings(t plan.Task, format string, position int) string {
	title := cmp.Or(plainLine(t.Title), fmt.Sprintf("Task %d", position))
	var said []string
	switch {
	case leadingID.MatchString(t.ID+": "+title) && format != Ralphex && !leadingID.MatchString(title):
		title = t.ID + ": " + title
	case t.ID != fmt.Sprint(position) || leadingID.MatchString(title) || storyID.MatchString(title) || itemNumber.MatchString(title):
		said = append(said, "id="+t.ID)
	}
	if len(t.DependsOn) > 0 {
		said = append(said, "depends_on="+strings.Join(t.DependsOn, ","))
	}
	if t.Priority != 0 {
		said = append(said, fmt.Sprintf("priority=%d", t.Priority))
	}
	if slices.Contains(evidenceLevels, t.Evidence) {
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

// plainLine returns text as one line that starts neither a comment nor a box.
func plainLine(text string) string {
	text = strings.ReplaceAll(plan.OneLine(text, 0), "<!--", "<! --")
	text = strings.TrimSpace(strings.TrimLeft(text, "[] "))
	return closingHashes.ReplaceAllString(text, `$1\$2`)
}

// closingHashes matches the closing "#" characters of a heading, which are not part of its text.
var closingHashes = regex.New(`(^|\s)(#+)$`)

// plainText returns lines of text that stay prose in Markdown. It indents each line, and puts a
// backslash before one that Markdown would read as structure.
func plainText(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		l = plainLine(l)
		if markdownStructure.MatchString(l) {
			l = `\` + l
		}
		lines[i] = strings.TrimRight(indent+l, " ")
	}
	return strings.Join(lines, "\n")
}

// markdownStructure matches a line that Markdown may read as structure.
var markdownStructure = regex.New("^(?:[#>*+=<|~`_-]|\\d+[.)])")

// jsonTask is a task with the fields of all JSON formats, in the order in which they are written.
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
	return atomicfile.EncodeIndentedJSON(root)
}
