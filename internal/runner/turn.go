package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

const (
	maxWarmContexts  = 20        // contexts of one process before it is replaced
	maxWarmRSS       = 500 << 20 // bytes of memory at which it is replaced
	maxFreshRefusals = 2         // consecutive failures after which no fresh context is requested
	maxTextBytes     = 16 << 10  // bytes of the agent's last message in the journal
)

// turn runs one turn of the agent. A failure of the agent is an event. An error means that
// Pawl failed.
func (r *Runner) turn(ctx context.Context, a loop.BeginTurn, m memory.ActionContext) (loop.EventPayload, error) {
	if err := r.checkCommitMessage(ctx, a.Task, m); err != nil {
		return nil, err
	}
	r.callBeforeTurn(ctx, m.Facts)
	dir, err := r.Loop.IterationDir(a.Iteration)
	if err != nil {
		return nil, fmt.Errorf("make the iteration's folder: %w", err)
	}
	log := filepath.Join(dir, "stream.jsonl.gz")
	s, remembers, err := r.openSession(ctx, a.Fresh, m.Session, log)
	if err != nil {
		return r.startFailure(ctx, err)
	}
	if !remembers && assumesMemory(a.Situation) {
		a.Situation = loop.FreshRecap
	}
	text, err := r.turnPrompt(a, m)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "prompt.md"), []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("keep the prompt: %w", err)
	}
	if err := r.prepareTools(ctx, a, m, text); err != nil {
		return nil, err
	}
	version, prior := m.Session.Version, m.Session.CostUSD
	if a.Fresh {
		prior = 0
	}
	watch, done := r.watchTurn(ctx, a.Iteration)
	defer done()
	r.hasToolClaim.Store(false)
	var tested *loop.TestRun
	res, err := s.Turn(ctx, agent.Turn{
		Prompt: text, Timeout: m.Limits.Turn, IdleTimeout: r.Spec.IdleTimeout, MaxCostUSD: costLeft(m),
		LogPath: log, Final: r.isFinal, Messages: r.turnMessages,
	}, func(e agent.Event) {
		if e.Kind == agent.KindInit {
			version = e.Text
			r.enqueueSession(ctx, memory.Session{ID: s.ID(), CostUSD: prior, Version: e.Text, Model: e.Model})
		}
		tested = cmp.Or(r.recordTestRun(ctx, e.Ran), tested)
		if err := r.authors.Observe(e, r.isOwnTool(e.Does)); err != nil {
			r.enqueueNote(ctx, loop.Warning, err.Error())
		}
		watch(e)
	})
	if err != nil {
		return nil, fmt.Errorf("run a turn of %s: %w", r.Agent.Name(), err)
	}
	if err := r.authors.TurnEnded(res); err != nil {
		return nil, err
	}
	r.noteSwept(ctx, res.Swept)
	if res.Failure != nil {
		r.replaceSession(ctx) // the client's state is unknown: a new process continues the session
	}
	r.turnSession = memory.Session{ID: cmp.Or(res.SessionID, s.ID()), CostUSD: res.SessionCostUSD, Version: version, Model: res.Model}
	return r.turnEnd(a, res, tested), nil
}

// isFinal reports whether the agent has ended its turn by a claim or a question.
func (r *Runner) isFinal(text string) bool {
	return r.hasToolClaim.Load() || len(claim.Parse(text, r.Spec.Promise)) > 0 || record.FindQuestion(text) != nil
}

// noteSwept notes that n processes which a turn left running were ended.
func (r *Runner) noteSwept(ctx context.Context, n int) {
	if n > 0 {
		words := fmt.Sprintf("processes that the turn left running, ended before its work is checked: %d", n)
		r.enqueue(ctx, func(context.Context) error { r.note(loop.Info, words); return nil })
	}
}

