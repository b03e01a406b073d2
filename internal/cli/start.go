package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/verify"
)

// startCmd is `pawl start`: a loop in the session that runs it. As in runCmd, the fields of the
// embedded structs are options of package config.
type startCmd struct {
	Words []string `arg:"" optional:"" name:"PROMPT|FILE" help:"the goal in words, a plan, a loop file or another tool's state file; default: the plan here"`
	startGoal
	Verify  string        `group:"Gates" placeholder:"CMD" help:"the goal is that this command passes"`
	Timeout time.Duration `group:"Gates" placeholder:"10m" help:"with --verify, time limit of each run of the command"`
	verifyOptions
	startLimits
	Handover   bool   `group:"Session" help:"continue in fresh sessions when the context is full or the attempts are used up"`
	Take       string `group:"Session" placeholder:"LOOP" help:"move this background or orphaned loop into your session"`
	Commit     bool   `group:"Tree" help:"commit verified work on the current branch"`
	Unattended bool   `help:"you do not watch this session: the guard answers permission prompts"`
	DryRun     bool   `help:"show goal, gates, limits and anything that blocks the start (exit 2); change nothing"`
}

// startGoal holds the flags for the goal and its gates.
type startGoal struct {
	Plan              *string  `group:"Goal" placeholder:"FILE" help:"plan file to work through with the prompt"`
	Kind              *string  `group:"Goal" placeholder:"KIND" help:"change, answer, explore or periodic (default change)"`
	Every             *string  `group:"Goal" placeholder:"5m" help:"repeat the goal at this interval (kind periodic)"`
	Name              *string  `group:"Goal" placeholder:"NAME" help:"display name of the loop"`
	CompletionPromise *string  `group:"Goal" key:"promise" aliases:"promise" placeholder:"TEXT" help:"text that the agent prints to claim that it is done"`
	Gate              []string `group:"Gates" key:"gates" sep:"none" placeholder:"CMD" help:"command that must pass; repeatable"`
	Review            []string `group:"Gates" sep:"none" placeholder:"RUBRIC" help:"what a second agent must review, as text or @FILE; repeatable"`
	Evidence          []string `group:"Gates" sep:"none" placeholder:"[TASK=]LEVEL" help:"evidence required for done: proven, reviewed or unproven (default proven); repeatable"`
	Confine           *string  `group:"Gates" placeholder:"LEVEL" help:"sandbox for gates and fresh sessions, not for yours: tree or strict"`
	ConfineHosts      []string `group:"Gates" name:"confine-host" key:"confine_hosts" sep:"none" placeholder:"HOST" help:"host to allow with --confine strict; repeatable"`
}

// startLimits are the limits in the session and outside of it.
type startLimits struct {
	MaxIterations *string  `group:"Limits" placeholder:"N" help:"maximum iterations; 0 = unlimited; default 25"`
	MaxDuration   *string  `group:"Limits" placeholder:"8h" help:"maximum time, without waiting for usage limits"`
	MaxCost       *string  `group:"Limits" placeholder:"USD" help:"maximum cost in US dollars outside this session"`
	Approve       []string `group:"Limits" sep:"none" placeholder:"AT" help:"stop for your approval: plan, claim, task or end; repeatable"`
	AnswerWithin  *string  `group:"Limits" placeholder:"2h" help:"continue with the agent's proposal if nobody answers its question in this time"`
	Session       *string  `group:"Session" placeholder:"MODE" help:"when to start a fresh session: continue, hybrid (= --handover), task or turn"`
}

// verifyOptions are the options of the table verify.
type verifyOptions struct {
	Tries   *string `group:"Gates" placeholder:"N" help:"failed attempts here before fresh sessions try; default 3, or 2 identical failures"`
	Isolate *bool   `group:"Gates" help:"with --verify, make further attempts in separate sessions; =false stays here" negatable:""`
}

// flags returns the typed options.
func (c *startCmd) flags() map[string]any {
	out := typedFlags(c.startGoal)
	maps.Copy(out, typedFlags(c.startLimits))
	if tries := typedFlags(c.verifyOptions); len(tries) > 0 {
		out["verify"] = tries
	}
	return out
}

// startTimeout is how long the command waits for the gates; then another process continues them. The
// client ends a command after two minutes.
const startTimeout = 100 * time.Second

