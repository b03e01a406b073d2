package tracker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/regex"
)

// PlansDir is the folder of plans of issues, relative to the root of the repository. Nothing in it is
// committed.
const PlansDir = ".pawl/issues"

// Plan is a plan of open issues.
type Plan struct {
	From    Address
	File    *planfile.File
	Path    string // relative to the root, with slashes
	Issues  []LinkedIssue
	LeftOut []string // issues that are not worked on, with reasons
}

// LinkedIssue is an issue with its tasks in the plan.
type LinkedIssue struct {
	ID    string   `json:"id"`
	Key   string   `json:"key"`
	Title string   `json:"title"`
	URL   string   `json:"url,omitempty"`
	Tasks []string `json:"tasks"`
}

// PlanPath returns the path of the plan of these issues, relative to the root, with slashes.
func PlanPath(from Address) string {
	return PlansDir + "/" + plan.Slug(from.Tracker+" "+strings.TrimPrefix(from.Query, "https://")) + ".json"
}

// NewPlan returns a plan of the issues that can be worked on. earlier is a plan of the same issues;
// tasks done there are done in the new plan. Only titles, texts and done marks come from issues.
func NewPlan(from Address, issues []Issue, earlier *planfile.File) (Plan, error) {
	p := Plan{From: from, Path: PlanPath(from)}
	ready := p.ready(issues)
	if len(ready) == 0 {
		return p, p.noWorkError(from)
	}
	tasks := make(map[string][]plan.Task, len(ready))
	for _, i := range ready {
		tasks[i.ID] = i.tasks()
	}
	all := plan.Plan{Title: from.String()}
	for _, i := range ready {
		link := LinkedIssue{ID: i.ID, Key: i.Key, Title: cleanLine(i.Title), URL: i.URL}
		for _, t := range tasks[i.ID] {
			for _, before := range i.DependsOn {
				for _, d := range tasks[before] {
					t.DependsOn = append(t.DependsOn, d.ID)
				}
			}
			t.Done = t.Done || isDone(earlier, t)
			link.Tasks = append(link.Tasks, t.ID)
			all.Tasks = append(all.Tasks, t)
		}
		p.Issues = append(p.Issues, link)
	}
	data, err := planfile.Convert(all, planfile.PRDJSON)
	if err != nil {
		return p, fmt.Errorf("write the plan of %s: %w", from, err)
	}
	p.File, err = planfile.Decode(p.Path, data)
	return p, err
}

// ready returns the issues that can be worked on, and adds the others to LeftOut.
func (p *Plan) ready(issues []Issue) []Issue {
	closed := make(map[string]bool)
	var open []Issue
	for _, i := range issues {
		switch {
		case i.Closed:
			closed[i.ID] = true
			p.leaveOut(i, "is closed")
		case i.ClaimedBy != "":
			p.leaveOut(i, "is assigned to "+cleanLine(i.ClaimedBy))
		default:
			open = append(open, i)
		}
	}
	for { // an issue is also left out if it waits for one that is
		there := make(map[string]bool, len(open))
		for _, i := range open {
			there[i.ID] = true
		}
		kept := open[:0:0]
		for _, i := range open {
			waits := slices.IndexFunc(i.DependsOn, func(id string) bool { return !there[id] && !closed[id] })
			if waits >= 0 {
				p.leaveOut(i, "waits for "+cleanLine(i.DependsOn[waits]))
				continue
			}
			kept = append(kept, i)
		}
		if len(kept) == len(open) {
			return kept
		}
		open = kept
	}
}

func (p *Plan) leaveOut(i Issue, why string) {
	p.LeftOut = append(p.LeftOut, fmt.Sprintf("%s (%s) %s", cleanLine(i.Key), plan.OneLine(i.Title, 60), why))
}

// noWorkError explains why there is nothing to work on.
func (p *Plan) noWorkError(from Address) error {
	if len(p.LeftOut) == 0 {
		return failure.New(failure.Usage, "pawl run takes any plan file or prompt instead", "%s has no issue to work on", from)
	}
	return failure.New(failure.Usage, "name an issue that is open, free and not blocked", "no issue to work on: %s", strings.Join(p.LeftOut[:min(3, len(p.LeftOut))], "; "))
}

// isDone reports whether an earlier plan has the same task as done.
func isDone(earlier *planfile.File, t plan.Task) bool {
	if earlier == nil {
		return false
	}
	was, ok := earlier.Plan().Task(t.ID)
	return ok && was.Done && was.Title == plan.OneLine(t.Title, 200)
}

// tasks returns the tasks of the task list in an issue. Without a list, the issue is the only task.
func (i Issue) tasks() []plan.Task {
	body := hidden.ReplaceAllString(i.Body, "")
	about := "ssue " + i.Key + ": " + cleanLine(i.Title)
	if i.URL != "" {
		about += " (" + i.URL + ")"
	}
	list, err := planfile.Decode("issue.md", []byte(body))
	if err != nil {
		return []plan.Task{{ID: i.Key, Title: cmp.Or(cleanLine(i.Title), i.Key), Detail: paragraphs("I"+about, body), Criteria: i.Criteria, Priority: i.Priority}}
	}
	var out []plan.Task
	for n, t := range list.Plan().Tasks {
		out = append(out, plan.Task{
			ID: fmt.Sprintf("%s.%d", i.Key, n+1), Title: t.Title, Criteria: t.Criteria, Priority: i.Priority, Optional: t.Optional, Done: t.Done,
			Detail: paragraphs("Part of i"+about, t.Detail, strings.Join(t.Context, "\n\n"), list.Plan().Overview),
		})
	}
	out[len(out)-1].Criteria = append(slices.Clip(out[len(out)-1].Criteria), i.Criteria...)
	return out
}

// hidden matches text that readers of an issue do not see.
var hidden = regex.New(`<!--(?s:.*?)(?:-->|$)`)

func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n\n")
}
