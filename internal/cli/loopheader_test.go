package cli

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// The text about tries fits the limit of iterations.
func TestIsolationWords(t *testing.T) {
	t.Parallel()
	bounds := &record.Isolation{MaxCostUSD: 1, Timeout: 5 * time.Minute}
	const each = ", each in an isolated session: at most $1.00 and 5m"
	cases := []struct {
		tries, most int
		want        string
	}{
		{0, 25, "after 3 tries here (2 if the same test fails twice)" + each + "; at most $23.00 in all (--max-cost)"},
		{0, 0, "after 3 tries here (2 if the same test fails twice)" + each},
		{0, 3, "if the same test fails twice here" + each + "; at most $1.00 in all (--max-cost)"},
		{0, 2, ""},
		{5, 25, "after 5 tries here" + each + "; at most $20.00 in all (--max-cost)"},
		{3, 3, ""},
		{2, 25, "after 2 tries here" + each + "; at most $23.00 in all (--max-cost)"},
		{1, 2, "after 1 try here" + each + "; at most $1.00 in all (--max-cost)"},
		{1, 1, ""},
	}
	for _, c := range cases {
		s := record.Spec{SessionOptions: record.SessionOptions{Isolation: bounds}, Policy: loop.Policy{Tries: c.tries, Limits: loop.Limits{Iterations: c.most}}}
		if got := isolationWords(s); got != c.want {
			t.Errorf("%d tries, %d iterations:\ngot  %s\nwant %s", c.tries, c.most, got, c.want)
		}
		s.Policy.Handover = true
		if got := isolationWords(s); got != "" {
			t.Errorf("it leaves the session: %s", got)
		}
	}
}
