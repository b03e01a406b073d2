package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

// runCmd is `pawl run`. The fields of runFlags are options of package config: typed flags are passed
// by key, unchecked, and others are nil.
type runCmd struct {
	Words []string `arg:"" optional:"" name:"PROMPT|FILE" help:"the goal in words, a plan file or a loop file; default: the plan in this folder"`
	runFlags
	driverFlag
	JSON   bool `name:"json" help:"print one JSON event per line (docs/reference/events.schema.json)"`
	Quiet  bool `short:"q" help:"print only the final summary; with --detach only the loop's id"`
	Detach bool `short:"d" help:"continue in the background, without this terminal; pawl attach shows the loop"`
	DryRun bool `help:"show plan, gates, limits and anything that blocks the start (exit 2); change nothing"`
	Yes    bool `short:"y" help:"use the suggested gate without asking; trusts no command of the repository"`
}

type runFlags struct {
	Plan             *string   `group:"Goal" placeholder:"FILE" help:"plan file to work through with the prompt"`
	Tasks            []string  `group:"Goal" name:"task" key:"tasks" sep:"none" placeholder:"ID" help:"work on this task of the plan only; repeatable"`
	NoOptional       *bool     `group:"Goal" help:"leave out the optional tasks of the plan"`
	Kind             *string   `group:"Goal" placeholder:"KIND" help:"change, answer, explore or periodic (default change)"`
	Every            *string   `group:"Goal" placeholder:"5m" help:"repeat the goal at this interval (kind periodic)"`
	Name             *string   `group:"Goal" placeholder:"NAME" help:"display name of the loop"`
	Promise          *string   `group:"Goal" aliases:"completion-promise" placeholder:"TEXT" help:"text that the agent prints to claim that it is done"`
	Gate             []string  `group:"Gates" key:"gates" sep:"none" placeholder:"CMD" help:"command that must pass; repeatable"`
	Review           []string  `group:"Gates" sep:"none" placeholder:"RUBRIC" help:"what a second agent must review, as text or @FILE; repeatable"`
	Evidence         []string  `group:"Gates" sep:"none" placeholder:"[TASK=]LEVEL" help:"evidence required for done: proven, reviewed or unproven (default proven); repeatable"`
	Protect          []string  `group:"Gates" sep:"none" placeholder:"GLOB" help:"files that the agent must not change; repeatable"`
	AllowTestChanges *testFlag `group:"Gates" help:"let the agent change existing tests and gate inputs; =TASK for one task"`
	MaxIterations    *string   `group:"Limits" placeholder:"N" help:"maximum iterations; 0 = unlimited; default max(25, 4 × open tasks)"`
	MaxDuration      *string   `group:"Limits" placeholder:"8h" help:"maximum time, without waiting for usage limits"`
	MaxCost          *string   `group:"Limits" placeholder:"USD" help:"maximum cost in US dollars"`
	MaxTokens        *string   `group:"Limits" placeholder:"N" help:"maximum total tokens"`
	TurnTimeout      *string   `group:"Limits" placeholder:"1h" help:"maximum time of one turn"`
	IdleTimeout      *string   `group:"Limits" placeholder:"10m" help:"maximum time without output while no tool runs"`
	Approve          []string  `group:"Limits" sep:"none" placeholder:"AT" help:"stop for your approval: plan, claim, task or end; repeatable"`
	AnswerWithin     *string   `group:"Limits" placeholder:"2h" help:"continue with the agent's proposal if nobody answers its question in this time"`
	Agent            *string   `group:"Agent" placeholder:"NAME" help:"claude, or command for any program that reads the prompt on stdin"`
	AgentCommand     *string   `group:"Agent" placeholder:"PATH" help:"the agent's program"`
	Model            *string   `group:"Agent" placeholder:"M" help:"the agent's model"`
	Session          *string   `group:"Agent" placeholder:"MODE" help:"when to start a fresh session: task, turn, hybrid (at --handover-at) or continue"`
	HandoverAt       *string   `group:"Agent" placeholder:"80%" help:"with --session hybrid, start a fresh session at this context usage"`
	Warm             *bool     `group:"Agent" help:"reuse one agent process for fresh sessions (default outside the sandbox); =false starts new ones" negatable:""`
	OnFailure        *string   `group:"Tree" placeholder:"restore|keep" help:"what to do with the work tree when a task keeps failing"`
	Worktree         *bool     `group:"Tree" help:"work in a separate git worktree"`
	Branch           *string   `group:"Tree" placeholder:"NAME" help:"branch for the commits; current = the checked-out branch (default pawl/LOOP)"`
	Confine          *string   `group:"Tree" placeholder:"LEVEL" help:"sandbox: tree (write only work tree and caches) or strict (also no network, no credentials)"`
	ConfineHosts     []string  `group:"Tree" name:"confine-host" key:"confine_hosts" sep:"none" placeholder:"HOST" help:"host to allow with --confine strict; repeatable"`
	Merge            *string   `group:"Tree" placeholder:"record|pr" help:"when the agent asks to merge verified work: record it, or open a pull request"`
	Notify           []string  `group:"Tree" sep:"none" placeholder:"RECEIVER" help:"who is notified of the end: bell, desktop, 'slack env:NAME', ...; repeatable"`
	AllowDirty       *bool     `group:"Tree" help:"commit your uncommitted changes first, under your name"`
	CommitMessage    *string   `group:"Tree" placeholder:"FORM" help:"subject of the commits, such as 'PAY-12 {title}' (default '{type}({id}): {title}')"`
	Squash           *bool     `group:"Tree" help:"make one commit per task; =false keeps the agent's own commits" negatable:""`
}

