package claude

import (
	"encoding/json"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// meter turns the client's counter into the usage of a turn: it stores how much of the counter is
// counted already. The client counts up over all turns of a session, also over resumes and
// subagents, and from zero again after /clear.
type meter struct {
	counted loop.Usage // up to the end of the last turn
	now     loop.Usage // the counter's last known state
}

// update sets the current state of the counter.
func (m *meter) update(u loop.Usage) { m.now = u }

// turn returns the usage since the last close.
func (m *meter) turn() loop.Usage {
	const cent = 0.01 // sums of floats differ a little
	if m.now.CostUSD < m.counted.CostUSD-cent || m.now.Output < m.counted.Output {
		m.counted = loop.Usage{} // the counter started again
	}
	return loop.Usage{
		Input:      m.now.Input - m.counted.Input,
		Output:     m.now.Output - m.counted.Output,
		CacheRead:  m.now.CacheRead - m.counted.CacheRead,
		CacheWrite: m.now.CacheWrite - m.counted.CacheWrite,
		CostUSD:    max(0, m.now.CostUSD-m.counted.CostUSD),
	}
}

// closeTurn ends a turn: the current state is counted.
func (m *meter) closeTurn() { m.counted = m.now }

// sumUsage returns the sum of the models' counters.
func sumUsage(models map[string]modelUsage, cost dollars) loop.Usage {
	u := loop.Usage{CostUSD: float64(cost)}
	for _, m := range models {
		u.Input += int64(m.Input)
		u.Output += int64(m.Output)
		u.CacheRead += int64(m.CacheRead)
		u.CacheWrite += int64(m.CacheWrite)
	}
	return u
}

// usageOf returns the usage in an answer to get_usage.
func usageOf(raw json.RawMessage) (loop.Usage, bool) {
	var r struct {
		Session *struct {
			TotalCostUSD dollars               `json:"total_cost_usd"`
			ModelUsage   map[string]modelUsage `json:"model_usage"`
		} `json:"session"`
	}
	if err := tolerant(json.Unmarshal(raw, &r)); err != nil || r.Session == nil {
		return loop.Usage{}, false
	}
	return sumUsage(r.Session.ModelUsage, r.Session.TotalCostUSD), true
}

// contextPercent returns the fill level in an answer to get_context_usage.
func contextPercent(raw json.RawMessage) (int, bool) {
	var r struct {
		Percentage *float64 `json:"percentage"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || r.Percentage == nil {
		return 0, false
	}
	return clampPercent(*r.Percentage), true
}

func clampPercent(p float64) int { return int(min(max(p+0.5, 0), 100)) }
