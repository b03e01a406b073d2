package failure

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Temporary is a failure that may pass.
type Temporary struct {
	Err   error
	After time.Duration // which a service asks for; 0: nothing
}

func (t *Temporary) Error() string { return t.Err.Error() }
func (t *Temporary) Unwrap() error { return t.Err }

// Retry makes attempts until one does not fail, or not by a Temporary. Between them are
// the pauses, by default 1, 5 and 20 seconds.
func Retry(ctx context.Context, pauses []time.Duration, attempt func() error) error {
	if pauses == nil {
		pauses = []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}
	}
	for try := 0; ; try++ {
		err := attempt()
		temporary, passes := errors.AsType[*Temporary](err)
		switch {
		case !passes:
			return err
		case try == len(pauses):
			return fmt.Errorf("%w (%d attempts)", err, try+1)
		}
		select {
		case <-time.After(max(pauses[try], min(temporary.After, 30*time.Second))):
		case <-ctx.Done():
			return fmt.Errorf("%w (%d attempts, then out of time)", err, try+1)
		}
	}
}
