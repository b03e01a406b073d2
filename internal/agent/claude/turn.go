package claude

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

const (
	contextTimeout = 2 * time.Second
	// wakeGrace is how long after background work the client may take to wake
	// itself for its result (measured: 20 to 300 ms).
	wakeGrace = 2 * time.Second
	// backgroundWait is Turn.BackgroundWait if that is zero.
	backgroundWait = 10 * time.Minute
)

// turn is the state of one turn.
//
// It is at rest when a result has come, the model is not at work again, no
// message is queued or not yet begun, and no background work is awaited. Background work that
// ends wakes the client by itself and gives another result, so it is awaited,
// for a bounded time and once: a server that was started to stay is not waited
// for in the turns after, and a final message (Turn.Final) ends all waiting.
// When background work was seen, the stream must also
// have been still for a moment, because the client takes it to wake up.
type turn struct {
	*session
	opts agent.Turn
	emit func(agent.Event)

	begun    time.Time
	sign     time.Time             // the last sign of life
	tools    map[string]calledTool // running tools, by id
	result   *line                 // of the last completed run of the model
	resultAt time.Time
	trouble  requestError // as told by the client's last error message
	hadTasks bool
	before   map[string]bool // background work from earlier turns
	text     string
	used     int64 // tokens in the context at the last response
	r        agent.Result
	failure  *loop.Failure
	retried  string // the repeated failure since the model's last response

	bill     costCheck
	owed     map[string]string // messages that the client has not begun, by its id
	saidAt   time.Time         // when the last was sent
	finished bool              // no tool may run any more
}

// Turn runs one turn, see agent.Session.
func (s *session) Turn(ctx context.Context, o agent.Turn, emit func(agent.Event)) (agent.Result, error) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.stopIdleReader()
	defer s.startIdleReader()
	if emit == nil {
		emit = func(agent.Event) {}
	}
	if o.BackgroundWait <= 0 {
		o.BackgroundWait = backgroundWait
	}
	if err := s.log.moveTo(o.LogPath); err != nil {
		return agent.Result{}, err
	}
	now := time.Now()
	t := &turn{
		session: s, opts: o, emit: emit, begun: now, sign: now,
		tools: map[string]calledTool{}, owed: map[string]string{}, before: map[string]bool{}, bill: costCheck{counted: map[string]bool{}},
	}
	for _, task := range s.tasks {
		t.before[task.ID] = true
	}
	if ctx.Err() == nil {
		if err := t.begin(ctx); err != nil && !errors.Is(err, errGone) {
			return agent.Result{}, fmt.Errorf("begin turn: %w", err)
		}
	}
	t.run(ctx)
	return t.finish(ctx), nil
}

// begin sends the prompt, to a client that is at rest.
func (t *turn) begin(ctx context.Context) error {
	if t.busy { // it woke itself
		t.interrupt(ctx, t.handleIdle)
	}
	t.busy = true
	return t.send(userMessage(t.opts.Prompt))
}

// run handles the stream until the turn is at rest or has failed.
func (t *turn) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for t.failure == nil && !t.atRest(time.Now()) {
		timer.Reset(time.Until(t.nextCheck()))
		select {
		case it, ok := <-t.items:
			if !ok {
				t.failure = t.crashed()
				return
			}
			t.handle(it)
		case m := <-t.opts.Messages:
			t.sendMessage(m)
		case <-timer.C:
			t.check(time.Now())
		case <-ctx.Done():
			t.failure = &loop.Failure{Class: loop.Interrupted, Message: "the turn was interrupted", RetriedError: t.retried}
		}
	}
}

func (t *turn) crashed() *loop.Failure {
	select {
	case <-t.closing:
		return &loop.Failure{Class: loop.Interrupted, Message: "the session was closed"}
	default:
	}
	return &loop.Failure{Class: loop.Crashed, Message: t.exitError().Error()}
}

// awaited reports whether background work is still waited for.
func (t *turn) awaited() bool {
	for _, task := range t.tasks {
		if !t.waited[task.ID] {
			return true
		}
	}
	return false
}