// testFlag is a flag with an optional value: without one it means all tasks.
type testFlag string

// IsBool lets kong accept the flag without a value.
func (testFlag) IsBool() bool { return true }

// Decode reads the value after "=", if there is one.
func (t *testFlag) Decode(ctx *kong.DecodeContext) error {
	*t = "true"
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	return ctx.Scan.PopValueInto("value", (*string)(t))
}

// typedFlags returns the flags that were typed, by the key of their option. flags is a struct of such
// fields.
func typedFlags(flags any) map[string]any {
	out := map[string]any{}
	v := reflect.ValueOf(flags)
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if value.IsNil() {
			continue
		}
		key := field.Tag.Get("key")
		if key == "" {
			key = snakeCase(field.Name)
		}
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		out[key] = value.Interface()
		if t, ok := out[key].(testFlag); ok {
			out[key] = string(t)
		}
	}
	return out
}

func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// Run works on the goal until the loop ends. Its exit code is that of the outcome.
func (c *runCmd) Run(a *app) error {
	if c.DryRun && c.JSON {
		return failure.New(failure.Usage, "leave one of them out", "--dry-run prints no JSON")
	}
	if c.Detach && c.JSON {
		return failure.New(failure.Usage, "pawl run --detach -q  prints the loop's id;  pawl attach LOOP --json  its events", "--detach prints no events")
	}
	if !c.DryRun && !c.Detach && !c.Driver && a.canDetach(c.mode(a)) {
		return a.runDriver("run")
	}
	c.connect(a)
	ctx := context.Background()
	q := launch.Request{Dir: a.dir, Words: c.Words, Flags: typedFlags(c.runFlags), Env: a.env, DryRun: c.DryRun}
	p, err := launch.Prepare(ctx, q)
	if several, ok := errors.AsType[*launch.SeveralPlansError](err); ok && isTerminal(a.In) && isTerminal(a.Err) {
		if q.Words, err = a.choosePlan(several.Plans); err != nil {
			return err
		}
		q.Dir = several.Dir // the plans' paths are relative to that folder
		p, err = launch.Prepare(ctx, q)
	}
	if err != nil {
		return err
	}
	if !c.DryRun {
		if err := p.Refuse(ctx); err != nil { // before anything is asked
			return err
		}
	}
	if err := c.chooseGate(ctx, a, p); err != nil {
		return err
	}
	a.warnFolder("agent and gates", p.Root(), c.Gate)
	a.warnPrepared(ctx, p, c.DryRun)
	a.warnUnknownCost(p.Spec, p.Spec.Policy.Limits)
	for _, words := range a.unreachableReceivers(p.Spec.Notify, p.Root()) {
		term.Warnf(a.Err, "%s", words)
	}
	if c.DryRun {
		return a.dryRun(ctx, p)
	}
	if c.Detach {
		return c.detach(a, p)
	}
	for {
		again, err := c.begin(a, p)
		if again == nil {
			return err
		}
		if err := p.Renew(ctx, again.apply()); err != nil {
			return err
		}
	}
}