// Run starts a loop in the calling session.
func (c *startCmd) Run(ctx context.Context, a *app) error {
	if c.Take != "" {
		if len(c.Words) > 0 || len(c.flags()) > 0 || c.Verify != "" || c.Handover || c.Commit || c.DryRun {
			return failure.New(failure.Usage, "leave out the rest: the loop already has its goal and options", "--take takes no other arguments")
		}
		return a.take(ctx, c.Take, c.Unattended)
	}
	if c.Timeout < 0 || c.Timeout > 0 && c.Verify == "" {
		return failure.New(failure.Usage, "pawl start --verify CMD --timeout 10m", "--timeout is how long the command of --verify may run")
	}
	in, err := a.requireSession(c.Unattended)
	if err != nil {
		return a.adviseOutside(c.Words, err)
	}
	p, err := c.prepare(ctx, a, in)
	if err != nil {
		return err
	}
	a.warnPrepared(ctx, p, c.DryRun)
	if c.DryRun {
		obstacles := p.AllRefusalsInSession(ctx, in)
		a.printf("%s", openingText(p, nil))
		loopinfo.Rows(func(name, format string, args ...any) {
			a.printf("  %-7s  %s\n", name, term.Clean(fmt.Sprintf(format, args...)))
		}, "but", obstacleLines(obstacles)...)
		a.printf("  changed  nothing: this was a dry run\n")
		return dryRunExit(obstacles)
	}
	if !mentionsHook(a.env.ClientConfig(), p.Root()) {
		term.Warnf(a.Err, "the loop needs Pawl's hook, and no settings here have it")
		term.Hintf(a.Err, "pawl install claude adds it; pawl doctor shows details")
	}
	begun, err := p.BeginInSession(ctx, launch.SessionOptions{Session: in, Observer: &beginObserver{out: a.Err}, GateTimeout: startTimeout})
	if err != nil {
		return err
	}
	if err := errors.Join(a.background().ContinueGates(begun), a.startDaemon(in.Session)); err != nil {
		return err
	}
	a.printf("%s\n", openingText(p, begun))
	a.print(firstPrompt(begun, maxPrintedPromptBytes))
	return nil
}

// prepare returns the loop that the command asks for.
func (c *startCmd) prepare(ctx context.Context, a *app, in launch.UserSession) (*launch.Prepared, error) {
	q := launch.SessionRequest{
		Request: launch.Request{Dir: a.dir, Words: c.Words, Flags: c.flags(), Env: a.env, DryRun: c.DryRun},
		Project: a.env.Session.Project, Session: in, Verify: c.Verify, VerifyTimeout: c.Timeout, Commit: c.Commit, Handover: c.Handover,
	}
	if err := q.AdoptNamed(ctx); err != nil {
		return nil, err
	}
	p, err := launch.PrepareInSession(ctx, q)
	if err != nil && len(c.Words) == 0 {
		for _, words := range launch.NotFollowed(a.env, a.root()) {
			term.Hintf(a.Err, "%s", words)
		}
	}
	return p, err
}

// mentionsHook reports whether settings of the client mention Pawl as a hook or a plugin. It does not
// read those of an administrator or the command line.
func mentionsHook(config, root string) bool {
	files := []string{
		filepath.Join(config, "settings.json"),
		filepath.Join(root, ".claude", "settings.json"), filepath.Join(root, ".claude", "settings.local.json"),
	}
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := atomicfile.Read(file, atomicfile.Large)
		return err == nil && bytes.Contains(data, []byte("pawl"))
	})
}

// requireSession returns the session that runs this command, or an error without one.
func (a *app) requireSession(unattended bool) (launch.UserSession, error) {
	in, there := a.callingSession(unattended)
	if !there {
		return in, failure.New(failure.Usage,
			"in Claude Code, type  ! pawl start …  or  /pawl:loop …; in a terminal, use pawl run",
			"pawl start runs inside a Claude Code session, and this is none")
	}
	return in, nil
}

// adviseOutside returns err with the command that starts a loop for another tool's files, if the words name
// them.
func (a *app) adviseOutside(words []string, err error) error {
	q := launch.SessionRequest{Request: launch.Request{Dir: a.dir, Words: words, Env: a.env}}
	f, file, _ := q.StateFile()
	if f == nil {
		return err
	}
	name := shell.QuoteCommand([]string{a.displayPath(file)})
	return failure.New(failure.Usage, fmt.Sprintf("touch %s && claude;  in the session it is  ! pawl start %[1]s", name), "%w", err)
}

// callingSession returns the session that runs this command, if there is one.
func (a *app) callingSession(unattended bool) (in launch.UserSession, there bool) {
	s := a.env.Session
	in = launch.UserSession{Session: s.ID, Client: s.Client, Unattended: unattended || s.Unattended}
	switch {
	case s.ID != "":
	case s.Inside && s.Client != 0:
		in.AncestorPIDs = []int{s.Client}
	case s.Inside:
		in.AncestorPIDs = proc.AncestorPIDs()
	default:
		return in, false
	}
	return in, true
}

// maxPrintedPromptBytes is the maximum length of the first prompt in the output, in bytes. The client shows the
// agent 30,000 characters of a command's output.
const maxPrintedPromptBytes = 24_000

// firstPrompt returns the first prompt for the agent, at most so many bytes of it.
func firstPrompt(begun *launch.SessionLoop, most int) string {
	switch {
	case begun.GatesRunning:
		return fmt.Sprintf("[Pawl] Loop %s has started, but its gates still run on the unchanged tree. Change nothing and end your turn now: "+
			"Pawl tells you when to begin.\n", begun.Loop.ID)
	case begun.Memory.State.Phase == loop.Ended:
		return fmt.Sprintf("[Pawl] Loop %s has ended: %s. There is nothing to do.\n", begun.Loop.ID, begun.Memory.State.Reason)
	case begun.Prompt == "":
		return fmt.Sprintf("[Pawl] Loop %s waits before its first turn; pawl status %[1]s shows the user why. Change nothing and end your turn now.\n", begun.Loop.ID)
	case len(begun.Prompt) <= most:
		return begun.Prompt
	}
	const rest = "\n\n… The prompt is longer. Read the whole of it before you begin: %s\n"
	path := begun.PromptPath()
	head := strings.ToValidUTF8(begun.Prompt[:max(0, most-len(rest)-len(path))], "")
	return head + fmt.Sprintf(rest, path)
}

