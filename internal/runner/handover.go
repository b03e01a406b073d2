package runner

import (
	"context"
	"os"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// handOver hands the loop over to its next owner, which sends the first event. RunInSession and Run
// return, and their caller starts the next owner or is it. Calls that this owner has inspected
// are journalled for it.
func (r *Runner) handOver(ctx context.Context, id int, h loop.HandOver) error {
	switch {
	case r.inSession:
		return nil
	case h.To == loop.OwnerRunner: // this process
		return r.step(ctx, loop.Event{ActionID: id, Payload: loop.HandedOver{To: loop.OwnerRunner, Why: h.Why}})
	}
	left := r.authors.HandOver(r.mem.Attribution)
	if left.RunnerCallsOffset == r.mem.Attribution.RunnerCallsOffset {
		return nil
	}
	r.mem.Attribution = left
	return r.appendRecord(memory.TypeAttribution, left)
}

// takeIntoSession takes the loop into this session, or keeps it there, if FirstEvent is set. A
// handover does not name its session, so the caller decides. It reports whether it did.
func (r *Runner) takeIntoSession(ctx context.Context) (bool, error) {
	switch p := r.mem.State.Phase; {
	case r.FirstEvent.Payload == nil, p == "", p == loop.New, p == loop.Ended:
		return false, nil
	}
	if err := r.cleanUpAfterOwner(ctx); err != nil { // the runner may have been killed
		return true, err
	}
	if err := r.setCallsClosed(false); err != nil {
		return true, err
	}
	if err := r.step(ctx, r.FirstEvent); err != nil {
		return true, err
	}
	return true, r.receiveMessages(ctx)
}

// setCallsClosed marks the end of the session's calls when a runner takes the loop, and their
// new start when a session takes it: calls between these do not belong to the loop.
func (r *Runner) setCallsClosed(forRunner bool) error {
	size := int64(0)
	if info, err := os.Stat(record.ToolCallsPath(r.Loop)); err == nil {
		size = info.Size()
	}
	switch was := r.mem.Attribution; {
	case forRunner:
		r.mem.Attribution.ClosedAt = size + 1
	case was.ClosedAt > 0:
		r.mem.Attribution.CallsOffset, r.mem.Attribution.ClosedAt = size, 0
	default:
		return nil
	}
	return r.appendRecord(memory.TypeAttribution, r.mem.Attribution)
}