// noteOrphans names the processes that run on after the loop's end. Processes of turns were
// ended; these are daemons of gates, which the next run may use. Processes of a user's session
// are not tagged, so they are not named.
func (r *Runner) noteOrphans(ctx context.Context) {
	orphans := proc.Orphans(r.Loop.ID)
	for i, process := range orphans {
		orphans[i] = plan.OneLine(process, 100)
		if r.Redact != nil {
			orphans[i] = r.Redact.String(orphans[i])
		}
	}
	if len(orphans) == 0 {
		return
	}
	orphans = firstN(orphans, maxListed)
	r.enqueue(ctx, func(context.Context) error {
		r.recordNote(memory.Note{Level: loop.Warning, Text: "processes that gates started still run: " + strings.Join(orphans, "; "), Orphans: orphans})
		return nil
	})
}

const maxListed = 5 // processes or files that a note names

// turnEnd returns the event for the result of a turn and the agent's last test run in it.
func (r *Runner) turnEnd(a loop.BeginTurn, res agent.Result, tested *loop.TestRun) loop.EventPayload {
	turn := r.turnResult(res)
	turn.Test = tested
	if res.Failure == nil {
		return loop.TurnEnded{Isolated: a.Isolated, Turn: *turn}
	}
	failure := *res.Failure
	failure.Background = r.IsBackground != nil && r.IsBackground()
	return loop.AgentFailed{Isolated: a.Isolated, Turn: turn, Failure: failure}
}

// watchTurn returns a handler for the events of a turn. It writes the transcript, displays the
// events, records delivered messages, and ends the turn when the loop has used up its tokens.
// The caller calls done when the turn has ended.
func (r *Runner) watchTurn(ctx context.Context, iteration int) (watch func(agent.Event), done func()) {
	keep, done := r.startTranscript(ctx, iteration)
	return func(e agent.Event) {
		keep(e)
		if e.Kind == agent.KindUsage {
			r.enqueue(ctx, func(ctx context.Context) error { return r.checkTokens(ctx, e.Usage) })
		}
		if e.Kind == agent.KindTold {
			r.sendEvent(ctx, loop.Event{Payload: loop.Delivered{MessageIDs: []string{e.Text}}})
		}
		r.enqueue(ctx, func(context.Context) error { r.Observer.Agent(e); return nil })
	}, done
}

// startFailure returns the event for a client that could not start: it may start later.
func (r *Runner) startFailure(ctx context.Context, err error) (loop.EventPayload, error) {
	if ctx.Err() != nil || failure.CodeOf(err) == failure.Usage {
		return nil, err
	}
	return loop.AgentFailed{Failure: notStarted(err)}, nil
}

func notStarted(err error) loop.Failure {
	return loop.Failure{
		Class: loop.NotStarted, Message: err.Error(), Hint: failure.Hint(err),
		Missing: errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist),
	}
}

// enqueueSession journals the session as soon as it has an id, so that the next owner can
// continue it if this one dies during the turn.
func (r *Runner) enqueueSession(ctx context.Context, s memory.Session) {
	r.enqueue(ctx, func(context.Context) error { return r.setSession(s) })
}

// setSession journals the session if it has changed. It must run in Run's goroutine.
func (r *Runner) setSession(s memory.Session) error {
	if s == r.mem.Session {
		return nil
	}
	r.mem.Session = s
	return r.appendRecord(memory.TypeSession, s)
}

// costLeft returns what the loop may still spend in USD; 0: unlimited.
func costLeft(m memory.ActionContext) float64 {
	limit := m.Limits.CostUSD
	if limit <= 0 {
		return 0
	}
	return max(limit-m.Usage.CostUSD, 0.000001)
}

// checkTokens checks during a turn whether the loop has used up its tokens. It must run in
// Run's goroutine, since a user may change the limit during the turn.
func (r *Runner) checkTokens(ctx context.Context, turn loop.Usage) error {
	if !r.mem.State.OverTokens(turn) {
		return nil
	}
	return r.step(ctx, loop.Event{Payload: loop.LimitHit{Limit: loop.Budget}})
}

// assumesMemory reports whether the prompt of a situation is short because the context has
// an earlier prompt. A new context gets a complete prompt.
func assumesMemory(s loop.Situation) bool {
	return s == loop.NoClaim || s == loop.GatesFailed || s == loop.ClaimRefused || s == loop.Violation
}

