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
	maxWarmContexts  = 20        // that one process has before it is replaced
	maxWarmRSS       = 500 << 20 // bytes of memory at which it is replaced
	maxFreshRefusals = 2         // in a row, after which no process is asked any more
	maxTextBytes     = 16 << 10  // of the agent's last message that the journal keeps
)

// turn runs one turn of the agent. A failure of the agent is an event; an error
// is Pawl's own.
func (r *Runner) turn(ctx context.Context, a loop.Action, m memory.ActionContext) (loop.Event, error) {
	if err := r.checkCommitMessage(ctx, a.Task, m); err != nil {
		return loop.Event{}, err
	}
	r.callBeforeTurn(ctx, m.Facts)
	dir, err := r.Loop.IterationDir(a.Iteration)
	if err != nil {
		return loop.Event{}, fmt.Errorf("make the iteration's folder: %w", err)
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
		return loop.Event{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "prompt.md"), []byte(text), 0o600); err != nil {
		return loop.Event{}, fmt.Errorf("keep the prompt: %w", err)
	}
	if err := r.prepareTools(ctx, a, m, text); err != nil {
		return loop.Event{}, err
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
		Prompt: text, Timeout: r.Spec.TurnTimeout, IdleTimeout: r.Spec.IdleTimeout, MaxCostUSD: costLeft(m),
		LogPath: log, Final: r.isFinal, Messages: r.turnMessages,
	}, func(e agent.Event) {
		if e.Kind == agent.KindInit {
			version = e.Text
			r.enqueueSession(ctx, memory.Session{ID: s.ID(), CostUSD: prior, Version: e.Text, Model: e.Model})
		}
		tested = cmp.Or(r.recordTestRun(ctx, e.Ran), tested)
		r.trackCall(ctx, e)
		watch(e)
	})
	if err != nil {
		return loop.Event{}, fmt.Errorf("run a turn of %s: %w", r.Agent.Name(), err)
	}
	if err := r.recordSpan(r.tools.turnEnded(res)); err != nil {
		return loop.Event{}, err
	}
	r.noteSwept(ctx, res.Swept)
	if res.Failure != nil {
		r.replaceSession(ctx) // the client may be in any state: a new process takes the session up
	}
	r.turnSession = memory.Session{ID: cmp.Or(res.SessionID, s.ID()), CostUSD: res.SessionCostUSD, Version: version, Model: res.Model}
	e := r.turnEvent(a, res)
	e.Turn.Test = tested
	return e, nil
}

// isFinal tells whether the agent has said its last word of a turn: a claim or a question.
func (r *Runner) isFinal(text string) bool {
	return r.hasToolClaim.Load() || len(claim.Parse(text, r.Spec.Promise)) > 0 || record.FindQuestion(text) != nil
}

// noteSwept tells that n processes which a turn left running were ended.
func (r *Runner) noteSwept(ctx context.Context, n int) {
	if n > 0 {
		words := fmt.Sprintf("processes that the turn left running, ended before its work is judged: %d", n)
		r.enqueue(ctx, func(context.Context) error { r.note(loop.Info, words); return nil })
	}
}

// noteOrphans names the processes that run on after the loop's end. What turns left was
// ended; these are daemons of gates, which may be of use to the next run. What a
// user's session starts is not marked as the loop's.
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
		r.recordNote(memory.Note{Level: loop.Warning, Text: "processes that gates started run on: " + strings.Join(orphans, "; "), Orphans: orphans})
		return nil
	})
}

const maxListed = 5 // processes that are named

// turnEvent is what a turn came to.
func (r *Runner) turnEvent(a loop.Action, res agent.Result) loop.Event {
	e := loop.Event{Kind: loop.TurnEnded, Isolated: a.Isolated, Turn: r.turnResult(res)}
	if e.Failure = res.Failure; e.Failure != nil {
		e.Kind = loop.AgentFailed
		e.Failure.Background = r.IsBackground != nil && r.IsBackground()
	}
	return e
}

// watchTurn passes on what happens in a turn, keeps its transcript, tells which messages it was given, and ends one
// with which the loop has used up its tokens. The caller calls done when the turn has ended.
func (r *Runner) watchTurn(ctx context.Context, iteration int) (watch func(agent.Event), done func()) {
	keep, done := r.startTranscript(ctx, iteration)
	return func(e agent.Event) {
		keep(e)
		if e.Kind == agent.KindUsage {
			r.enqueue(ctx, func(ctx context.Context) error { return r.checkTokens(ctx, e.Usage) })
		}
		if e.Kind == agent.KindTold {
			r.sendEvent(ctx, loop.Event{Kind: loop.Delivered, IDs: []string{e.Text}})
		}
		r.enqueue(ctx, func(context.Context) error { r.Observer.Agent(e); return nil })
	}, done
}

