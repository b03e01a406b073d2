package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/term"
)

type planCmd struct {
	New     planNewCmd     `cmd:"" user:"accept a plan and its gates" help:"write a plan with an agent that reads the repository"`
	Improve planImproveCmd `cmd:"" user:"accept a plan and its gates" help:"improve an existing plan with an agent"`
	Show    planShowCmd    `cmd:"" help:"list the tasks of a plan"`
	Next    planNextCmd    `cmd:"" help:"show the next task"`
	Check   planCheckCmd   `cmd:"" help:"list everything that is wrong with a plan"`
	Convert planConvertCmd `cmd:"" help:"print a plan in another format"`
	Add     planAddCmd     `cmd:"" user:"edit the plan of a loop" help:"add a task, also while a loop works on the plan"`
	Edit    planEditCmd    `cmd:"" user:"edit the plan of a loop" help:"change the title of a task"`
	Skip    planTaskCmd    `cmd:"" user:"edit the plan of a loop" help:"skip a task"`
	Retry   planTaskCmd    `cmd:"" user:"edit the plan of a loop" help:"try a skipped task again"`
	Move    planMoveCmd    `cmd:"" user:"edit the plan of a loop" help:"work on a task next, or before or after another one"`
	Reopen  planTaskCmd    `cmd:"" user:"edit the plan of a loop" help:"work on a done task again"`
	Accept  planAcceptCmd  `cmd:"" user:"accept an edit of the plan" help:"apply an edit of the plan that a loop did not apply"`
}

// planArg is an operand that names a plan.
type planArg struct {
	File string `arg:"" help:"the plan"`
}

// load reads the plan.
func (p planArg) load(a *app) (plan.Plan, error) {
	f, err := p.open(a)
	if err != nil {
		return plan.Plan{}, err
	}
	return f.Plan(), nil
}

// open reads the file. Messages name it as the user typed it.
func (p planArg) open(a *app) (*planfile.File, error) {
	path := p.File
	if !filepath.IsAbs(path) {
		if rel, err := filepath.Rel(a.dir, filepath.Join(a.dir, path)); err == nil {
			path = rel
		}
	}
	f, err := planfile.Load(path)
	if err != nil {
		if _, ok := errors.AsType[*planfile.Invalid](err); ok {
			return nil, failure.New(failure.Usage, "pawl plan check "+p.File+" tells all", "%w", err)
		}
		return nil, err
	}
	return f, nil
}

type planShowCmd struct {
	planArg
	Task string `placeholder:"ID" help:"show only this task, with details"`
	JSON bool   `name:"json" help:"print a JSON object (docs/reference/plan.schema.json)"`
}

// Run lists the tasks, or shows one.
func (c *planShowCmd) Run(a *app) error {
	p, err := c.load(a)
	if err != nil {
		return err
	}
	if c.Task != "" {
		return c.showTask(a, p)
	}
	if c.JSON {
		return a.printJSON(planfile.Show(p))
	}
	a.printf("%s  %s, %d done (%s)\n", c.File, figure.Count(p.Open(), "open task"), len(p.Tasks)-p.Open(), p.Format)
	for _, t := range p.Tasks {
		a.printf("  %s %s  %s%s\n", checkbox(t.Done), t.ID, t.Title, whenWords(t))
	}
	return nil
}

// maxListedDependencies is the maximum number of dependencies shown for a task.
const maxListedDependencies = 5

// whenWords says which tasks a task waits for.
func whenWords(t plan.Task) string {
	words := ""
	if t.Optional {
		words = "  optional"
	}
	if len(t.DependsOn) > 0 {
		words += "  after " + plan.Few(t.DependsOn, maxListedDependencies)
	}
	return words
}

func (c *planShowCmd) showTask(a *app, p plan.Plan) error {
	t, ok := p.Task(c.Task)
	if !ok {
		return failure.New(failure.Usage, "pawl plan show "+c.File+" lists them", "%s has no task %q", c.File, c.Task)
	}
	if c.JSON {
		return a.printJSON(planfile.ShowTask(t))
	}
	a.printf("%s %s  %s  (%s:%d)%s\n", checkbox(t.Done), t.ID, t.Title, c.File, t.Line, whenWords(t))
	for line := range strings.Lines(t.Detail) {
		a.printf("  %s\n", plan.OneLine(line, 0))
	}
	for _, criterion := range t.Criteria {
		a.printf("  - %s\n", plan.OneLine(criterion, 0))
	}
	for _, text := range planfile.WithRelated(c.File, p, t).Context {
		a.printf("\n")
		for line := range strings.Lines(text) {
			a.printf("  %s\n", plan.OneLine(line, 0))
		}
	}
	if len(t.Scope) > 0 {
		a.printf("  may change %s\n", strings.Join(t.Scope, ", "))
	}
	return nil
}

