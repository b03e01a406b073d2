package narrate

import (
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// A list shows no amount if it is unknown.
func TestUnknownCostIsOmitted(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]record.Summary{
		"$1.25":          {CostUSD: 1.25},
		"$0.00":          {},
		"unknown":        {CostUnknown: true},
		"at least $0.10": {CostUnknown: true, CostUSD: .1},
	} {
		if got := Cost(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A message that a stopped turn had received was not lost; one that waited was.
func TestUndeliveredMessagesAreCounted(t *testing.T) {
	t.Parallel()
	s := loop.State{Conversation: loop.Conversation{Messages: []loop.Message{
		{ID: "a", Text: "read in the last turn", Delivered: time.Unix(1, 0)}, {ID: "b", Text: "too late"}, {ID: "c", Text: "Pawl's", ByPawl: true},
	}}}
	for outcome, want := range map[loop.Outcome][]string{
		loop.CancelledEnd: {"too late"}, loop.Errored: {"read in the last turn", "too late"}, "": nil,
	} {
		s.Outcome = outcome
		if got := NotDelivered(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", outcome, got, want)
		}
	}
}