// startFailure: a client that does not come up may do so later.
func (r *Runner) startFailure(ctx context.Context, err error) (loop.Event, error) {
	if ctx.Err() != nil || failure.CodeOf(err) == failure.Usage {
		return loop.Event{}, err
	}
	return notStartedEvent(loop.Action{}, err), nil
}

func notStartedEvent(a loop.Action, err error) loop.Event {
	return loop.Event{Kind: loop.AgentFailed, Isolated: a.Isolated, Failure: &loop.Failure{
		Class: loop.NotStarted, Message: err.Error(), Hint: failure.Hint(err),
		Missing: errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist),
	}}
}

// enqueueSession journals the session as soon as it has a name: a runner that dies
// in mid-turn leaves it to its successor.
func (r *Runner) enqueueSession(ctx context.Context, s memory.Session) {
	r.enqueue(ctx, func(context.Context) error { return r.setSession(s) })
}

// setSession journals a session that is not the one known. In Run's goroutine.
func (r *Runner) setSession(s memory.Session) error {
	if s == r.mem.Session {
		return nil
	}
	r.mem.Session = s
	return r.appendRecord(memory.TypeSession, s)
}

// costLeft bounds a turn's cost by what the loop may still spend.
func costLeft(m memory.ActionContext) float64 {
	limit := m.Limits.CostUSD
	if limit <= 0 {
		return 0
	}
	return max(limit-m.Usage.CostUSD, 0.000001)
}

// checkTokens sees in mid-turn that the loop has used up its tokens. In Run's goroutine:
// a user may have changed the limit since the turn began.
func (r *Runner) checkTokens(ctx context.Context, turn loop.Usage) error {
	if !r.mem.State.OverTokens(turn) {
		return nil
	}
	return r.step(ctx, loop.Event{Kind: loop.LimitHit, Limit: loop.Budget})
}

// assumesMemory: the prompt of these situations is short, since the agent was told
// the rest before. A context that was not gets the whole.
func assumesMemory(s loop.Situation) bool {
	return s == loop.NoClaim || s == loop.GatesFailed || s == loop.ClaimRefused || s == loop.Violation
}

// openSession gives the session for a turn: the one under way, the same one
// taken up again in a new process, or a fresh context. It tells whether the
// agent remembers the turn before; one without sessions never does.
func (r *Runner) openSession(ctx context.Context, fresh bool, last memory.Session, log string) (s agent.Session, remembers bool, err error) {
	if fresh {
		// Should we die before it has a name, nobody may take up the one before.
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
		r.enqueueNote(ctx, loop.Warning, "the session could not be taken up again, a fresh one goes on: "+err.Error())
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

// sessionOptions are those of any session of the loop's agent.
func (r *Runner) sessionOptions(log string) agent.Options {
	return agent.Options{
		Dir: r.Repo.Root(), Model: r.Spec.Agent.Model, Args: r.Spec.Agent.Args, Env: r.Spec.Agent.Env, Prefix: r.Prefix,
		Marker: r.Loop.ID, LogPath: log, Redact: r.Redact, CheckTool: r.checkCall, Tools: r.Tools,
		MeasureContext: r.Spec.Policy.Session == loop.Hybrid,
	}
}

// clearContext empties the context of a warm session.
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
	if failed := r.recordSpan(r.tools.sessionEnded()); err == nil {
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

// turnResult is what the machine needs to know of a turn.
func (r *Runner) turnResult(res agent.Result) *loop.Turn {
	_, blind := r.Agent.(agent.Blind)
	return &loop.Turn{
		Usage: res.Usage, ToolCallsHidden: blind,
		ToolCalls: res.ToolCalls, Rounds: res.Rounds, ContextPercent: res.ContextPercent, Background: res.Background,
		SessionID: res.SessionID, Text: tail(res.Text, maxTextBytes), Claim: r.Spec.FindClaim(res.Text), Question: record.FindQuestion(res.Text), Unreadable: claim.HasMalformedQuestion(res.Text),
	}
}

// tail is the end of a text, at most n bytes, cut at a rune.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}
