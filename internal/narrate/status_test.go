package narrate

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/record"
)

// A list shows no amount if it is unknown.
func TestCost(t *testing.T) {
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
