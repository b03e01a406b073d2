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

// attended: a user's session goes on with the loop, and that session's hooks say
// when a turn has ended. It decides who did what, and what is told; what may be done
// to the work tree is said by isUserTree and Spec.NoCommit.
func (r *Runner) attended() bool { return r.inSession }

// isUserTree: branch and history of the work tree are the user's, who sits there
// or asked for the loop where they sat.
func (r *Runner) isUserTree() bool { return r.inSession || r.Spec.Policy.Attended }

// Attend takes a loop that lives in a user's session to where the session has
// to go on, and returns its state there: Turning (the prompt is at
// record.PromptPath), Ended, Paused, Waiting before a turn whose time has not
// come, or HandingOver to a runner. Whatever else the machine waits for is done
// first, also by another process that was cut off at it. It may be called at any
// time; where there is nothing to do it hears the inbox and returns. A loop that
// another owner has is left alone, unless First takes it.
func (r *Runner) Attend(ctx context.Context) (loop.State, error) {
	r.inSession = true
	return r.drive(ctx, r.continueAttended, r.waitsForSession)
}

// waitsForSession: what comes next is the session's, or nobody's.
func (r *Runner) waitsForSession() bool {
	s := r.mem.State
	switch {
	case s.Phase == loop.HandingOver, !r.mem.Attended(r.Spec.Policy):
		return true
	case s.Phase == loop.Waiting:
		wait, _ := s.PendingAction(loop.Wait)
		// Where nobody sits nothing could wake the session again.
		_, asks := s.AwaitedAnswer()
		return (asks || s.After == loop.ThenTurn) && !r.Spec.Unattended && r.clock.Now().Before(wait.Until)
	}
	return !s.Phase.OwnerActs()
}

// continueAttended hears what came while nobody was there and does what the machine waits
// for. What a message began is under way already.
func (r *Runner) continueAttended(ctx context.Context) error {
	if takes, err := r.takeIntoSession(ctx); takes || err != nil {
		return err
	}
	at := r.mem.State.Phase
	if at != loop.Ended && !r.mem.Attended(r.Spec.Policy) {
		return nil // not even the mail is for us
	}
	if err := r.checkDeadline(ctx); err != nil {
		return err
	}
	if err := r.receiveMessages(ctx); err != nil {
		return err
	}
	s := r.mem.State
	wait, _ := s.PendingAction(loop.Wait)
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
		return r.perform(ctx, wait)
	}
	if err := r.cleanUpAfterOwner(ctx); err != nil {
		return err
	}
	if s.Phase == loop.TurningIsolated { // it was cut off
		return r.step(ctx, loop.Event{Kind: loop.OwnerLost})
	}
	return r.act(ctx, s.Pending)
}

// rewritePrompts does what comes with a turn once more, where what the session is to
// be told was not written.
func (r *Runner) rewritePrompts(ctx context.Context, pending []loop.Action) error {
	if _, err := os.Stat(record.PromptPath(r.Loop, r.mem)); err == nil {
		return nil
	}
	told := func(a loop.Action) bool { return a.Do == loop.Notify }
	return r.act(ctx, slices.DeleteFunc(slices.Clone(pending), told))
}

// writePrompts writes what the session is to be told for a turn that begins, and
// what it is told should that turn end without a word of how it stands: then no
// more than a hook is needed.
func (r *Runner) writePrompts(a loop.Action) error {
	if _, err := r.Loop.IterationDir(a.Iteration); err != nil {
		return fmt.Errorf("make the iteration's folder: %w", err)
	}
	if path := r.goalPath(); path != "" {
		if err := atomicfile.Write(path, []byte(r.Spec.Prompt), 0o600); err != nil {
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
