package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// Style returns the style sheet of the page.
func Style() string { return pageCSS }

// Templates returns the templates of the page, for other pages that show the same: summary, tasks, review,
// plots and iterations. TemplateData returns their data.
func Templates() *template.Template {
	return template.Must(template.New("page").Parse(pageHTML)) // a template that was executed cannot be extended
}

// htmlPage is the data of the template. html/template escapes it, so the agent's text is never markup.
type htmlPage struct {
	ID, Headline, Why, Goal, Spent, Waited, Made string
	Facts                                        [][2]string
	Asks                                         []string
	Tasks                                        []htmlTask
	Plots                                        []plot
	Iterations                                   []htmlIteration // the last iterations
	Earlier                                      int             // number of iterations before these
	Gates                                        [][2]string
	LookAt, Tested                               []string
	Diffs                                        []htmlDiff
	Next                                         string
	Style                                        template.CSS
}

type htmlTask struct {
	ID, Group, Name, Why, Took, Cost, Attempts, Show string
	NeedsYou, Done                                   bool
}

type htmlIteration struct{ Number, Task, At, Took, Cost, Tokens, Context, Failing, Came string }

type htmlDiff struct {
	Task  string
	Lines []DiffLine
}

// HTML returns the page as one file, without scripts and external resources.
func HTML(l Loop) ([]byte, error) {
	var page bytes.Buffer
	if err := Templates().Execute(&page, TemplateData(l)); err != nil {
		return nil, fmt.Errorf("make the page of the report: %w", err)
	}
	return page.Bytes(), nil
}

// TemplateData returns the data of the templates for a loop.
func TemplateData(l Loop) any {
	if l.Zone == nil {
		l.Zone = time.Local
	}
	p := &page{Loop: l}
	h := htmlPage{
		ID: l.ID, Headline: plan.OneLine(p.endHeadline(), 0), Why: plan.OneLine(l.State.Reason, 0), Goal: plan.OneLine(l.Goal, 300), Spent: narrate.Spending(l.State), Waited: p.waitedText(),
		Made: l.Now.In(l.Zone).Format("2006-01-02 15:04"), LookAt: p.lookAt(), Tested: l.MutationResults, Next: p.nextCommands(),
		Style: template.CSS(pageCSS), // a file of this program
	}
	for _, q := range l.State.Unanswered() {
		if l.State.Outcome == "" {
			h.Asks = append(h.Asks, q.Headline()+"  "+q.Command(l.ID))
		}
	}
	h.htmlFacts(p)
	h.htmlTasks(p)
	h.htmlIterations(l)
	h.Plots = plots(l)
	for _, g := range l.Gates {
		h.Gates = append(h.Gates, [2]string{plan.OneLine(g.Gate, 100), strings.TrimSuffix(string(g.Status)+": "+plan.OneLine(g.Reason, 200), ": ")})
	}
	for _, t := range l.State.Tasks {
		if diff := l.Diffs[t.ID]; diff != "" {
			h.Diffs = append(h.Diffs, htmlDiff{Task: narrate.Name(t), Lines: DiffLines(diff, maxDiffLines)})
		}
	}
	return h
}

// htmlFacts adds the lines under the headline.
func (h *htmlPage) htmlFacts(p *page) {
	s := p.State
	add := func(name, value string) {
		if value != "" && value != "0" {
			h.Facts = append(h.Facts, [2]string{name, value})
		}
	}
	add("branch", strings.TrimSuffix(p.Branch+", "+p.BranchFate, ", "))
	add("iterations", fmt.Sprint(s.Iteration))
	add("claims refused", fmt.Sprint(s.Refusals))
	add("restores", fmt.Sprint(s.Restores))
	add("violations", fmt.Sprint(s.Violations))
	add("tool calls denied", fmt.Sprint(p.denied()))
	add("hosts blocked", strings.Join(p.BlockedHosts, ", "))
	add("sandbox", strings.Join(p.Sandbox, "; "))
	add("left", narrate.TimeLeft(s))
}

func (h *htmlPage) htmlTasks(p *page) {
	for _, g := range p.groups() {
		for _, t := range g.tasks {
			row := htmlTask{
				ID: t.ID, Group: g.name, Name: narrate.Name(t), Done: t.Status == loop.Done, Why: p.proofText(t, g.meaning), NeedsYou: t.NeedsUser() || t.Unproven(),
				Show: strings.TrimPrefix(strings.TrimSpace(p.showCommand(t)), "→ "),
			}
			if t.Turns > 0 {
				row.Took, row.Cost, row.Attempts = figure.Duration(t.Took), figure.Cost(t.CostUSD, p.State.CostUnknown()), fmt.Sprint(t.Turns)
			}
			h.Tasks = append(h.Tasks, row)
		}
	}
}

// maxIterationRows is the maximum number of rows in the table of iterations.
const maxIterationRows = 200

func (h *htmlPage) htmlIterations(l Loop) {
	h.Earlier = max(0, len(l.Iterations)-maxIterationRows)
	for _, i := range l.Iterations[h.Earlier:] {
		t, _ := l.State.Task(i.Task)
		row := htmlIteration{
			Number: fmt.Sprint(i.Number), Task: cmp.Or(narrate.Name(t), plan.OneLine(i.Task, 40)), At: i.At.In(l.Zone).Format("15:04:05"), Cost: figure.Cost(i.CostUSD, l.State.CostUnknown()),
			Took: figure.Duration(time.Duration(i.Seconds * float64(time.Second))), Tokens: figure.Tokens(i.Tokens), Came: i.Decision,
		}
		if i.Context >= 0 {
			row.Context = fmt.Sprintf("%d %%", i.Context)
		}
		if i.Failing >= 0 {
			row.Failing = fmt.Sprint(i.Failing)
		}
		h.Iterations = append(h.Iterations, row)
	}
}

const maxDiffLines = 400 // maximum number of lines of one diff
