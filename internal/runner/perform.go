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
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// perform does one action. Those that ask for an answer run in a goroutine,
// one at a time: the machine never asks for two things at once, and what a
// later action overtakes is cut short before.
func (r *Runner) perform(ctx context.Context, a loop.Action) error {
	switch a.Do {
	case loop.Checkpoint:
		return r.async(ctx, a, r.checkpoint)
	case loop.RunGates:
		return r.async(ctx, a, r.runGates)
	case loop.BeginTurn:
		return r.beginTurn(ctx, a)
	case loop.Inspect:
		return r.async(ctx, a, r.inspect)
	case loop.Commit:
		return r.async(ctx, a, r.commit)
	case loop.Restore:
		return r.async(ctx, a, r.restore)
	case loop.Wait:
		return r.async(ctx, a, r.waitUntil)
	case loop.EditPlan:
		return r.async(ctx, a, r.editPlan)
	case loop.HandOver:
		return r.handOver(ctx, a)
	case loop.Interrupt:
		r.action.interrupt()
	case loop.Deliver:
		return r.deliver(a.Messages)
	case loop.RestoreFiles:
		r.lastSnapshot.Store(nil)
		return r.restoreProtected(ctx, a.Paths)
	case loop.Notify:
		r.note(a.Level, a.Text)
	case loop.Finish:
		return r.async(ctx, a, r.finish)
	default:
		return fmt.Errorf("unknown action %q", a.Do)
	}
	return nil
}

// beginTurn runs a turn; one of the user's session is only made ready.
func (r *Runner) beginTurn(ctx context.Context, a loop.Action) error {
	if r.Spec.CompatFormat == statefile.VerifyActiveName {
		r.heading = r.files().ProgressLine(r.mem.State)
	}
	switch {
	case a.Isolated:
		r.updateFiles()
		return r.async(ctx, a, r.runIsolated)
	case r.attended():
		if r.mem.TurnsBegun == 1 { // the others are given by a hook, which tells the files
			r.updateFiles()
		}
		if err := r.action.cancelAndWait(); err != nil {
			return err
		}
		return r.writePrompts(a)
	default:
		r.updateFiles()
		r.startMutationTests(ctx)
		r.turnMessages, r.sentMessages = make(chan agent.Message, maxTurnMessages), map[string]bool{}
		return r.async(ctx, a, r.attributeAfterIdle(r.turn))
	}
}

// performer performs an action; m is how things stood when it began.
type performer func(ctx context.Context, a loop.Action, m memory.ActionContext) (loop.Event, error)

// runningAction is an action that will end in an event.
type runningAction struct {
	do     loop.ActionKind
	cancel context.CancelFunc
	done   chan struct{}
	stuck  bool // it has not ended in time; nothing else may touch what it uses
}

// maxCancelTime is how long an action may take to end once it is cancelled: longer
// than a git that is not to be interrupted, or a process that ignores a TERM.
const maxCancelTime = 3 * time.Minute

// errStuck says that an action did not end. The loop is left as it is, for its
// next owner.
var errStuck = errors.New("it has not ended")

// interrupt asks the action to come to its end; a turn then answers for itself.
func (u *runningAction) interrupt() {
	if u != nil {
		u.cancel()
	}
}

// cancelAndWait ends an action whose answer nobody waits for any more. It returns
// errStuck if the action does not end in time, and at once when asked again.
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
		return fmt.Errorf("%s was cancelled %s ago: %w", u.do, maxCancelTime, errStuck)
	}
}

// async performs an action that ends in an event. When it is cut short, only a
// turn still answers, whatever it was at: the machine has gone on without the
// others.
func (r *Runner) async(ctx context.Context, a loop.Action, do performer) error {
	if err := r.action.cancelAndWait(); err != nil {
		return err
	}
	actx, cancel := context.WithCancel(ctx)
	u := &runningAction{do: a.Do, cancel: cancel, done: make(chan struct{})}
	r.action = u
	m := r.mem.ActionContext()
	r.turnSession = memory.Session{}
	r.previousSnapshot = r.lastSnapshot.Swap(nil)
	go func() {
		defer cancel()
		e, err := recoverPanics(do)(actx, a, m)
		cut, came := actx.Err() != nil, r.turnSession
		close(u.done)
		switch {
		case cut && a.Do != loop.BeginTurn:
		case cut && err != nil:
			r.sendEvent(ctx, loop.Event{Kind: loop.AgentFailed, ActionID: a.ID, Isolated: a.Isolated, Failure: &loop.Failure{
				Class: loop.Interrupted, Message: err.Error(),
			}})
		case err != nil:
			r.sendEvent(ctx, loop.Event{Kind: loop.Faulted, ActionID: a.ID, Text: err.Error(), Hint: failure.Hint(err)})
		default:
			r.enqueue(ctx, func(ctx context.Context) error {
				if came != (memory.Session{}) {
					if err := r.setSession(came); err != nil {
						return err
					}
				}
				if a.Do == loop.BeginTurn {
					if err := r.receiveBeforeTurnEnd(ctx, e.Turn); err != nil {
						return err
					}
				}
				e.ActionID = a.ID
				return r.step(ctx, e)
			})
		}
	}()
	return nil
}

// recoverPanics performs an action so that a panic in it is an error: a mistake of Pawl's, say in
// reading a source file that it does not understand, ends the loop with words and an
// outcome, and not the process that is to clean up after it.
func recoverPanics(do performer) performer {
	return func(ctx context.Context, a loop.Action, m memory.ActionContext) (e loop.Event, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = failure.New(failure.Error, "this is a mistake in Pawl: please report it; the work is kept, and  pawl resume  tries again",
					"Pawl failed inside (%s): %v%s", a.Do, p, panicOrigin(debug.Stack()))
			}
		}()
		return do(ctx, a, m)
	}
}

// panicOrigin is the first place of Pawl's own in the stack of a panic: " at sign/foreign.go:165".
func panicOrigin(stack []byte) string {
	_, after, _ := strings.Cut(string(stack), "\npanic(")
	if m := pawlFrame.FindStringSubmatch(after); m != nil {
		return " at " + m[1]
	}
	return ""
}

var pawlFrame = regex.New(`/internal/([\w/.]+\.go:\d+)`)

// receiveBeforeTurnEnd takes what was left for the loop while the turn ran, before it counts as
// ended: the agent's claims by its tools are part of it.
func (r *Runner) receiveBeforeTurnEnd(ctx context.Context, t *loop.Turn) error {
	if !r.attended() {
		if err := r.receiveFileChanges(ctx); err != nil {
			return err
		}
	}
	if err := r.receiveMessages(ctx); err != nil {
		return err
	}
	r.mem.AddToolClaim(t)
	return nil
}

// isRepeatable reports whether an action comes to the same when it is done again, and takes
// no time of an agent or a user: of what led to it a power cut may take the records.
func isRepeatable(a loop.Action) bool {
	return a.Do == loop.Inspect || a.Do == loop.RunGates || a.Do == loop.Checkpoint
}
