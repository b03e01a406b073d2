package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/draft"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/planner"
	"github.com/pawl-dev/pawl/internal/prompt"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/tracker"
)

type planNewCmd struct {
	Words  []string `arg:"" name:"IDEA|FILE|ISSUE" help:"what you want: words, a file, issues as in pawl run, or - for standard input"`
	Out    string   `short:"o" placeholder:"FILE" help:"file to write (default plan.md, or the format's usual name)"`
	Format string   `default:"checklist" placeholder:"FORMAT" help:"format, as in pawl plan convert"`
	planAuthor
}

// planAuthor holds the options of the agent that writes a plan.
type planAuthor struct {
	Yes          bool          `short:"y" help:"take the proposed answers and write the plan without asking"`
	Agent        *string       `placeholder:"NAME" help:"claude"`
	AgentCommand *string       `placeholder:"PATH" help:"the agent's program"`
	Model        *string       `placeholder:"M" help:"the agent's model"`
	MaxCost      float64       `default:"3" placeholder:"USD" help:"maximum cost in US dollars"`
	ReplyTimeout time.Duration `default:"15m" placeholder:"D" help:"maximum time of one reply"`
}

// Run makes a plan, and writes it if the user accepts it.
func (c *planNewCmd) Run(ctx context.Context, a *app) (err error) {
	defer func() { err = planError(err) }()
	begun, from, err := c.begin(a)
	if err != nil {
		return err
	}
	root := a.root()
	out, err := c.output(a)
	if err != nil {
		return err
	}
	settings, err := c.settings(a, root)
	if err != nil {
		return err
	}
	if begun.Source != "" {
		if begun.Idea, err = launch.IssueText(ctx, from, settings, root, a.env); err != nil {
			return err
		}
	}
	return c.write(ctx, a, begun, planTarget{settings, out, c.Format})
}

// planError returns the error of a conversation with a hint for the user.
func planError(err error) error {
	if errors.Is(err, planner.ErrNoPlan) {
		err = failure.New(failure.Error, "describe more of what you want, or write the plan by hand, one line per task:  - [ ] what is to be done", "%w", err)
	}
	if failed, ok := errors.AsType[*planner.AgentError](err); ok {
		err = failure.New(failure.Error, failed.Hint, "no plan was written: %w", err)
	}
	return err
}

// planTarget says where to write a plan.
type planTarget struct {
	settings config.Settings
	path     string
	format   string
}

// write holds a conversation, and writes the plan if the user accepts it. It keeps the old plan in
// another file.
func (c *planAuthor) write(ctx context.Context, a *app, begun draft.Conversation, to planTarget) error {
	made, usage, err := c.converse(ctx, a, begun, to.settings)
	if err != nil {
		if usage.CostUSD > 0 {
			_, _ = fmt.Fprintf(a.Err, "pawl: the agent's replies cost %s\n", figure.Money(usage.CostUSD))
		}
		return err
	}
	a.printDraft(made, usage)
	data, err := planfile.Convert(made.Plan(), to.format)
	if err != nil {
		return err
	}
	if !c.Yes {
		if data, err = a.acceptPlan(ctx, data, to.path); err != nil || data == nil {
			return err
		}
	}
	if err := a.keepOldPlan(to.path); err != nil {
		return err
	}
	accepted := acceptedPlan{path: to.path, text: data, seen: !c.Yes}
	if len(to.settings.Gates) == 0 {
		accepted.gates = made.Draft.Plan().Gates
	}
	return a.writePlan(ctx, accepted)
}

// begin begins the conversation about the operands. The text of issues is read later.
func (c *planNewCmd) begin(a *app) (draft.Conversation, tracker.Address, error) {
	if len(c.Words) == 1 {
		if from, ok := tracker.Parse(c.Words[0]); ok {
			begun := draft.Start("")
			begun.Source = "issues of " + from.String()
			return begun, from, nil
		}
	}
	idea, err := c.idea(a)
	return draft.Start(idea), tracker.Address{}, err
}

// idea returns the text of the operands: words, one file, or standard input.
func (c *planNewCmd) idea(a *app) (string, error) {
	text := strings.Join(c.Words, " ")
	var err error
	switch {
	case text == "-":
		a.announceRead("what you want; Ctrl-D ends it")
		var data []byte
		data, err = io.ReadAll(io.LimitReader(a.In, prompt.MaxIdeaBytes+1))
		text = string(data)
	case len(c.Words) == 1 && text != "" && !strings.ContainsAny(text, " \n"):
		data, failed := atomicfile.Read(a.abs(text), prompt.MaxIdeaBytes)
		switch {
		case failed == nil:
			text = string(data)
		case !errors.Is(failed, os.ErrNotExist) || strings.Contains(filepath.Base(text), "."):
			err = failed
		}
	}
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("it is empty")
	}
	if err == nil && len(text) > prompt.MaxIdeaBytes {
		err = fmt.Errorf("it has more than %d bytes", prompt.MaxIdeaBytes)
	}
	if err != nil {
		return "", failure.New(failure.Usage, "pawl plan new 'export the report as CSV'; or name a file with text", "read the idea: %w", err)
	}
	return text, nil
}

