package loop

import (
	"cmp"
	"slices"
	"time"
)

// Estimate is what the open tasks of a loop may still take, by the median of the tasks
// that it has ended so far.
type Estimate struct {
	Open       int // tasks
	Basis      int // tasks that the medians are of
	Median     time.Duration
	MedianCost float64
	Left       time.Duration // time of work
	LeftCost   float64       // 0: what turns cost is not known, or nothing
	Longer     time.Duration // that the task at work takes beyond the median
}

// Estimate returns what is left of a loop that has not ended. ok is false if nothing is
// left, or no task has ended that tells what one takes.
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

// Median is the middle of values, the lower one of two.
func Median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// Elapsed is the time that counts against the duration limit. It ends with the loop: what
// a user approves or restores later takes none.
func (s State) Elapsed() time.Duration {
	if s.StartedAt.IsZero() {
		return 0
	}
	now := s.Now
	if !s.EndedAt.IsZero() {
		now = s.EndedAt
	}
	return now.Sub(s.StartedAt) - s.TimeAway(now)
}

// Took is the time from the start of an ended loop to its end, with waits and with the
// mutation testing at the end.
func (s State) Took() time.Duration {
	if s.StartedAt.IsZero() {
		return 0
	}
	return s.EndedAt.Sub(s.StartedAt) + s.Tested
}

// TimeAway is the time until now that counts against no limit: usage limits, pauses,
// and while nobody drove the loop.
func (s State) TimeAway(now time.Time) time.Duration {
	if s.AwayFrom.IsZero() {
		return s.Away
	}
	return s.Away + now.Sub(s.AwayFrom)
}
