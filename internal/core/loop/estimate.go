package loop

import (
	"cmp"
	"slices"
	"time"
)

// Estimate is the time and cost of the open tasks, from the median of the ended ones.
type Estimate struct {
	Open       int // tasks
	Basis      int // number of tasks in the medians
	Median     time.Duration
	MedianCost float64
	Left       time.Duration // time of work
	LeftCost   float64       // 0: unknown, or free
	Longer     time.Duration // time of the current task beyond the median
}

// Estimate returns the remaining work of a running loop. ok is false if no task is open or none has
// ended.
func (s State) Estimate() (e Estimate, ok bool) {
	var took []time.Duration
	var cost []float64
	current := Task{}
	for _, t := range s.Tasks {
		switch {
		case t.Status == Open:
			e.Open++
			if t.ID == s.Current {
				current = t
				current.Took = s.Elapsed() - s.TaskElapsed
			}
		case t.Turns > 0 && t.Took > 0:
			took, cost = append(took, t.Took), append(cost, t.CostUSD)
		}
	}
	e.Basis = len(took)
	if s.Outcome != "" || e.Open == 0 || e.Basis == 0 {
		return Estimate{}, false
	}
	e.Median, e.MedianCost = Median(took), Median(cost)
	e.Longer = max(0, current.Took-e.Median)
	left := time.Duration(e.Open)
	e.Left = left*e.Median - min(max(current.Took, 0), e.Median)
	e.LeftCost = float64(e.Open)*e.MedianCost - min(current.CostUSD, e.MedianCost)
	return e, true
}

// Median returns the middle value, the lower of two.
func Median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// Elapsed returns the time that counts against the duration limit. It stops when the loop ends, so
// later approvals and restores do not count.
func (s State) Elapsed() time.Duration {
	if s.StartedAt.IsZero() {
		return 0
	}
	now := s.Now
	if !s.EndedAt.IsZero() {
		now = s.EndedAt
	}
	return s.Age(now) - s.TimeAway(now)
}

// Age returns the time from the start of the loop until now, without the time between an end and a
// reopening.
func (s State) Age(now time.Time) time.Duration { return now.Sub(s.StartedAt) - s.Idle }

// Took returns the time from start to end of an ended loop, with waits and the final mutation
// testing.
func (s State) Took() time.Duration {
	if s.StartedAt.IsZero() {
		return 0
	}
	return s.Age(s.EndedAt) + s.Tested
}

// TimeAway returns the time until now that does not count for limits: usage limits, pauses, and time
// without an owner.
func (s State) TimeAway(now time.Time) time.Duration {
	if s.AwayFrom.IsZero() {
		return s.Away
	}
	return s.Away + now.Sub(s.AwayFrom)
}
