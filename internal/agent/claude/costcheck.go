package claude

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

const (
	billInterval = 2 * time.Second // between two requests for the cost, without a limit
	billTimeout  = 5 * time.Second // for an answer; measured: a few ms
	billRetry    = 20 * time.Millisecond
	billRetries  = 50
)

// costCheck asks for the cost of a running turn. With a limit, it holds each tool call until the
// cost of its response is known, so that the response that exceeds the limit is the last one. The
// client counts a response when its stream has ended, which may be after its tool call was
// announced: the count must include the tokens that the response read.
type costCheck struct {
	request  string // id of the current request
	at       time.Time
	due      time.Time // when to ask again, or to give up
	held     []line    // tool calls
	counted  map[string]bool
	expected int64 // tokens read by the responses so far
	tries    int
}

// expect adds the tokens that a response read.
func (b *costCheck) expect(m message) {
	if m.ID != "" && !b.counted[m.ID] {
		b.counted[m.ID] = true
		b.expected += m.Usage.total()
	}
}

// holdCall asks for the cost, and holds the call if there is a limit.
func (t *turn) holdCall(l line, now time.Time) bool {
	b := &t.bill
	limited := t.opts.MaxCostUSD > 0 && !t.finished
	if b.request == "" && (limited || now.Sub(b.at) >= billInterval) {
		t.askCost(now)
	}
	if !limited || b.request == "" {
		return false
	}
	b.held = append(b.held, l)
	return true
}

func (t *turn) askCost(now time.Time) {
	id, err := t.ask("get_usage")
	if err != nil {
		return // the end of the stream reports it
	}
	t.bill.request, t.bill.at, t.bill.due = id, now, now.Add(billTimeout)
}

// askAgain is called when an answer is overdue, or was too early.
func (t *turn) askAgain(now time.Time) {
	if t.bill.request != "" { // overdue: this client does not report its cost
		t.bill.request = ""
		t.releaseCalls()
		return
	}
	t.askCost(now)
}

// handleUsageAnswer processes an answer to get_usage. Other answers are awaited by their callers.
func (t *turn) handleUsageAnswer(l line, now time.Time) {
	b := &t.bill
	if b.request == "" || l.Response.RequestID != b.request {
		return
	}
	b.request = ""
	if u, ok := usageOf(l.Response.Response); ok {
		t.meter.update(u)
		used := t.meter.turn()
		if t.isTooEarly(used) {
			b.due = now.Add(billRetry)
			return
		}
		t.emit(agent.Event{Kind: agent.KindUsage, Usage: used})
		if limit := t.opts.MaxCostUSD; limit > 0 && used.CostUSD >= limit && t.failure == nil {
			t.failure = &loop.Failure{
				Class: loop.OverBudget, Message: fmt.Sprintf("the turn has cost $%.2f of $%.2f", used.CostUSD, limit),
			}
		}
	}
	t.releaseCalls()
}

// isTooEarly reports whether calls are held and the count does not include all responses so far. The
// client never counts a response that it dropped: after a while the count is used as it is.
func (t *turn) isTooEarly(used loop.Usage) bool {
	b := &t.bill
	read := used.Input + used.CacheRead + used.CacheWrite
	if len(b.held) == 0 || read >= b.expected {
		b.tries = 0
		return false
	}
	if b.tries++; b.tries < billRetries {
		return true
	}
	b.tries, b.expected = 0, read
	return false
}

// releaseCalls checks the calls that were held.
func (t *turn) releaseCalls() {
	held := t.bill.held
	t.bill.held = nil
	for _, l := range held {
		t.checkTool(l)
	}
}
