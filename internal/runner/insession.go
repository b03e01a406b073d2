package runner

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// isUserTree reports whether branch and history belong to the user: the loop runs in their
// session, or was started there.
func (r *Runner) isUserTree() bool { return r.inSession || r.Spec.Policy.InSession }

// RunInSession drives a loop in a user's session until the session must act, and returns the
// state: Turning (the prompt is at record.PromptPath), Ended, Paused, Waiting for the time
// of the next turn, or HandingOver to a runner. It performs all pending actions first, also
// those at which another process was interrupted. It may be called at any time: without
// pending actions it receives messages and returns. It does nothing to a loop of another
// owner, unless FirstEvent takes the loop.
func (r *Runner) RunInSession(ctx context.Context) (loop.State, error) {
	r.inSession = true
	return r.drive(ctx, r.continueInSession, r.waitsForSession)
}

// waitsForSession reports whether the loop waits for its session or the user, or has ended.
func (r *Runner) waitsForSession() bool {
	s := r.mem.State
	switch {
	case s.Phase == loop.HandingOver, !r.mem.InSession(r.Spec.Policy):
		return true
	case s.Phase == loop.Waiting:
		wait, _ := loop.FindAction[loop.Wait](s.Pending)
		// In an unattended session nothing could wake the session again.
		_, asks := s.AwaitedAnswer()
		return (asks || s.After == loop.ThenTurn) && !r.Spec.Unattended && r.clock.Now().Before(wait.Until)
	}
	return !s.Phase.OwnerActs()
}

// continueInSession receives the messages that came since the last call, and performs the
// pending actions. Actions that a message requested have begun already.
func (r *Runner) continueInSession(ctx context.Context) error {
	if takes, err := r.takeIntoSession(ctx); takes || err != nil {
		return err
	}
	at := r.mem.State.Phase
	if at != loop.Ended && !r.mem.InSession(r.Spec.Policy) {
		return nil // its messages are for the other owner
	}
	if err := r.checkDeadline(ctx); err != nil {
		return err
	}
	if err := r.receiveMessages(ctx); err != nil {
		return err
	}
	s := r.mem.State
	wait, _ := loop.FindAction[loop.Wait](s.Pending)
	switch {
	case (at == "" || at == loop.New) && s.Phase != loop.Ended:
		if err := r.recordSandbox(); err != nil {
			return err
		}
		return r.step(ctx, r.startEvent())
	case at == loop.Ended && r.Reopen:
		if err := r.alignIndex(ctx); err != nil {
			return err
		}
		return r.step(ctx, r.reopenEvent())
	case s.Phase != at || s.Phase == loop.Paused || s.Phase == loop.Ended || s.Phase == loop.HandingOver:
		return nil
	case s.Phase == loop.Turning:
		return r.rewritePrompts(ctx, s.Pending)
	case s.Phase == loop.Waiting && (wait.Task != "" || s.After == loop.ThenTurn):
		if r.waitsForSession() {
			return nil
		}
		return r.perform(ctx, loop.Action{ID: s.LastAction, Payload: wait})
	}
	return r.takeOverInSession(ctx)
}

// rewritePrompts performs the actions of a turn again if its prompt was not written.
func (r *Runner) rewritePrompts(ctx context.Context, pending []loop.Action) error {
	if _, err := os.Stat(record.PromptPath(r.Loop, r.mem)); err == nil {
		return nil
	}
	told := func(a loop.Action) bool { _, is := a.Payload.(loop.Note); return is }
	return r.act(ctx, slices.DeleteFunc(slices.Clone(pending), told))
}

// writePrompts writes the prompt of a turn that begins, and the prompt for the case that this
// turn ends without a claim: then the hook can continue without a driver.
func (r *Runner) writePrompts(a loop.BeginTurn) error {
	if _, err := r.Loop.IterationDir(a.Iteration); err != nil {
		return fmt.Errorf("make the iteration's folder: %w", err)
	}
	if path := r.goalPath(); path != "" {
		if err := atomicfile.Write(path, []byte(r.goal()), 0o600); err != nil {
			return fmt.Errorf("keep the goal: %w", err)
		}
	}
	text, err := r.turnPrompt(a, r.mem.ActionContext())
	if err != nil {
		return err
	}
	continueText, err := r.continuePrompt(a)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(record.ContinuePromptPath(r.Loop), []byte(continueText), 0o600); err != nil {
		return fmt.Errorf("write the next prompt ahead: %w", err)
	}
	if !assumesMemory(a.Situation) {
		if err := atomicfile.Write(record.FullPromptPath(r.Loop), []byte(text), 0o600); err != nil {
			return fmt.Errorf("keep the whole prompt: %w", err)
		}
	}
	if err := atomicfile.Write(record.PromptPath(r.Loop, r.mem), []byte(text), 0o600); err != nil {
		return fmt.Errorf("keep the prompt: %w", err)
	}
	return nil
}
