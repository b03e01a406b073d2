package narrate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// A message that repeats is one line, with the times of the last.
func TestRepeatedMessagesAreOneLine(t *testing.T) {
	t.Parallel()
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	got := Messages(loop.Conversation{
		ReadMessages: []loop.Message{{Text: "use tabs", At: at(1), Delivered: at(2)}, {Text: "and spaces", At: at(3), Delivered: at(4)}},
		Messages:     []loop.Message{{Text: "use tabs", At: at(5)}},
	})
	clock := func(second int64) string { return at(second).Local().Format(time.TimeOnly) }
	want := []string{
		"and spaces · queued " + clock(3) + ", delivered " + clock(4),
		"use tabs · queued " + clock(5) + " (2 times)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
