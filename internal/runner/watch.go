package runner

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

const pollEvery = 250 * time.Millisecond

// watch hears what comes from outside: messages, cancellations, and the clock.
func (r *Runner) watch(ctx context.Context) *sync.WaitGroup {
	var wg sync.WaitGroup
	wg.Go(func() { r.watchInbox(ctx) })
	wg.Go(func() {
		for {
			select {
			case cause := <-r.Causes:
				r.report(ctx, loop.Event{Kind: loop.Cancelled, Text: cause})
			case <-ctx.Done():
				return
			}
		}
	})
	return &wg
}

func (r *Runner) watchInbox(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var heard time.Time
	for {
		done := make(chan struct{})
		r.inRun(ctx, func(ctx context.Context) error {
			defer close(done)
			if err := r.checkDuration(ctx); err != nil {
				return err
			}
			if !r.attended() && time.Since(heard) >= hearEvery {
				heard = time.Now()
				if err := r.hear(ctx); err != nil {
					return err
				}
			}
			return r.drain(ctx)
		})
		select {
		case <-done: // one look at a time, however long Run is busy
		case <-ctx.Done():
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// drain takes the messages that have come. Each is acknowledged after it is in
// the journal; its id lets a second delivery after a crash be told.
func (r *Runner) drain(ctx context.Context) error {
	msgs, err := r.Loop.Drain()
	if err != nil {
		r.note(loop.Anomaly, "the inbox could not be read: "+err.Error())
	}
	for _, m := range msgs {
		var body record.Message
		e, ok := loop.Event{}, false
		if err := json.Unmarshal(m.Body, &body); err == nil {
			e, ok = body.Event()
			e.ID = m.ID
		}
		if !ok {
			r.note(loop.Anomaly, "a message that makes no sense was set aside: "+m.ID)
		} else if err := r.step(ctx, e); err != nil {
			return err
		}
		if err := r.Loop.Ack(m); err != nil {
			r.note(loop.Anomaly, "a message could not be acknowledged: "+err.Error())
		}
	}
	return nil
}

// checkDuration sees the time limit pass in mid-turn, and in a wait whose time
// counts. Between turns the machine sees it itself; a turn of a person's session
// is not cut off.
func (r *Runner) checkDuration(ctx context.Context) error {
	s := r.mem.State
	limit := s.Policy.Limits.Duration
	waits := s.Phase == loop.Waiting && s.AwayFrom.IsZero()
	turns := s.Phase == loop.Turning && !r.attended() || s.Phase == loop.Trying
	if limit <= 0 || s.Hit != "" || !turns && !waits {
		return nil
	}
	s.Now = time.Now()
	if s.Elapsed() < limit {
		return nil
	}
	return r.step(ctx, loop.Event{Kind: loop.LimitHit, Limit: loop.Duration})
}