// openSession returns the session for a turn: the open one, the last one resumed in a new
// process, or a fresh one. It reports whether the agent remembers the last turn. An agent
// without sessions never does.
func (r *Runner) openSession(ctx context.Context, fresh bool, last memory.Session, log string) (s agent.Session, remembers bool, err error) {
	if fresh {
		// If this process dies before the session has an id, the old one must not be resumed.
		r.enqueueSession(ctx, memory.Session{Version: last.Version, Model: last.Model})
		if !r.clearContext(ctx) {
			r.replaceSession(ctx)
		}
	}
	if r.session != nil {
		if fresh {
			r.guard.newContext()
		}
		return r.session, !fresh && r.session.ID() != "", nil
	}
	o := r.sessionOptions(log)
	if !fresh {
		o.Resume, o.PriorCostUSD = last.ID, last.CostUSD
	}
	s, err = r.Agent.Start(ctx, o)
	if err != nil && o.Resume != "" && ctx.Err() == nil {
		// The client may have forgotten the session; the work and the recap stay.
		r.enqueueNote(ctx, loop.Warning, "the session could not be resumed; a fresh one continues: "+err.Error())
		o.Resume, o.PriorCostUSD = "", 0
		r.enqueueSession(ctx, memory.Session{Version: last.Version})
		s, err = r.Agent.Start(ctx, o)
	}
	if err != nil {
		return nil, false, fmt.Errorf("start %s: %w", r.Agent.Name(), err)
	}
	r.session, r.contextCount = s, 1
	if o.Resume == "" {
		r.guard.newContext()
	}
	return s, o.Resume != "", nil
}

// sessionOptions returns the options of all sessions of the loop's agent.
func (r *Runner) sessionOptions(log string) agent.Options {
	return agent.Options{
		Dir: r.Repo.Root(), Model: r.Spec.Agent.Model, Args: r.Spec.Agent.Args, Env: r.Spec.Agent.Env, Prefix: r.Prefix,
		Marker: r.Loop.ID, LogPath: log, Redact: r.Redact, CheckTool: r.checkCall, Tools: r.Tools,
		MeasureContext: r.Spec.Policy.Session == loop.Hybrid,
	}
}

// clearContext clears the context of a warm session. It reports whether that succeeded.
func (r *Runner) clearContext(ctx context.Context) bool {
	w, ok := r.session.(agent.Warm)
	if !ok || !r.Spec.Warm || r.freshRefusals >= maxFreshRefusals || r.contextCount >= maxWarmContexts || w.RSS() > maxWarmRSS {
		return false
	}
	if err := w.Fresh(ctx); err != nil {
		r.freshRefusals++
		r.enqueueNote(ctx, loop.Info, "the fresh session gets a new process of the agent: "+err.Error())
		return false
	}
	r.freshRefusals = 0
	r.contextCount++
	return true
}

// closeSession ends the session's processes, if there are any.
func (r *Runner) closeSession() error {
	if r.session == nil {
		return nil
	}
	err := r.session.Close()
	r.session = nil
	if failed := r.authors.SessionEnded(); err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("the agent's session did not close cleanly: %w", err)
	}
	return nil
}

// replaceSession makes the next turn start a new process.
func (r *Runner) replaceSession(ctx context.Context) {
	if err := r.closeSession(); err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
	}
}

// turnResult converts the result of a turn to the type of the state machine.
func (r *Runner) turnResult(res agent.Result) *loop.Turn {
	_, blind := r.Agent.(agent.Blind)
	t := &loop.Turn{
		Usage: res.Usage, ToolCallsHidden: blind,
		ToolCalls: res.ToolCalls, Rounds: res.Rounds, ContextPercent: res.ContextPercent, Background: res.Background,
		SessionID: res.SessionID, Text: tail(res.Text, maxTextBytes), Claim: r.Spec.FindClaim(res.Text), Question: record.FindQuestion(res.Text), Unreadable: claim.HasMalformedQuestion(res.Text),
	}
	if t.Claim == nil {
		t.OtherPromise = r.Spec.FindOtherPromise(res.Text)
	}
	return t
}

// tail returns the last n bytes of a text or fewer, beginning with a whole rune.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}
