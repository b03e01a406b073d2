package launch

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/store"
)

// TakerPatience is how long a runner that let go of its loop for a session waits
// for that session to take it.
const TakerPatience = 2 * time.Minute

// TakeBack lets go of a loop whose run returned before its end, for a session that
// is to take it, and takes it up again where none has within patience: whoever
// asked for it may be gone. There is no drive where another owner came.
func (d *Drive) TakeBack(ctx context.Context, env environment.Environment, patience time.Duration) (*Drive, error) {
	epoch := d.Owner.Epoch()
	if err := d.Close(); err != nil {
		return nil, err
	}
	tick := time.NewTicker(heldPause)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; {
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
		back, err := Resume(ctx, d.Loop, env, Again{May: func(now int64) error {
			if now != epoch {
				return store.ErrLostOwnership
			}
			return nil
		}})
		switch {
		case errors.Is(err, store.ErrLostOwnership):
			return nil, nil //nolint:nilnil // a session has it
		case errors.As(err, new(*store.HeldError)): // one is about to
		default:
			return back, err
		}
	}
}