// beginObserver prints progress while a loop starts in a session: its gates and warnings.
type beginObserver struct {
	out  io.Writer
	last string // the last gate shown: a gate may run twice
}

// Stepped prints nothing: the result is printed at the end.
func (*beginObserver) Stepped(loop.State, loop.Event, []loop.Action) {}

// Agent prints nothing: no agent runs.
func (*beginObserver) Agent(agent.Event) {}

// Gate prints that a gate begins.
func (b *beginObserver) Gate(p verify.Progress) {
	if p.Result == nil && p.Gate != b.last {
		b.last = p.Gate
		_, _ = fmt.Fprintf(b.out, "pawl: the gate %s runs on the unchanged tree\n", term.Clean(p.Gate))
	}
}

// Note prints a warning.
func (b *beginObserver) Note(n memory.Note) {
	if n.Level != loop.Info {
		term.Warnf(b.out, "%s", n.Text)
	}
}

var _ runner.Observer = (*beginObserver)(nil)

// take moves a loop into the calling session, for `pawl start --take`.
func (a *app) take(ctx context.Context, ref string, unattended bool) error {
	s, err := a.find(ref)
	if err != nil {
		return err
	}
	in, there := a.callingSession(unattended)
	if !there {
		return failure.New(failure.Usage, fmt.Sprintf("in Claude Code, type  ! pawl start --take %s", s.ID),
			"pawl start --take runs inside a Claude Code session, and this is none")
	}
	if err := launch.RefuseTake(ctx, s.Loop, a.env, in); err != nil {
		return err
	}
	asked := !s.InSession() && s.Alive && !s.HasEnded()
	if asked {
		if err := a.awaitRelease(ctx, s); err != nil {
			return a.warnNotTaken(s, err)
		}
	}
	begun, err := launch.TakeIntoSession(ctx, s.Loop, a.env, launch.SessionOptions{Session: in, Observer: &beginObserver{out: a.Err}, GateTimeout: startTimeout})
	if err != nil && asked {
		return a.warnNotTaken(s, err)
	}
	if err != nil {
		return err
	}
	return a.printTakenLoop(s, begun, in)
}

// warnNotTaken says what happens to a loop that could not be taken after its runner was asked for it. It
// returns err.
func (a *app) warnNotTaken(s *loopinfo.Loop, err error) error {
	fmt.Fprintf(a.Err, "pawl: process %d continues %s if no session takes it within %s; or at once:  pawl resume %[2]s\n",
		s.Driver.PID, s.ID, figure.Duration(launch.TakeTimeout))
	return err
}

// releaseTimeout is how long a runner may take to finish its step.
const releaseTimeout = time.Minute

// awaitRelease asks the loop's runner to release the loop, and waits until it has.
func (a *app) awaitRelease(ctx context.Context, s *loopinfo.Loop) error {
	if err := post(s, record.MessageToSession, "a user moves it into their session"); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "pawl: waiting for process %d to release %s\n", s.Driver.PID, s.ID)
	free, err := launch.Poll(ctx, releaseTimeout, func() (bool, error) {
		_, alive, err := s.Holder()
		return !alive, err
	})
	if free || err != nil {
		return err
	}
	return failure.New(failure.Error, "it was asked to and will; then run  pawl start --take "+s.ID+"  once more",
		"process %d has not released loop %s within %s", s.Driver.PID, s.ID, figure.Duration(releaseTimeout))
}

// printTakenLoop says that a loop continues in the calling session, and prints its first prompt.
func (a *app) printTakenLoop(s *loopinfo.Loop, begun *launch.SessionLoop, in launch.UserSession) error {
	if err := errors.Join(a.background().ContinueGates(begun), a.startDaemon(in.Session)); err != nil {
		return err
	}
	st := begun.Memory.State
	a.printf("loop %s continues in this session: %s\n", s.ID, term.Clean(plan.OneLine(s.Spec.Goal(), 0)))
	line := func(name, words string) { a.printf("  %-7s  %s\n", name, term.Clean(plan.OneLine(words, 0))) }
	for _, words := range gatesWords(s.Spec.Verification, begun) {
		line("gate", words)
	}
	line("limits", fmt.Sprintf("%s · this is iteration %d", limits(st.Policy.Limits), st.Iteration))
	if st.Policy.Handover {
		line("then", handoverWords(st.Policy))
	}
	line("tree", treeWords(s.Spec.Repository))
	line("steer", fmt.Sprintf("! pawl status %s, ! pawl stop %[1]s, ! pawl handover %[1]s (back to fresh sessions)", s.ID))
	a.print("\n" + firstPrompt(begun, maxPrintedPromptBytes))
	return nil
}