func (t *turn) atRest(now time.Time) bool {
	if t.result == nil || t.busy || t.result.QueuedTurns > 0 {
		return false
	}
	if len(t.owed) > 0 && now.Before(t.messageDeadline()) {
		return false
	}
	if t.awaited() {
		return !now.Before(t.resultAt.Add(t.opts.BackgroundWait)) || t.opts.Final != nil && t.opts.Final(t.text)
	}
	return !t.hadTasks || !now.Before(t.sign.Add(wakeGrace))
}

// nextCheck returns the next time at which something is due without a line from the client.
func (t *turn) nextCheck() time.Time {
	at := t.begun.Add(24 * time.Hour)
	earlier := func(when time.Time) {
		if when.Before(at) {
			at = when
		}
	}
	if t.opts.Timeout > 0 {
		earlier(t.begun.Add(t.opts.Timeout))
	}
	if t.opts.IdleTimeout > 0 && t.isSilenceChecked() {
		earlier(t.sign.Add(t.opts.IdleTimeout))
	}
	if len(t.bill.held) > 0 {
		earlier(t.bill.due)
	}
	if t.result != nil && !t.busy {
		if len(t.owed) > 0 {
			earlier(t.messageDeadline())
		}
		if t.awaited() {
			earlier(t.resultAt.Add(t.opts.BackgroundWait))
		} else {
			earlier(t.sign.Add(wakeGrace))
		}
	}
	return at
}

// isSilenceChecked reports whether silence is a sign of failure: not while a tool or background work runs.
func (t *turn) isSilenceChecked() bool { return len(t.tools) == 0 && t.busy }

// check does what is due.
func (t *turn) check(now time.Time) {
	switch {
	case t.opts.Timeout > 0 && !now.Before(t.begun.Add(t.opts.Timeout)):
		t.failure = &loop.Failure{
			Class: loop.TimedOut, Message: fmt.Sprintf("the turn took longer than %v", t.opts.Timeout),
		}
	case t.opts.IdleTimeout > 0 && t.isSilenceChecked() && !now.Before(t.sign.Add(t.opts.IdleTimeout)):
		t.failure = &loop.Failure{
			Class: loop.Silent, Message: fmt.Sprintf("no output for %v", t.opts.IdleTimeout),
		}
	case len(t.bill.held) > 0 && !now.Before(t.bill.due):
		t.askAgain(now)
	case len(t.owed) > 0 && t.result != nil && !t.busy && !now.Before(t.messageDeadline()):
		clear(t.owed)
	}
}

// finish stops a failed turn, asks for the context's fill level and sums up the usage.
func (t *turn) finish(ctx context.Context) agent.Result {
	t.finished = true
	t.releaseCalls()
	if t.failure != nil && t.busy {
		t.interrupt(ctx, t.handle)
	}
	t.mounted.cancelCalls()
	for _, task := range t.tasks {
		t.waited[task.ID] = true
		if !t.before[task.ID] {
			t.r.Background = append(t.r.Background, task.Description)
		}
	}
	if len(t.tasks) == 0 {
		t.r.Swept = t.p.SweepSessions() // processes that its commands left; its helpers stay
	}
	t.r.ContextPercent = t.contextFill(ctx)
	if t.r.ContextPercent >= 0 {
		t.emit(agent.Event{Kind: agent.KindContext, ContextPercent: t.r.ContextPercent})
	}
	t.r.Text, t.r.SessionID, t.r.Model = t.text, t.ID(), t.model
	t.r.Usage, t.r.SessionCostUSD = t.meter.turn(), t.meter.now.CostUSD
	t.r.Beside = t.hadTasks || len(t.tasks) > 0
	t.r.Rounds = len(t.bill.counted) // num_turns of the client differs in a turn that was cut off
	t.meter.closeTurn()
	t.r.Failure = t.failure
	return t.r
}

// contextFill returns how full the context is, in percent: as the client reports it where a
// decision depends on it, else by the last response; -1 if unknown.
func (t *turn) contextFill(ctx context.Context) int {
	if !t.o.MeasureContext {
		return t.estimateFill()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), contextTimeout)
	defer cancel()
	if raw, err := t.call(ctx, "get_context_usage", t.handle); err == nil {
		if p, ok := contextPercent(raw); ok {
			return p
		}
	}
	return t.estimateFill()
}

func (t *turn) estimateFill() int {
	if t.window <= 0 || t.used <= 0 {
		return -1
	}
	return clampPercent(100 * float64(t.used) / float64(t.window))
}