// mode returns how to show the loop.
func (c *runCmd) mode(a *app) term.Mode { return term.ModeFor(a.Out, c.JSON, c.Quiet, a.env.Dumb) }

// begin begins the loop and drives it. It returns a question if the user answered that the run must
// begin again.
func (c *runCmd) begin(a *app, p *launch.Prepared) (*redQuestion, error) {
	if p.Spec.UsesWorktree && !c.JSON && !c.Quiet { // it may take minutes
		for _, command := range p.Spec.Setup {
			fmt.Fprintf(a.Err, "pawl: setting up the worktree: %s\n", term.Clean(plan.OneLine(command, 200)))
		}
	}
	d, err := p.Begin(a.untilSignal())
	if s, ok := errors.AsType[*launch.StoppedError](err); ok {
		term.Warnf(a.Err, "%s was stopped before its first turn:  pawl resume %[1]s  continues", s.Loop)
	}
	if err != nil {
		return nil, err
	}
	how := driveOptions{mode: c.mode(a)}
	if !c.JSON && !c.Quiet && !c.Yes && isTerminal(a.In) && isTerminal(a.Err) && isTerminal(a.Out) && proc.InForeground(a.In) {
		how.red = &redQuestion{gates: p.Settings.Gates, read: func() (string, error) { return a.ask("", "") }}
	}
	if err := a.runLoop(d, how); how.red == nil || how.red.answer == "" {
		return nil, err
	}
	return how.red, nil
}

// warnUnknownCost warns that a limit has no effect if the agent reports neither cost nor tokens.
func (a *app) warnUnknownCost(s record.Spec, l loop.Limits) {
	if s.Agent.ReportsNoCost() && (l.CostUSD > 0 || l.Tokens > 0) {
		term.Warnf(a.Err, "the cost of --agent command is unknown: cost and token limits have no effect; use --max-iterations or --max-duration")
	}
}

// warnUnfinishedWork says what happens to unfinished work of an earlier loop.
func (a *app) warnUnfinishedWork(p *launch.Prepared) {
	if l := p.Spec.UnfinishedWork; l != nil {
		term.Warnf(a.Err, "begins with %s: loop %s left it unfinished (%s)", narrate.TaskInSentence(l.Task, l.Title), l.Loop, plan.Few(l.Paths, 4))
		return
	}
	alone := p.IgnoredLeftovers()
	if len(alone) == 0 {
		return
	}
	of := ""
	if t := p.Conflicts.LastTask.Task; t.ID != "" {
		of = ", work for " + narrate.TaskInSentence(t.ID, t.Title)
	}
	term.Warnf(a.Err, "loop %s left %s%s: not part of this run, and not committed by it", p.Conflicts.Loop, plan.Few(alone, 4), of)
	term.Hintf(a.Err, "%s continues it", cmp.Or(p.Conflicts.Resume, "pawl resume "+p.Conflicts.Loop))
}

// chooseGate asks at a terminal whether to use the gate that the repository's files suggest. Without a
// sufficient gate, it warns that the loop can only end unverified.
func (c *runCmd) chooseGate(ctx context.Context, a *app, p *launch.Prepared) error {
	alone := p.OnlyReviews()
	if !alone && (len(p.Spec.Gates) > 0 || p.Spec.Policy.Kind != loop.Change) {
		return nil
	}
	switch {
	case len(p.Suggested) == 0:
	case c.Yes:
		return p.UseGate(ctx, p.Suggested[0])
	case !c.DryRun && isTerminal(a.In) && isTerminal(a.Err):
		command, err := wantedGate(p.Suggested[0], a.askForGate)
		if err != nil {
			return err
		}
		if command != "" {
			return p.UseGate(ctx, command)
		}
	}
	why, hint := "no gate: nothing can verify the work, so the loop can only end unverified", "--gate 'CMD' names a command that must pass"
	if alone {
		why, hint = reviewsAlone, reviewsHint
	}
	if len(p.Suggested) > 0 {
		hint = fmt.Sprintf("--gate '%s'", p.Suggested[0])
	}
	term.Warnf(a.Err, "%s", why)
	term.Hintf(a.Err, "%s", hint)
	return nil
}

// Messages about a loop whose only gates are reviews.
const (
	reviewsAlone = "the only gates are reviews, so the loop can only end unverified"
	reviewsHint  = "--evidence reviewed accepts that; --gate 'CMD' names a command that must pass"
)