func checkbox(done bool) string {
	if done {
		return "[x]"
	}
	return "[ ]"
}

type planNextCmd struct {
	planArg
	JSON bool `name:"json" help:"print a JSON object, or null (docs/reference/plan-next.schema.json)"`
}

// Run prints the next task.
func (c *planNextCmd) Run(a *app) error {
	p, err := c.load(a)
	if err != nil {
		return err
	}
	t, ok := p.Next(nil)
	switch {
	case c.JSON && ok:
		return a.printJSON(planfile.ShowTask(t))
	case c.JSON:
		return a.printJSON(nil)
	case !ok:
		a.printf("no task is left in %s\n", c.File)
	default:
		a.printf("%s  %s\n", t.ID, t.Title)
	}
	return nil
}

type planCheckCmd struct {
	planArg
	JSON bool `name:"json" help:"print a JSON object (docs/reference/plan-check.schema.json)"`
}

// planCheckResult is the output of --json.
type planCheckResult struct {
	Format   string         `json:"format,omitempty" jsonschema:"format of the plan; absent where it cannot be worked on"`
	Problems []plan.Problem `json:"problems" jsonschema:"what is wrong, in the order of lines; none if the plan can be worked on"`
	Odd      []plan.Problem `json:"odd,omitempty" jsonschema:"warnings: tasks whose mark says neither open nor done (taken as open), and lines that look like tasks and are none"`
	Outlooks []outlook      `json:"outlooks,omitempty" jsonschema:"guesses: tasks that will probably wait for you, though the agent does them well"`
}

// Run prints all that is wrong with a plan, and the checkbox marks that it does not know.
func (c *planCheckCmd) Run(a *app) error {
	f, err := c.open(a)
	if invalid, ok := errors.AsType[*planfile.Invalid](err); ok {
		return a.conclude(c.JSON, verdict{planCheckResult{Problems: invalid.Problems, Odd: invalid.Warnings}, func() {
			all := slices.Concat(invalid.Problems, invalid.Warnings)
			slices.SortStableFunc(all, func(x, y plan.Problem) int { return cmp.Compare(x.Line, y.Line) })
			for _, line := range planfile.Lines(invalid.Name, all) {
				a.printf("%s\n", term.Clean(line))
			}
		}, exitCode(failure.Usage)})
	}
	if err != nil {
		return err
	}
	p, odd := f.Plan(), f.Warnings()
	out := planCheckResult{Format: p.Format, Problems: []plan.Problem{}, Odd: odd, Outlooks: outlooks(p)}
	return a.conclude(c.JSON, verdict{result: out, text: func() {
		for _, line := range planfile.Lines(c.File, odd) {
			a.printf("%s\n", term.Clean(line))
		}
		words := "is fine"
		if len(odd) > 0 {
			words = "can be run, if that is what you want (" + figure.Count(len(odd), "warning") + ")"
		}
		a.printf("%s %s: %s, %d done (%s)\n", c.File, words, figure.Count(p.Open(), "open task"), len(p.Tasks)-p.Open(), p.Format)
		for _, o := range out.Outlooks {
			a.printf("  %s\n", term.Clean(fmt.Sprintf("task %s %s; pawl run %s accepts that in advance", o.ID, o.Message, o.Option)))
		}
	}})
}

// outlook is a task that will probably wait for the user, see plan.Task.Outlook.
type outlook struct {
	ID      string `json:"id" jsonschema:"the task"`
	Message string `json:"message" jsonschema:"what will probably happen"`
	Option  string `json:"option" jsonschema:"the option of pawl run that accepts it beforehand"`
}

// outlooks returns the outlooks of the open tasks.
func outlooks(p plan.Plan) []outlook {
	var all []outlook
	for _, t := range p.Tasks {
		if why, option := t.Outlook(t.Evidence == ""); why != "" && !t.Done {
			all = append(all, outlook{t.ID, why, option})
		}
	}
	return all
}

type planConvertCmd struct {
	planArg
	To string `required:"" enum:"checklist,featurelist,prd,prdjson,ralphex,ralphy" placeholder:"FORMAT" help:"checklist, featurelist, prd, prdjson, ralphex or ralphy"`
}

// Run prints the plan in another format.
func (c *planConvertCmd) Run(a *app) error {
	p, err := c.load(a)
	if err != nil {
		return err
	}
	out, err := planfile.Convert(p, c.To)
	if err != nil {
		return failure.New(failure.Usage, "", "convert %s: %w", c.File, err)
	}
	a.print(string(out))
	return nil
}