// output returns the file to write, which must not exist.
func (c *planNewCmd) output(a *app) (string, error) {
	names := map[string]string{planfile.PRDJSON: "prd.json", planfile.FeatureList: "feature_list.json", planfile.Ralphy: "tasks.json"}
	if _, err := planfile.Convert(plan.Plan{}, c.Format); err != nil {
		return "", err
	}
	path := a.abs(cmp.Or(c.Out, names[c.Format], "plan.md"))
	if _, err := os.Lstat(path); err == nil {
		return "", failure.New(failure.Usage, "name another file, such as --out "+planfile.FreeFileName(a.dir)+", or move this one", "%s already exists", a.relativePath(path))
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", failure.New(failure.Usage, "create the folder first", "there is no folder %s", a.relativePath(filepath.Dir(path)))
	}
	return path, nil
}

// relativePath returns a path relative to the current folder, if it is below.
func (a *app) relativePath(path string) string {
	if rel, err := filepath.Rel(a.dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (c *planAuthor) settings(a *app, root string) (config.Settings, error) {
	typed := map[string]any{}
	for key, value := range map[string]*string{"agent": c.Agent, "agent_command": c.AgentCommand, "model": c.Model} {
		if value != nil {
			typed[key] = *value
		}
	}
	s, err := a.resolve(root, typed)
	if err != nil {
		return s, err
	}
	return s, a.requireTrust(root, s.RepoCommands(), showTrust)
}

// converse holds the conversation and shows what the agents do.
func (c *planAuthor) converse(ctx context.Context, a *app, begun draft.Conversation, s config.Settings) (draft.Conversation, loop.Usage, error) {
	keep, err := os.MkdirTemp("", "pawl-plan-")
	if err != nil {
		return draft.Conversation{}, loop.Usage{}, err
	}
	defer func() { _ = os.RemoveAll(keep) }() // it only holds a count of turns
	who, options, err := launch.ReaderAgent(ctx, s, launch.ReaderRequest{Env: a.env, Root: a.root(), Dir: a.dir, StateDir: keep})
	if err != nil {
		return draft.Conversation{}, loop.Usage{}, err
	}
	rules, err := launch.InspectGuard(ctx, a.dir, a.env)
	if err != nil {
		return draft.Conversation{}, loop.Usage{}, err
	}
	gates := config.Suggest(a.root())
	for _, g := range s.Gates {
		gates = append([]string{g.Command}, gates...)
	}
	tell := planProgress{a: a, agent: who.Name()}
	return planner.Make(ctx, begun, planner.Options{
		Agent: who, Session: options, Gates: gates, MaxCostUSD: c.MaxCost, Timeout: c.ReplyTimeout, OnEvent: tell.showEvent, OnAsk: tell.showRequest,
		Guard: func(call toolcall.Call) agent.Verdict {
			v := guard.Check(call, rules.Rules)
			return agent.Verdict{Allow: v.Decision == guard.Allow, Reason: v.Reason}
		},
		Ask: func(q planner.NumberedQuestion) (string, error) {
			if c.Yes {
				tell.line("%d of %d  %s\n  taken: %s", q.Number, q.Of, term.Clean(q.Question.Question), term.Clean(q.Proposal))
				return "", nil
			}
			tell.line("%d of %d  %s\n  Enter takes: %s", q.Number, q.Of, term.Clean(q.Question.Question), term.Clean(q.Proposal))
			return a.askForPlan(ctx, "> ")
		},
	})
}

// planProgress prints on standard error what happens while a plan is made.
type planProgress struct {
	a     *app
	agent string
}

func (p planProgress) line(format string, args ...any) {
	_, _ = fmt.Fprintln(p.a.Err, term.Wrap(fmt.Sprintf(format, args...), p.a.columns))
}

// showRequest prints what the agent is asked for next.
func (p planProgress) showRequest(c draft.Conversation) {
	switch {
	case c.Rejected != "":
		p.line("the reply could not be used (%s); asking %s again", plan.OneLine(c.Rejected, 300), p.agent)
	case c.Step() == draft.AskCritic:
		p.line("the plan has %s; a second session reviews it", figure.Count(len(c.Draft.Tasks), "task"))
	case len(c.Remarks) > 0:
		p.line("the review has %s; the plan is revised", figure.Count(len(c.Remarks), "remark"))
		for _, r := range c.Remarks {
			p.line("  - %s", term.Clean(r.String()))
		}
	case len(c.Answers) > 0:
		p.line("%s writes the plan", p.agent)
	default:
		p.line("%s reads the repository; it cannot change or run anything", p.agent)
	}
}

// showEvent prints what the agent reads.
func (p planProgress) showEvent(e agent.Event) {
	switch {
	case e.Kind == agent.KindTool && e.Does.Kind != toolcall.Answer:
		p.line("  %s", plan.OneLine(cmp.Or(e.Detail, e.Tool), 100))
	case e.Kind == agent.KindDenied:
		p.line("  denied: %s", plan.OneLine(e.Text, 200))
	case e.Kind == agent.KindRetry:
		p.line("  the client retries: %s", plan.OneLine(e.Text, 200))
	}
}

type planImproveCmd struct {
	planArg
	Words []string `arg:"" optional:"" name:"WORDS" help:"what to improve; default: small tasks, in order, each with a test"`
	Out   string   `short:"o" placeholder:"FILE" help:"file to write, a checklist (default: the plan itself)"`
	planAuthor
}

// Run rewrites a plan, and writes it if the user accepts it.
func (c *planImproveCmd) Run(ctx context.Context, a *app) (err error) {
	defer func() { err = planError(err) }()
	f, err := c.open(a)
	if err != nil {
		return err
	}
	out, format, err := c.target(a, f.Plan())
	if err != nil {
		return err
	}
	settings, err := c.settings(a, a.root())
	if err != nil {
		return err
	}
	idea := c.idea(f)
	if len(idea) > prompt.MaxIdeaBytes {
		return failure.New(failure.Usage, "split it, or improve a part of it", "%s has more than %d bytes", c.File, prompt.MaxIdeaBytes)
	}
	return c.write(ctx, a, draft.Improve(idea, f.Plan()), planTarget{settings, out, format})
}

// target returns the file to write and its format.
func (c *planImproveCmd) target(a *app, p plan.Plan) (path, format string, err error) {
	path, format = a.abs(cmp.Or(c.Out, c.File)), p.Format
	if c.Out != "" {
		format = planfile.Checklist
	}
	if p.Open() == 0 {
		return "", "", failure.New(failure.Usage, planfile.NewCommand(a.dir, "YOUR IDEA")+" writes another plan", "every task of %s is done", c.File)
	}
	if _, err := planfile.Convert(plan.Plan{}, format); err != nil {
		return "", "", failure.New(failure.Usage, "--out plan.md makes a checklist of it", "%s is a plan of %s, which Pawl cannot rewrite", c.File, format)
	}
	s, err := a.loopOfPlan(path)
	if err == nil && s != nil && !s.HasEnded() {
		err = failure.New(failure.Usage, "pawl plan add, edit, skip and move change its plan; or stop it first", "loop %s works on %s", s.ID, a.relativePath(path))
	}
	return path, format, err
}

// idea returns the prompt for the author: what to improve, and the current plan.
func (c *planImproveCmd) idea(f *planfile.File) string {
	wanted := cmp.Or(strings.Join(c.Words, " "), "Its tasks shall be small, in order, and each shown by a test. What is unclear, missing or too big is put right.")
	text := "Improve the plan " + c.File + " of this repository. " + wanted + "\n"
	var done []string
	for _, t := range f.Plan().Tasks {
		if t.Done {
			done = append(done, t.ID)
		}
	}
	if len(done) > 0 {
		text += "\nThese tasks are done and stay as they are; leave them out, others may depend on them: " + strings.Join(done, ", ") + "\n"
	}
	return text + "\nKeep the ids of tasks that stay what they were. The plan:\n\n" + string(f.Bytes())
}

// keepOldPlan copies the existing plan to a new file beside it.
func (a *app) keepOldPlan(path string) error {
	old, err := atomicfile.Read(path, planfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("save the old plan: %w", err)
	}
	for n := 1; ; n++ {
		name := path + ".before"
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return fmt.Errorf("save the old plan: %w", err)
			}
			continue
		}
		if err := atomicfile.Write(name, old, 0o644); err != nil {
			return fmt.Errorf("save the old plan: %w", err)
		}
		a.printf("the old plan is in %s\n", a.relativePath(name))
		return nil
	}
}
