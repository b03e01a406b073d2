package claude

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestMeterCountsEachTurnOnce(t *testing.T) {
	t.Parallel()
	at := func(output int64, cost float64) loop.Usage { return loop.Usage{Output: output, CostUSD: cost} }
	m := meter{counted: at(100, 1), now: at(100, 1)} // a session taken up again
	steps := []struct {
		see, want loop.Usage
	}{
		{at(150, 1.5), at(50, 0.5)},
		{at(150, 1.5), at(0, 0)}, // a turn without a request
		{at(170, 2), at(20, 0.5)},
		{at(10, 0.25), at(10, 0.25)}, // the counter began again
	}
	for i, s := range steps {
		m.update(s.see)
		if diff := cmp.Diff(s.want, m.turn()); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
		m.closeTurn()
	}
}

func TestUsageAnswersAreRead(t *testing.T) {
	t.Parallel()
	u, ok := usageOf([]byte(`{"session":{"total_cost_usd":1.5,"model_usage":{"a":{"inputTokens":1,"outputTokens":2},"b":{"cacheReadInputTokens":3,"cacheCreationInputTokens":4}}}}`))
	if diff := cmp.Diff(loop.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CostUSD: 1.5}, u); diff != "" || !ok {
		t.Error(diff, ok)
	}
	for _, raw := range []string{``, `{}`, `7`, `{"session":null}`} {
		if _, ok := usageOf([]byte(raw)); ok {
			t.Errorf("usage of %q", raw)
		}
		if _, ok := contextPercent([]byte(raw)); ok {
			t.Errorf("context of %q", raw)
		}
	}
	for raw, want := range map[string]int{`{"percentage":12.6}`: 13, `{"percentage":-1}`: 0, `{"percentage":400}`: 100} {
		if got, ok := contextPercent([]byte(raw)); !ok || got != want {
			t.Errorf("%s = %d %v, want %d", raw, got, ok, want)
		}
	}
}

func TestFiguresOfTheClientAreBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"1e308", "1e400", "-1e400", "9223372036854775807", "-5", `"many"`, "null", "[]"} {
		u, ok := usageOf([]byte(`{"session":{"total_cost_usd":` + n + `,"model_usage":{"a":{"inputTokens":` + n + `},"b":{"inputTokens":` + n + `}}}}`))
		if !ok || u.CostUSD < 0 || u.CostUSD > 1e9 || u.Input < 0 || u.Input > 2e15 {
			t.Errorf("%s: %+v %v", n, u, ok)
		}
		var l line
		if err := json.Unmarshal([]byte(`{"type":"result","total_cost_usd":`+n+`,"retry_delay_ms":`+n+`,"rate_limit_info":{"resetsAt":`+n+`}}`), &l); err != nil {
			t.Errorf("%s: %v", n, err)
		}
		at := time.Unix(int64(l.RateLimit.ResetsAt), 0).UTC()
		if wait := time.Duration(l.RetryDelayMS) * time.Millisecond; wait < 0 || wait > 400*24*time.Hour || at.Year() > 9999 || at.Year() < 1970 {
			t.Errorf("%s: waits %s, until %s", n, wait, at)
		}
	}
}
