package launch

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/store"
)

// TakeTimeout is how long a runner that released its loop waits for a session to take it.
const TakeTimeout = 2 * time.Minute

// TakeBack releases a loop for a session that asked for it, and resumes it if no session
// takes it within the timeout. It returns nil if another owner has the loop.
func (d *Driver) TakeBack(ctx context.Context, env environment.Environment, timeout time.Duration) (*Driver, error) {
	epoch := d.Owner.Epoch()
	if err := d.Close(); err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockPollInterval)
	defer tick.Stop()
	for deadline := time.Now().Add(timeout); ; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
		if last, _, err := d.Loop.Holder(); err != nil || last.Epoch != epoch {
			return nil, err
		}
		if time.Now().Before(deadline) {
			continue
		}
		back, err := Resume(ctx, d.Loop, env, ResumeOptions{MayOwn: func(now int64) error {
			if now != epoch {
				return store.ErrOwnershipLost
			}
			return nil
		}})
		switch {
		case errors.Is(err, store.ErrOwnershipLost):
			return nil, nil //nolint:nilnil // a session has it
		case store.IsHeld(err): // one is about to
		default:
			return back, err
		}
	}
}
