package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// perform performs one action. Actions that end in an event run in a goroutine, one at a
// time: the state machine never requests two at once, and an action that a later one replaces
// is cancelled first.
func (r *Runner) perform(ctx context.Context, a loop.Action) error {
	switch p := a.Payload.(type) {
	case loop.Checkpoint:
		return r.async(ctx, a, bind(r.checkpoint, p))
	case loop.RunGates:
		return r.async(ctx, a, bind(r.runGates, p))
	case loop.BeginTurn:
		return r.beginTurn(ctx, a, p)
	case loop.Inspect:
		return r.async(ctx, a, bind(r.inspect, p))
	case loop.Commit:
		return r.async(ctx, a, bind(r.commit, p))
	case loop.Restore:
		return r.async(ctx, a, bind(r.restore, p))
	case loop.ReapplyWork:
		return r.async(ctx, a, bind(r.reapplyWork, p))
	case loop.Wait:
		return r.async(ctx, a, bind(r.waitUntil, p))
	case loop.EditPlan:
		return r.async(ctx, a, bind(r.editPlan, p))
	case loop.HandOver:
		return r.handOver(ctx, a.ID, p)
	case loop.Interrupt:
		r.action.interrupt()
	case loop.Deliver:
		return r.deliver(p.Messages)
	case loop.RestoreFiles:
		r.lastSnapshot.Store(nil)
		return r.restoreProtected(ctx, p.Paths)
	case loop.Note:
		r.note(p.Level, p.Text)
	case loop.Finish:
		return r.async(ctx, a, bind(r.finish, p))
	default:
		return fmt.Errorf("unknown action %q", a.Kind())
	}
	return nil
}

// beginTurn runs a turn. For a user's session it only writes the prompt.
func (r *Runner) beginTurn(ctx context.Context, a loop.Action, p loop.BeginTurn) error {
	if r.Spec.CompatFormat == statefile.VerifyActiveName {
		r.heading = r.files().ProgressLine(r.mem.State)
	}
	switch {
	case p.Isolated:
		r.updateFiles()
		return r.async(ctx, a, bind(r.runIsolated, p))
	case r.inSession:
		if r.mem.TurnsBegun == 1 { // for later turns the session's hook does it
			r.updateFiles()
		}
		if err := r.action.cancelAndWait(); err != nil {
			return err
		}
		return r.writePrompts(p)
	default:
		r.updateFiles()
		r.startMutationTests(ctx)
		r.turnMessages, r.sentMessages = make(chan agent.Message, maxTurnMessages), map[string]bool{}
		return r.async(ctx, a, r.attributeAfterIdle(bind(r.turn, p)))
	}
}

// performer performs an action and returns the event that ends it; m is the context at its start.
type performer func(ctx context.Context, m memory.ActionContext) (loop.EventPayload, error)

// bind returns the performer of an action.
func bind[P loop.ActionPayload](do func(context.Context, P, memory.ActionContext) (loop.EventPayload, error), p P) performer {
	return func(ctx context.Context, m memory.ActionContext) (loop.EventPayload, error) { return do(ctx, p, m) }
}

// runningAction is an action that runs in a goroutine and ends in an event.
type runningAction struct {
	kind   loop.ActionKind
	cancel context.CancelFunc
	done   chan struct{}
	stuck  bool // it did not end in time; nothing else may use its resources
}

// maxCancelTime is how long an action may take to end after it is cancelled: longer than a
// git command that must not be interrupted, or a process that ignores SIGTERM.
const maxCancelTime = 3 * time.Minute

// errStuck means that an action did not end. The loop stays as it is for its next owner.
var errStuck = errors.New("it has not ended")

// interrupt cancels the action. A turn and the end of a loop still end in their events.
func (u *runningAction) interrupt() {
	if u != nil {
		u.cancel()
	}
}

// cancelAndWait cancels an action whose event is no longer needed, and waits for its end. It
// returns errStuck if the action does not end in time, and immediately on further calls.
func (u *runningAction) cancelAndWait() error {
	if u == nil {
		return nil
	}
	u.cancel()
	late := time.NewTimer(maxCancelTime)
	defer late.Stop()
	if u.stuck {
		late.Reset(0)
	}
	select {
	case <-u.done:
		return nil
	case <-late.C:
		u.stuck = true
		return fmt.Errorf("%s was cancelled %s ago: %w", u.kind, maxCancelTime, errStuck)
	}
}

