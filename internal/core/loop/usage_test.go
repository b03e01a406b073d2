package loop_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A client may report any cost, and old journals hold unbounded figures. A sum that JSON cannot encode
// would make the loop unreadable.
func TestUsageSumStaysEncodable(t *testing.T) {
	t.Parallel()
	huge := loop.Usage{Input: math.MaxInt64, Output: math.MaxInt64, CacheRead: math.MaxInt64, CacheWrite: math.MinInt64, CostUSD: 1e308}
	sum := loop.Usage{}
	for range 100 {
		sum = sum.Add(huge)
	}
	if _, err := json.Marshal(sum); err != nil {
		t.Error(err)
	}
	if sum.Tokens() <= 0 || sum.CostUSD <= 0 {
		t.Errorf("%+v", sum)
	}
	if got := (loop.Usage{Input: 1, CostUSD: 0.5}).Add(loop.Usage{Input: 2, CostUSD: 0.25}); got != (loop.Usage{Input: 3, CostUSD: 0.75}) {
		t.Errorf("%+v", got)
	}
}

func TestUserTurnCostsNothing(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{InSession: true, Limits: loop.Limits{Iterations: 1}})
	sc.checkpointed("turn 1 continue first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ByUser: true, Usage: loop.Usage{CostUSD: 9}}}}, "turn 1 continue no_claim")
	if sc.s.Usage.CostUSD != 0 || sc.s.Turns != 0 {
		t.Errorf("%+v", sc.s.Usage)
	}
}
