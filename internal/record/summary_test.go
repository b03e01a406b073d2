package record_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// An outcome is told once the loop has ended: an owner that dies before leaves work of
// the end to the next one, and a list that showed the outcome would hide that.
func TestSummaryHasAnOutcomeAtTheEnd(t *testing.T) {
	t.Parallel()
	s := loop.State{Phase: loop.Finishing, End: loop.End{Outcome: loop.Verified, Reason: "all done", EndedAt: time.Unix(1, 0)}}
	if got := record.Summarize(record.Spec{}, memory.Memory{State: s}); got.Outcome != "" || got.Reason != "" || !got.EndedAt.IsZero() || got.State != "running" {
		t.Errorf("finishing: %+v", got)
	}
	s.Phase = loop.Ended
	if got := record.Summarize(record.Spec{}, memory.Memory{State: s}); got.Outcome != loop.Verified || got.Reason != "all done" || got.EndedAt.IsZero() || got.State != "ended" {
		t.Errorf("ended: %+v", got)
	}
}

// What a session costs its client tells nobody, also where a review beside it has a price.
func TestSummaryOfASession(t *testing.T) {
	t.Parallel()
	s := loop.State{Phase: loop.Turning, Ownership: loop.Ownership{InSession: true}, Counts: loop.Counts{Usage: loop.Usage{CostUSD: .1, Input: 10}}}
	got := record.Summarize(record.Spec{Policy: loop.Policy{InSession: true}}, memory.Memory{State: s})
	if !got.CostUnknown || got.CostUSD != .1 {
		t.Errorf("%+v", got)
	}
}

// What an agent costs that reports no cost is unknown from the start.
func TestSummaryOfAnAgentWithoutCost(t *testing.T) {
	t.Parallel()
	policy := loop.Policy{NoCost: record.Agent{Name: "command"}.ReportsNoCost()}
	for phase, s := range map[string]loop.State{"not begun": {}, "before the first turn": {Phase: loop.Baseline, Policy: policy}} {
		if got := record.Summarize(record.Spec{Policy: policy}, memory.Memory{State: s}); !got.CostUnknown {
			t.Errorf("%s: the cost is known", phase)
		}
	}
	priced := loop.State{Phase: loop.Turning, Policy: policy, Counts: loop.Counts{Usage: loop.Usage{CostUSD: .1}}}
	if got := record.Summarize(record.Spec{Policy: policy}, memory.Memory{State: priced}); got.CostUnknown {
		t.Error("what a review has cost is known")
	}
}

// A client ends a turn by itself after too many stops without a tool call: then the agent does not work.
func TestSummaryOfASessionAtItsCap(t *testing.T) {
	t.Parallel()
	m := memory.Memory{State: loop.State{Phase: loop.Turning, Ownership: loop.Ownership{InSession: true}}}
	m.Bound = memory.BoundSession{Session: "s", Client: 7, Capped: true}
	got := record.Summarize(record.Spec{Policy: loop.Policy{InSession: true}}, m)
	if got.State != "waiting" || !got.Capped || got.Group(time.Now()) != record.GroupNeedsYou {
		t.Errorf("%s, capped %v, group %v", got.State, got.Capped, got.Group(time.Now()))
	}
}

// A client that was killed could not say that its session is closed.
func TestSummaryOfASessionWhoseClientIsGone(t *testing.T) {
	t.Parallel()
	s := loop.State{Phase: loop.Turning, Ownership: loop.Ownership{InSession: true}}
	m := memory.Memory{State: s}
	m.Bound = memory.BoundSession{Session: "s", Client: 7}
	for alive, want := range map[bool]string{true: "running", false: "waiting"} {
		got := record.Summarize(record.Spec{Policy: loop.Policy{InSession: true}}, m)
		got.MarkClosedIfGone(func(pid int) bool { return alive || pid != 7 })
		if got.State != want || got.Closed == alive {
			t.Errorf("client alive %v: %s, closed %v", alive, got.State, got.Closed)
		}
	}
}