// async performs an action in a goroutine and sends its event. After a cancellation only a
// turn and the end of a loop send one: the state machine no longer waits for the others.
func (r *Runner) async(ctx context.Context, a loop.Action, do performer) error {
	if err := r.action.cancelAndWait(); err != nil {
		return err
	}
	actx, cancel := context.WithCancel(ctx)
	u := &runningAction{kind: a.Kind(), cancel: cancel, done: make(chan struct{})}
	r.action = u
	m := r.mem.ActionContext()
	r.turnSession = memory.Session{}
	r.previousSnapshot = r.lastSnapshot.Swap(nil)
	turn, isTurn := a.Payload.(loop.BeginTurn)
	_, isEnd := a.Payload.(loop.Finish)
	if !isTurn {
		do = r.regainLost(do)
	}
	go func() {
		defer cancel()
		end, err := recoverPanics(a.Kind(), do)(actx, m)
		cut, came := actx.Err() != nil, r.turnSession
		close(u.done)
		switch {
		case cut && !isTurn && !isEnd:
		case cut && isTurn && err != nil:
			r.sendEvent(ctx, loop.Event{ActionID: a.ID, Payload: loop.AgentFailed{Isolated: turn.Isolated, Failure: loop.Failure{
				Class: loop.Interrupted, Message: err.Error(),
			}}})
		case err != nil:
			r.sendEvent(ctx, loop.Event{ActionID: a.ID, Payload: faulted(err)})
		default:
			r.enqueue(ctx, func(ctx context.Context) error {
				if came != (memory.Session{}) {
					if err := r.setSession(came); err != nil {
						return err
					}
				}
				if isTurn {
					if err := r.receiveBeforeTurnEnd(ctx); err != nil {
						return err
					}
					end = r.withToolClaim(end)
				}
				return r.step(ctx, loop.Event{ActionID: a.ID, Payload: end})
			})
		}
	}()
	return nil
}

// regainLost returns a performer that, if git has lost an object, stores the files of the work tree
// again and repeats the action: the user's git gc may have deleted a tree that no ref has yet.
func (r *Runner) regainLost(do performer) performer {
	return func(ctx context.Context, m memory.ActionContext) (loop.EventPayload, error) {
		end, err := do(ctx, m)
		if !errors.Is(err, git.ErrLost) {
			return end, err
		}
		if _, _, failed := r.Repo.Snapshot(ctx); failed != nil {
			return end, err
		}
		return do(ctx, m)
	}
}

// needsUser is an error whose hint the user can follow at once: the loop waits for that.
type needsUser struct{ error }

func (e needsUser) Unwrap() error { return e.error }

// faulted returns the event of an action that could not be performed.
func faulted(err error) loop.Faulted {
	hint := failure.Hint(err)
	needs, ok := errors.AsType[needsUser](err)
	if ok {
		err = needs // what was being done tells the user nothing
	}
	return loop.Faulted{Error: err.Error(), Hint: hint, Lost: errors.Is(err, git.ErrLost), NeedsUser: ok, Moved: errors.Is(err, errMoved)}
}

// recoverPanics returns a performer that turns a panic into an error. A bug of Pawl then ends the
// loop with a message and an outcome, and the process can still clean up.
func recoverPanics(kind loop.ActionKind, do performer) performer {
	return func(ctx context.Context, m memory.ActionContext) (end loop.EventPayload, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = failure.New(failure.Error, "this is a mistake in Pawl: please report it; the work is kept, and  pawl resume  tries again",
					"Pawl failed inside (%s): %v%s", kind, p, panicOrigin(debug.Stack()))
			}
		}()
		return do(ctx, m)
	}
}

// panicOrigin returns the first location of Pawl's code in the stack of a panic, such as
// " at sign/imports.go:165".
func panicOrigin(stack []byte) string {
	_, after, _ := strings.Cut(string(stack), "\npanic(")
	if m := pawlFrame.FindStringSubmatch(after); m != nil {
		return " at " + m[1]
	}
	return ""
}

var pawlFrame = regex.New(`/internal/([\w/.]+\.go:\d+)`)

// receiveBeforeTurnEnd receives the messages that came while the turn ran, since the agent's
// claims by its tools are part of the turn.
func (r *Runner) receiveBeforeTurnEnd(ctx context.Context) error {
	if !r.inSession {
		if err := r.receiveFileChanges(ctx); err != nil {
			return err
		}
	}
	return r.receiveMessages(ctx)
}

// withToolClaim returns the end of a turn with what the agent claimed by its tools in it.
func (r *Runner) withToolClaim(end loop.EventPayload) loop.EventPayload {
	switch p := end.(type) {
	case loop.TurnEnded:
		r.mem.AddToolClaim(&p.Turn)
		return p
	case loop.AgentFailed:
		r.mem.AddToolClaim(p.Turn)
	}
	return end
}

// isRepeatable reports whether an action has the same result if it runs again, and costs no turn
// of an agent and no time of a user. The journal need not be synced before it.
func isRepeatable(a loop.Action) bool {
	switch a.Payload.(type) {
	case loop.Inspect, loop.RunGates, loop.Checkpoint:
		return true
	}
	return false
}
