package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

// checkoutTimeout is how long a loop's next driver waits until mutation testing has released the
// checkout. The running gate is killed within proc's grace.
const checkoutTimeout = 30 * time.Second

// claimPollInterval is how often mutation testing checks whether a driver wants the
// checkout.
const claimPollInterval = 50 * time.Millisecond

// noteTimeout is how long to wait for a driver that holds the loop and does not want the checkout.
const noteTimeout = 15 * time.Second

// FinishMutationTests runs the remaining mutation tests of a loop in a session, during the session's
// turn or after the loop's end. It stops when a driver begins, and does nothing if another process
// runs them.
func FinishMutationTests(ctx context.Context, l *store.Loop, env environment.Environment) (err error) {
	unlock, err := l.LockCheckout(ctx)
	if store.IsHeld(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	m, _, err := record.Load(l)
	if err != nil || !runner.HasMutationTestsLeft(l, m) {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for !l.IsCheckoutClaimed() && ctx.Err() == nil {
			time.Sleep(claimPollInterval)
		}
		cancel()
	}()
	v, _, err := sideVerifier(ctx, l, env, verify.Options{Dir: verifyDir(l)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close(context.WithoutCancel(ctx))) }()
	if err := v.RemoveStaleCheckouts(ctx); err != nil {
		return err
	}
	r := runner.Runner{Loop: l, Verify: v}
	err = r.FinishMutationTests(ctx, func(n memory.Note) error { return appendNote(ctx, l, env, n) })
	if ctx.Err() != nil {
		return nil
	}
	if err == nil && m.State.Phase == loop.Ended {
		err = v.RemoveCopies()
	}
	return err
}

// appendNote journals a note between two turns of the loop's owner, as that owner.
func appendNote(ctx context.Context, l *store.Loop, env environment.Environment, n memory.Note) (err error) {
	owner, err := rejoinWithin(ctx, l, noteTimeout)
	if err != nil {
		return fmt.Errorf("note what mutation testing found: %w", err)
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	spec, m, err := record.Read(l)
	if err != nil {
		return err
	}
	n.Text = redact.New(env.Vars).String(n.Text)
	data, err := record.Encode(n, redact.New(env.Vars).String)
	if err != nil {
		return err
	}
	mark, err := owner.Append(journal.Entry{Type: memory.TypeNote, Data: data})
	if err != nil {
		return err
	}
	m.ApplyNote(n)
	return owner.Save(mark, m, record.Summarize(spec, m))
}