// choosePlan asks the user for one of several plans.
func (a *app) choosePlan(plans []string) ([]string, error) {
	for i, p := range plans {
		fmt.Fprintf(a.Err, "  %d  %s\n", i+1, term.Clean(p))
	}
	word, err := a.ask(fmt.Sprintf("which plan? [1-%d] ", len(plans)), "pawl run "+plans[0])
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > len(plans) {
		return nil, failure.New(failure.Usage, "pawl run "+plans[0], "there is no plan %q to choose", word)
	}
	return []string{plans[n-1]}, nil
}

// showMoved shows that another owner, usually a session, has the loop now. It may have ended there since.
func (a *app) showMoved(s *show, d *launch.Driver) error {
	m, _, err := record.Load(d.Loop)
	if err != nil {
		return err
	}
	if m.State.Phase == loop.Ended {
		s.showEnd(m.State)
		return exitError(m.State.Outcome.ExitCode(m.State.Stop.Cause))
	}
	owner := m.State.HandsOverTo() // the one that is about to acquire it
	if owner == "" && m.State.InSession {
		owner = loop.OwnerSession
	}
	s.note(term.Info, fmt.Sprintf("%s has not ended: it continues %s → pawl status %[1]s; pawl handover %[1]s continues it in fresh sessions", d.Loop.ID, narrate.OwnerPlace(owner)))
	return codeTaken
}

// driveOptions holds the options for showing a driven loop.
type driveOptions struct {
	mode     term.Mode
	detached bool         // without a terminal
	red      *redQuestion // asked if gates fail before any work; nil = not asked
}

// showEnd shows the end of a loop, on standard error if nobody reads standard output.
func (a *app) showEnd(s *show, state loop.State) {
	s.showEnd(state)
	if state.Stop.Cause == loop.ByPipe {
		term.Warnf(a.Err, "%s stopped, because the reader of its output is gone; its work is kept", s.id)
		term.Hintf(a.Err, "pawl resume %s continues it; with --detach nobody needs to read the output", s.id)
	}
}

// runLoop drives a loop that this process owns and shows it. It returns the exit code of the outcome.
func (a *app) runLoop(d *launch.Driver, how driveOptions) (err error) {
	a.releaseSignals()
	mode := how.mode
	ears := handleSignals(a.exitNow(d.Loop.ID))
	ears.mayDetach.Store(how.detached || d.Spec.DetachOnHangup)
	defer ears.stop()                                    // the last step: a signal must not interrupt the cleanup
	defer func() { err = errors.Join(err, d.Close()) }() // d may be another driver by then
	if err := proc.Subreaper(); err != nil {
		term.Warnf(a.Err, "processes that the agent leaves behind may survive: %v", err)
	}
	options := a.screenOptions(mode)
	options.Out, options.Detachable = signalWriter{a.Out, ears}, a.foreground != nil
	screen := term.New(options)
	out := a.keepScreen(screen, d)
	defer func() { err = errors.Join(err, out.Close()) }()
	var keys *proc.Keys
	if a.foreground != nil {
		var stop func()
		keys, stop = a.foreground.listen(a, d, ears, screen)
		defer stop()
	}
	if q := how.red; q != nil {
		q.print = out.Print
		d.AskFailingGates = func(ctx context.Context, g loop.Gates) (wanted, goesOn bool) {
			defer keys.Hold()()
			return q.Ask(ctx, g)
		}
	}
	for {
		s, err := newShow(out, d)
		if err != nil {
			return err
		}
		d.Observer, d.Cancellations = s, ears.causes
		d.IsBackground = func() bool { return how.detached || ears.detached.Load() }
		a.ringOnNotice(d)
		a.setTools(d)
		state, err := d.Run(context.Background())
		if err != nil {
			return failure.New(failure.CodeOf(err), cmp.Or(failure.Hint(err), "the work is kept")+"; continue with  pawl resume "+d.Loop.ID, "%w", err)
		}
		if state.Phase != loop.HandingOver {
			if err := a.openPullRequest(d, s, state); err != nil {
				return err
			}
			a.reportIssues(d, s)
			a.showEnd(s, state)
			a.sendTelemetry(d, s)
			return exitError(state.Outcome.ExitCode(state.Stop.Cause))
		}
		s.note(term.Info, releaseReason)
		back, err := a.awaitTake(d, ears)
		if err != nil {
			return err
		}
		if back == nil {
			return a.showMoved(s, d)
		}
		d = back
	}
}
